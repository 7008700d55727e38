//! Delegation graph, and helpers for names of tools and agents.

use model::{Agent, Location, ReviewRole, Spanned, Tool, Workspace, did_you_mean};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Delegation graph. Edges to unknown agents are omitted; `delegates_exist` reports them.
#[derive(Debug)]
pub(super) struct DelegationGraph<'w> {
    agents: &'w [Agent],
    edges: Vec<Vec<DelegationEdge<'w>>>,
}

#[derive(Debug, Clone, Copy)]
struct DelegationEdge<'w> {
    to: usize,
    at: &'w Location,
}

/// Path of agents with the location of each hop.
#[derive(Debug, Clone)]
pub(super) struct DelegationPath<'w> {
    pub(super) agents: Vec<&'w str>,
    pub(super) hops: Vec<&'w Location>,
}

impl fmt::Display for DelegationPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.agents.join(" → "))
    }
}

/// Result of a depth-first walk over the graph.
#[derive(Default)]
struct GraphWalk<'w> {
    cycles: Vec<DelegationPath<'w>>,
    /// Edges that close a cycle, as (agent, edge index). Without them the graph is acyclic.
    closing: BTreeSet<(usize, usize)>,
    /// Agents in post-order.
    finished: Vec<usize>,
}

#[derive(Clone, Copy)]
enum VisitState {
    NotYet,
    Open,
    Done,
}

impl<'w> DelegationGraph<'w> {
    pub(super) fn of(workspace: &'w Workspace) -> Self {
        let agents = workspace.agents.as_slice();
        let mut by_name = BTreeMap::new();
        for (n, agent) in agents.iter().enumerate() {
            by_name.entry(agent.name.as_str()).or_insert(n);
        }
        let edges = |agent: &'w Agent| {
            let mut known = BTreeSet::new();
            let named = agent.delegates_to.iter().filter_map(|to| Some(DelegationEdge { to: *by_name.get(to.as_str())?, at: &to.at }));
            named.filter(|edge| known.insert(edge.to)).collect()
        };
        Self { agents, edges: agents.iter().map(edges).collect() }
    }

    /// Returns one cycle per back edge; its last hop is that edge.
    pub(super) fn cycles(&self) -> Vec<DelegationPath<'w>> {
        self.walk().cycles
    }

    /// Returns the longest path from each agent, in agent order. Back edges are not followed.
    pub(super) fn longest_paths(&self) -> Vec<DelegationPath<'w>> {
        let GraphWalk { closing, finished, .. } = self.walk();
        let mut best: Vec<(usize, Option<DelegationEdge<'w>>)> = vec![(0, None); self.agents.len()];
        for from in finished {
            for (n, edge) in self.edges[from].iter().enumerate() {
                let hops = best[edge.to].0 + 1;
                if !closing.contains(&(from, n)) && hops > best[from].0 {
                    best[from] = (hops, Some(*edge));
                }
            }
        }
        let path = |start: usize| {
            let mut path = DelegationPath { agents: vec![self.name(start)], hops: vec![] };
            let mut next = best[start].1;
            while let Some(edge) = next {
                path.agents.push(self.name(edge.to));
                path.hops.push(edge.at);
                next = best[edge.to].1;
            }
            path
        };
        (0..self.agents.len()).map(path).collect()
    }

    /// Returns the agent at index `from` and all agents it can reach.
    pub(super) fn reachable(&self, from: usize) -> Vec<&'w Agent> {
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(at) = reached.get(next).copied() {
            for edge in &self.edges[at] {
                if !reached.contains(&edge.to) {
                    reached.push(edge.to);
                }
            }
            next += 1;
        }
        reached.into_iter().map(|at| &self.agents[at]).collect()
    }

    /// Walks depth first, without recursion to avoid a stack overflow on large workspaces.
    fn walk(&self) -> GraphWalk<'w> {
        let mut walk = GraphWalk::default();
        let mut seen = vec![VisitState::NotYet; self.agents.len()];
        for root in 0..self.agents.len() {
            if !matches!(seen[root], VisitState::NotYet) {
                continue;
            }
            seen[root] = VisitState::Open;
            let mut open = vec![(root, 0)];
            while let Some((from, next)) = open.last_mut() {
                let (from, n) = (*from, *next);
                *next += 1;
                match self.edges[from].get(n).map(|edge| (edge.to, seen[edge.to])) {
                    None => {
                        seen[from] = VisitState::Done;
                        walk.finished.push(from);
                        open.pop();
                    }
                    Some((to, VisitState::NotYet)) => {
                        seen[to] = VisitState::Open;
                        open.push((to, 0));
                    }
                    Some((to, VisitState::Open)) => {
                        walk.closing.insert((from, n));
                        walk.cycles.push(self.cycle(&open, to));
                    }
                    Some((_, VisitState::Done)) => {}
                }
            }
        }
        walk
    }

    /// Returns the cycle from `to` along the open path back to `to`. The edge in use of an entry precedes its next edge.
    fn cycle(&self, open: &[(usize, usize)], to: usize) -> DelegationPath<'w> {
        let on_it = open.iter().skip_while(|(agent, _)| *agent != to);
        let (mut agents, hops): (Vec<_>, Vec<_>) = on_it.map(|(agent, next)| (self.name(*agent), self.edges[*agent][*next - 1].at)).unzip();
        agents.push(self.name(to));
        DelegationPath { agents, hops }
    }

    fn name(&self, at: usize) -> &'w str {
        self.agents[at].name.as_str()
    }
}

/// Returns the write tools of an agent with the names as written.
pub(super) fn write_tools<'w>(workspace: &'w Workspace, agent: &'w Agent) -> Vec<(&'w Spanned<String>, &'w Tool)> {
    let known = agent.tools.iter().filter_map(|name| Some((name, workspace.tool(name)?)));
    known.filter(|(_, tool)| tool.writes()).collect()
}

/// Returns the problem and the remedy if `name` is not the canonical name of a tool.
pub(super) fn misnamed_tool(workspace: &Workspace, name: &str) -> Option<(String, String)> {
    match workspace.tool(name) {
        Some(tool) if *tool.name == name => None,
        Some(tool) => Some((format!("{name}, which is an alias"), format!("write {}", *tool.name))),
        None => {
            let guess = did_you_mean(name, workspace.tools.iter().map(|tool| tool.name.as_str()));
            let remedy = if guess.is_empty() { "describe it in tools/ or remove it".to_owned() } else { guess };
            Some((format!("{name}, which is not a tool"), remedy))
        }
    }
}

/// Returns the problem and the remedy if `name` is not an agent.
pub(super) fn misnamed_agent(workspace: &Workspace, name: &str) -> Option<(String, String)> {
    if workspace.agent(name).is_some() {
        return None;
    }
    let guess = did_you_mean(name, workspace.agents.iter().map(|agent| agent.name.as_str()));
    let remedy = if guess.is_empty() { format!("write agents/{name}.md or remove it") } else { guess };
    Some((format!("{name}, which is not an agent"), remedy))
}

/// Returns the problem and the remedy if no agent has the review role.
pub(super) fn missing_reviewer(workspace: &Workspace, role: ReviewRole) -> Option<(String, String)> {
    let word = role.word();
    let missing = workspace.reviewer(role).is_none();
    missing.then(|| (format!("the {word}, but no agent serves as one"), format!("add serves: {word} to an agent file")))
}

/// Reports whether a name consists of lower-case words joined by single underscores and starts with a letter.
pub(super) fn is_snake_case(name: &str) -> bool {
    let fits = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.split('_').all(fits)
}

#[cfg(test)]
mod tests {
    use super::super::ExampleWorkspace;
    use super::*;

    /// Minimal workspace with these delegations: (agent, targets).
    fn workspace(edges: &[(&str, &str)]) -> Workspace {
        let agent = |(name, to): &(&str, &str)| {
            let text = ExampleWorkspace::minimal().files().get("agents/desk.md").unwrap_or_default().to_owned();
            (format!("agents/{name}.md"), text.replace("name: desk", &format!("name: {name}")).replace("[trader]", &format!("[{to}]")))
        };
        let mut files = ExampleWorkspace::minimal().files().clone();
        for name in ["desk", "safety-guardian", "trader"] {
            files.remove(&format!("agents/{name}.md"));
        }
        edges.iter().map(agent).for_each(|(path, text)| files.insert(path, text));
        Workspace::load(&files).unwrap_or_else(|problems| panic!("{problems:#?}"))
    }

    fn path_strings(paths: &[DelegationPath<'_>]) -> Vec<String> {
        paths.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn graph_reports_one_cycle_per_closing_edge() {
        let workspace = workspace(&[("a", "b"), ("b", "c, a"), ("c", "b, d"), ("d", "d, missing"), ("e", "a")]);
        let cycles = DelegationGraph::of(&workspace).cycles();
        assert_eq!(path_strings(&cycles), ["b → c → b", "d → d", "a → b → a"]);
        for cycle in &cycles {
            assert_eq!(cycle.agents.len(), cycle.hops.len() + 1);
            let from = cycle.agents[cycle.agents.len() - 2];
            assert_eq!(*cycle.hops[cycle.hops.len() - 1].file, format!("agents/{from}.md"));
        }
    }

    #[test]
    fn longest_paths_terminate_on_cyclic_graphs() {
        let straight = workspace(&[("a", "d, b"), ("b", "c"), ("c", "d"), ("d", "")]);
        assert_eq!(path_strings(&DelegationGraph::of(&straight).longest_paths()), ["a → b → c → d", "b → c → d", "c → d", "d"]);
        let round = workspace(&[("a", "b"), ("b", "a, c"), ("c", "a")]);
        assert_eq!(path_strings(&DelegationGraph::of(&round).longest_paths()), ["a → b → c", "b → c", "c"]);
    }

    #[test]
    fn graph_walk_visits_each_agent_once() {
        let names: Vec<String> = (0..60).map(|n| format!("n{n:02}")).collect();
        let targets: Vec<String> = (0..60).map(|n| names[n + 1..].join(", ")).collect();
        let edges: Vec<_> = names.iter().map(String::as_str).zip(targets.iter().map(String::as_str)).collect();
        let workspace = workspace(&edges);
        let graph = DelegationGraph::of(&workspace);
        assert!(graph.cycles().is_empty());
        assert_eq!(graph.longest_paths()[0].hops.len(), 59);
        assert_eq!(graph.reachable(10).len(), 50);
    }

    #[test]
    fn snake_case_is_lower_case_words() {
        assert!(["a", "action_id", "token_0"].into_iter().all(is_snake_case));
        assert!(!["", "_a", "a_", "a__b", "A", "token-in", "0x", "a.b", "ä"].into_iter().any(is_snake_case));
    }
}
