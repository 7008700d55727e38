//! Workspace: tools, agents with their delegations, skills and gates, and how many cases exercise each.

use super::delegation_graph::delegation_graph;
use super::frame::{PageAssets, frame};
use super::{query_value, shown};
use maud::{Markup, html};
use model::Workspace;
use model::suite::{CaseSurface, ReferenceAction};
use present::judgement_text::bound;
use std::collections::BTreeMap;

/// Returns the page; `gate_cases` has the number of cases that should exercise each gate.
pub fn workspace_page(workspace: &Workspace, label: &str, gate_cases: &BTreeMap<String, usize>) -> String {
    let uses = SurfaceUses::of(workspace);
    let body = html! {
        h1 { "Workspace " (shown(label)) }
        p {
            (workspace.tools.len()) " tools, " (workspace.profiles.len()) " profiles, " (workspace.agents.len()) " agents, " (workspace.skills.len()) " skills, "
            (workspace.gates.len()) " gates, " (workspace.cases().count()) " cases; hash " code { (workspace.hash.short()) }
        }
        (gates(workspace, gate_cases))
        (agents(workspace, &uses))
        (skills(workspace, &uses))
        (tools(workspace, &uses))
    };
    frame(PageAssets::Linked, "Workspace", &body)
}

/// Numbers of cases by agent, of activations by skill and of calls by tool, in the references.
#[derive(Debug, Default)]
struct SurfaceUses<'w> {
    agents: BTreeMap<&'w str, usize>,
    skills: BTreeMap<&'w str, usize>,
    tools: BTreeMap<&'w str, usize>,
}

impl<'w> SurfaceUses<'w> {
    fn of(workspace: &'w Workspace) -> Self {
        let mut uses = Self::default();
        for case in workspace.cases() {
            match &case.brief.surface {
                CaseSurface::Agent(agent) => *uses.agents.entry(agent.as_str()).or_default() += 1,
                CaseSurface::Profile(_) | CaseSurface::Skills => {}
            }
            for step in &case.reference {
                match &step.action {
                    ReferenceAction::Call { tool, .. } => *uses.tools.entry(tool.as_str()).or_default() += 1,
                    ReferenceAction::Activate { skill, .. } => *uses.skills.entry(skill.as_str()).or_default() += 1,
                    ReferenceAction::Delegate { .. } | ReferenceAction::Ask(_) | ReferenceAction::Say(_) | ReferenceAction::Report(_) => {}
                }
            }
        }
        uses
    }
}

fn gates(workspace: &Workspace, gate_cases: &BTreeMap<String, usize>) -> Markup {
    html! {
        h2 id="gates" { "Gates" }
        div.wide tabindex="0" { table {
            thead { tr { th scope="col" { "gate" } th scope="col" { "source" } th scope="col" { "scorer" } th scope="col" { "bound" } th scope="col" { "tiers" } th.num scope="col" { "least cases" } th.num scope="col" { "cases" } } }
            tbody { @for gate in &workspace.gates {
                tr {
                    th scope="row" { (shown(&gate.id)) @if !gate.why.is_empty() { div.soft { (shown(&gate.why)) } } }
                    td { (shown(gate.spec.as_str())) }
                    td { (shown(gate.scorer.value.as_str())) }
                    td { (bound(gate.bound)) }
                    td { (gate.tiers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")) }
                    td.num { (gate.min_cases) }
                    td.num { (gate_cases.get(gate.id.as_str()).copied().unwrap_or(0)) }
                }
            } }
        } }
    }
}

/// Returns the agents; a delegation leads to the row of the other agent.
fn agents(workspace: &Workspace, uses: &SurfaceUses<'_>) -> Markup {
    html! {
        h2 id="agents" { "Agents and their delegations" }
        (delegation_graph(&workspace.agents))
        div.wide tabindex="0" { table {
            thead { tr { th scope="col" { "agent" } th scope="col" { "role" } th scope="col" { "delegates to" } th scope="col" { "writes" } th.num scope="col" { "tools" } th.num scope="col" { "cases" } } }
            tbody { @for agent in &workspace.agents {
                tr id={ "agent-" (agent.name.value) } {
                    th scope="row" { (shown(&agent.name)) }
                    td { (shown(&agent.role)) }
                    td { @for to in &agent.delegates_to { a href={ "#agent-" (to.value) } { (shown(to)) } " " } }
                    td { @if agent.writes.value { "yes" } }
                    td.num { (agent.tools.len()) }
                    td.num { (uses.agents.get(agent.name.as_str()).copied().unwrap_or(0)) }
                }
            } }
        } }
    }
}

fn skills(workspace: &Workspace, uses: &SurfaceUses<'_>) -> Markup {
    html! {
        h2 id="skills" { "Skills" }
        details open[workspace.skills.len() <= 12] {
            summary { (workspace.skills.len()) " skills" }
            div.wide tabindex="0" { table {
                thead { tr { th scope="col" { "skill" } th.num scope="col" { "activations in references" } } }
                tbody { @for skill in &workspace.skills {
                    tr { th scope="row" { (shown(&skill.name)) } td.num { (uses.skills.get(skill.name.as_str()).copied().unwrap_or(0)) } }
                } }
            } }
        }
    }
}

fn tools(workspace: &Workspace, uses: &SurfaceUses<'_>) -> Markup {
    html! {
        h2 id="tools" { "Tools" }
        details {
            summary { (workspace.tools.len()) " tools" }
            div.wide tabindex="0" { table {
                thead { tr { th scope="col" { "tool" } th scope="col" { "description" } th.num scope="col" { "calls in references" } } }
                tbody { @for tool in &workspace.tools {
                    tr {
                        th scope="row" { a href={ "/search?tool=" (query_value(&tool.name)) } { (shown(&tool.name)) } }
                        td { (shown(&tool.description)) }
                        td.num { (uses.tools.get(tool.name.as_str()).copied().unwrap_or(0)) }
                    }
                } }
            } }
        }
    }
}
