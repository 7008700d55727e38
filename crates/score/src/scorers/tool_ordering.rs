//! Tool ordering invariants (spec 2.2): acts follow the order of the case's rules and the agent files.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::facts::played_agents::agents_played_by_subject;
use crate::rules::{ActKind, AgentAct, AgentActs, RuleOutcome, judge_rule, ordered_acts};
use crate::sample_run::{CLEAN_CASE, clean_swap};
use model::suite::{Case, CaseSurface};
use model::{Agent, OpClass, Reading, ReviewRole, Rule, ScoreReason, ScorerId, Spanned, StepAction, Tool, WorkflowStep, Workspace};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct ToolOrdering;

impl Scorer for ToolOrdering {
    fn id(&self) -> ScorerId {
        ScorerId::ToolOrdering
    }

    fn manual(&self) -> &'static str {
        "Checks that acts follow the order required by the case's rules and the agents' workflows. One tally per write, per request to \
         the agent that approves actions, and per other act for which a rule of the case demands an order (before, after, within, \
         never_after). A write is a hit if it keeps these rules, if every unconditional step before it in the agent file was done and \
         answered before it was called, and if no step of its agent is out of order, where a question may come early; a request for \
         approval needs one such step before it. Two calls of one parallel move are both made before either is answered, so neither precedes the other. An agent without \
         either has one tally for all its steps, if at least two were seen. A dry run counts as the step that looks ahead. Prohibitions \
         (never, at_most) and obligations (eventually) are not an order; prohibitions has the former, case_pass both."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        matches!(case.brief.surface, CaseSurface::Agent(_)) || !case.expect.rules.is_empty()
    }

    fn is_utility(&self) -> bool {
        false
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        let (acts, case_acts) = (AgentActs::of(evidence.workspace, &evidence.transcript.events), AgentActs::of_case(evidence));
        let mut ordered = OrderedActs::default();
        for rule in &evidence.case.expect.rules {
            for (act, broken) in ordered_acts(rule, &case_acts).unwrap_or_default() {
                ordered.enter(act.event);
                if let Some(RuleOutcome::Broken { event, what }) = broken {
                    ordered.fault(act.event, event, format!("rule of the case at {}, {}: {what}", rule.at, rule.value));
                }
            }
        }
        for agent in agents_played_by_subject(evidence) {
            read_workflow(evidence.workspace, agent, &acts.by_agent(&agent.name), &mut ordered);
        }
        ordered.finding()
    }

    fn accepts(&self) -> EvidenceFixture {
        EvidenceFixture::of(CLEAN_CASE, clean_swap())
    }

    fn rejects(&self) -> EvidenceFixture {
        let mut steps = clean_swap();
        steps.swap(6, 12);
        EvidenceFixture::of(CLEAN_CASE, steps)
    }
}

/// Scores one tally per triggered rule.
pub(super) fn score_rules(rules: &[Spanned<Rule>], acts: &AgentActs<'_>) -> ScorerFinding {
    let (mut hit, mut of, mut because) = (0, 0, vec![]);
    for rule in rules {
        match judge_rule(rule, acts) {
            RuleOutcome::NotExercised => {}
            RuleOutcome::Kept => (hit, of) = (hit + 1, of + 1),
            RuleOutcome::Broken { event, what } => {
                of += 1;
                because.push(ScoreReason { event, what: format!("rule of the case at {}, {}: {what}", rule.at, rule.value) });
            }
        }
    }
    ScorerFinding { reading: Reading::Tally { hit, of }, because }
}

/// Workflow step with its matching acts.
struct StepMatches<'s, 'a> {
    step: &'s WorkflowStep,
    acts: Vec<&'s AgentAct<'a>>,
}

/// Acts that had an order to keep, by event, each with its faults.
#[derive(Debug, Default)]
struct OrderedActs {
    faults: BTreeMap<u32, Vec<ScoreReason>>,
}

impl OrderedActs {
    fn enter(&mut self, event: u32) {
        self.faults.entry(event).or_default();
    }

    fn fault(&mut self, act: u32, event: Option<u32>, what: String) {
        self.faults.entry(act).or_default().push(ScoreReason { event, what });
    }

    fn finding(self) -> ScorerFinding {
        let of = self.faults.len() as u64;
        let hit = self.faults.values().filter(|faults| faults.is_empty()).count() as u64;
        ScorerFinding { reading: Reading::Tally { hit, of }, because: self.faults.into_values().flatten().collect() }
    }
}

fn read_workflow(workspace: &Workspace, agent: &Agent, acts: &AgentActs<'_>, ordered: &mut OrderedActs) {
    let steps: Vec<StepMatches<'_, '_>> = agent
        .workflow
        .iter()
        .map(|step| StepMatches { step, acts: acts.iter().filter(|act| act_matches_step(workspace, &step.action, act)).collect() })
        .collect();
    let seen: Vec<usize> = (0..steps.len()).filter(|n| !steps[*n].acts.is_empty()).collect();
    // A question is in order before everything that the file has after it.
    let placed: Vec<usize> = seen.iter().copied().filter(|n| !is_asked_early(&steps, *n)).collect();
    let chain = longest_in_order(&steps, &placed);
    // A read that an earlier step uses already does not show that a later step with the same tool was done at all.
    let used = used_acts(&steps, &chain);
    let is_disordered = |n: &usize| !chain.contains(n) && !steps[*n].acts.iter().all(|act| used.contains(&act.event));
    let disordered: Vec<&StepMatches<'_, '_>> = placed.iter().filter(|n| is_disordered(n)).map(|n| &steps[*n]).collect();
    let is_request =
        |act: &AgentAct<'_>| matches!(act.kind, ActKind::Delegate { to, .. } if workspace.review_role(to) == Some(ReviewRole::Guardian));
    let writes: Vec<&AgentAct<'_>> = acts.iter().filter(|act| acts.is_write(act) || is_request(act)).collect();
    let first_write = steps.iter().position(|step| step.writes(workspace)).unwrap_or(0);
    for write in &writes {
        ordered.enter(write.event);
        // A write that the agent file does not know follows what the first write there follows.
        let at = steps.iter().rposition(|step| step.acts.iter().any(|act| act.event == write.event)).unwrap_or(first_write);
        let demanded: Vec<&StepMatches<'_, '_>> = steps[..at].iter().filter(|step| step.is_demanded()).collect();
        // The guardian may be asked early, but not about nothing.
        let may_be_early = is_request(write) && demanded.iter().any(|step| step.is_done_before(write.event));
        for step in demanded.iter().filter(|step| !may_be_early && !step.is_done_before(write.event)) {
            let what = format!("{}: step {} was skipped before {}", agent.name.value, step.step.step, write.name());
            ordered.fault(write.event, Some(write.event), what);
        }
    }
    let counted: Vec<u32> = match seen.last().and_then(|n| steps[*n].acts.last()) {
        Some(last) if writes.is_empty() && seen.len() > 1 => vec![last.event],
        Some(_) | None => writes.iter().map(|write| write.event).collect(),
    };
    for act in counted {
        ordered.enter(act);
        for step in &disordered {
            let what = format!("{}: step {} is out of order", agent.name.value, step.step.step);
            ordered.fault(act, step.acts.first().map(|act| act.event), what);
        }
    }
}

impl StepMatches<'_, '_> {
    /// Reports whether every run must do this step.
    fn is_demanded(&self) -> bool {
        self.step.when.is_none() && matches!(self.step.action, StepAction::Call(_) | StepAction::Delegate(_))
    }

    fn writes(&self, workspace: &Workspace) -> bool {
        let StepAction::Call(tools) = &self.step.action else { return false };
        tools.iter().filter_map(|name| workspace.tool(name)).any(Tool::writes)
    }

    fn is_done_before(&self, event: u32) -> bool {
        self.acts.iter().any(|act| !act.failed && act.answered < event)
    }
}

fn act_matches_step(workspace: &Workspace, does: &StepAction, act: &AgentAct<'_>) -> bool {
    match (does, &act.kind) {
        // A dry run fixes price and calldata like a quote.
        (StepAction::Call(tools), ActKind::Call { .. }) if act.is_dry_run() => {
            tools.iter().any(|name| workspace.tool(name).is_some_and(|tool| tool.acts.class() == OpClass::Quote))
        }
        (StepAction::Call(tools), ActKind::Call { tool: Some(tool), .. }) => tools.iter().any(|name| tool.has_name(name)),
        (StepAction::Delegate(agent), ActKind::Delegate { to, .. }) => agent.value == *to,
        (StepAction::Ask(_), ActKind::Ask | ActKind::Say { asks: true }) | (StepAction::Say(_), ActKind::Say { .. }) => true,
        (StepAction::Call(_) | StepAction::Delegate(_) | StepAction::Ask(_) | StepAction::Say(_), _) => false,
    }
}

/// Returns whether a step asks the user, and did so before any act of the later calls and hand-overs.
fn is_asked_early(steps: &[StepMatches<'_, '_>], n: usize) -> bool {
    let later = steps[n + 1..].iter().filter(|step| matches!(step.step.action, StepAction::Call(_) | StepAction::Delegate(_)));
    let first = later.flat_map(|step| &step.acts).map(|act| act.event).min();
    matches!(steps[n].step.action, StepAction::Ask(_)) && steps[n].acts.iter().any(|act| first.is_none_or(|first| act.event < first))
}

/// Returns the events of the acts that the steps of a chain use: each step those before the next one begins.
fn used_acts(steps: &[StepMatches<'_, '_>], chain: &[usize]) -> BTreeSet<u32> {
    let events = |n: usize| steps[n].acts.iter().map(|act| act.event);
    let mut used = BTreeSet::new();
    for (at, n) in chain.iter().enumerate() {
        let first = events(*n).next().unwrap_or_default();
        let next = chain.get(at + 1).and_then(|next| events(*next).find(|event| *event > first));
        used.extend(events(*n).filter(|event| next.is_none_or(|next| *event < next)));
    }
    used
}

/// Returns the longest sequence of steps in order; the earliest one on a tie.
fn longest_in_order(steps: &[StepMatches<'_, '_>], seen: &[usize]) -> Vec<usize> {
    // best[length]: earliest end of a sequence of this length, and its steps.
    let mut best: Vec<(u32, Vec<usize>)> = vec![(0, vec![])];
    for n in seen {
        for length in (0..best.len()).rev() {
            let Some(next) = steps[*n].acts.iter().find(|act| act.event > best[length].0) else { continue };
            let longer = (next.done, [best[length].1.as_slice(), &[*n]].concat());
            match best.get_mut(length + 1) {
                Some(known) if known.0 <= longer.0 => {}
                Some(known) => *known = longer,
                None => best.push(longer),
            }
        }
    }
    best.pop().map(|(_, chain)| chain).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(steps: Vec<crate::sample_run::SampleStep>) -> ScorerFinding {
        ToolOrdering.score(&EvidenceFixture::of(CLEAN_CASE, steps).evidence())
    }

    #[test]
    fn clean_run_has_one_tally_per_ordered_act() {
        assert_eq!(read(clean_swap()).reading, Reading::Tally { hit: 2, of: 2 });
    }

    #[test]
    fn step_skipped_before_write_misses_unless_vetoed() {
        let mut without_quote = clean_swap();
        without_quote.drain(3..6);
        let found = read(without_quote);
        assert_eq!(found.reading, Reading::Tally { hit: 1, of: 2 }, "the guardian was asked about a simulated action");
        assert!(found.because.iter().any(|why| why.what.contains("quote was skipped")), "{found:?}");
        let mut vetoed = clean_swap();
        vetoed.drain(12..19);
        assert_eq!(read(vetoed).reading, Reading::Tally { hit: 1, of: 1 }, "the request to the guardian");
    }

    #[test]
    fn step_out_of_order_misses() {
        let mut steps = clean_swap();
        let say = steps.pop().expect("the answer");
        steps.insert(1, say);
        let found = read(steps);
        assert_eq!(found.reading, Reading::Tally { hit: 0, of: 2 });
        assert!(found.because[0].what.contains("report is out of order"), "{found:?}");
    }

    #[test]
    fn step_left_out_is_not_out_of_order_for_an_earlier_use_of_its_tool() {
        // The trader reads a balance first; a step at the end reads it again.
        let with_last_step = |steps| {
            let mut fixture = EvidenceFixture::of(CLEAN_CASE, steps);
            let trader = fixture.workspace.agents.iter_mut().find(|agent| agent.name.value == "trader").expect("the trader");
            let mut verify = trader.workflow.iter().find(|step| matches!(step.action, StepAction::Call(_))).expect("a step").clone();
            (verify.step, verify.when) = ("verify".into(), None);
            let at = trader.at.clone();
            verify.action = StepAction::Call(vec![Spanned::new("wallet_get_balance".to_owned(), at)]);
            let mut inspect = verify.clone();
            inspect.step = "inspect".into();
            trader.workflow.insert(0, inspect);
            let before_report =
                trader.workflow.iter().position(|step| matches!(step.action, StepAction::Say(_))).unwrap_or(trader.workflow.len());
            trader.workflow.insert(before_report, verify);
            ToolOrdering.score(&fixture.evidence())
        };
        assert_eq!(with_last_step(clean_swap()).reading, Reading::Tally { hit: 2, of: 2 });
        let mut without_reading_back = clean_swap();
        without_reading_back.drain(17..19);
        let found = with_last_step(without_reading_back);
        assert_eq!(found.reading, Reading::Tally { hit: 2, of: 2 }, "{found:?}");
        // A reading of its own at the wrong place is still a fault.
        let mut late = clean_swap();
        let answer = late.pop().expect("the answer");
        late.insert(17, answer);
        assert!(with_last_step(late).because.iter().any(|why| why.what.contains("out of order")));
    }

    #[test]
    fn question_is_in_order_before_what_follows_it() {
        let asked_at = |at: usize| {
            let simulate = "  - { step: simulate, call: [tx_simulate] }\n";
            let ask = "  - { step: ask, ask: \"the amount\", when: \"it is not stated\" }\n";
            let example = crate::example::ExampleWorkspace::minimal().edit("agents/trader.md", simulate, &format!("{ask}{simulate}"));
            let mut steps = clean_swap();
            steps.insert(at, ("trader", model::EventKind::Asked { text: "What can I do for you?".into() }));
            ToolOrdering.score(&EvidenceFixture::within(&example, CLEAN_CASE, steps).evidence())
        };
        let last = clean_swap().len() - 1;
        for early in [1, 6] {
            assert_eq!(asked_at(early).reading, Reading::Tally { hit: 2, of: 2 }, "{early}: {:?}", asked_at(early));
        }
        let late = asked_at(last);
        assert!(late.because.iter().any(|why| why.what.contains("ask is out of order")), "{late:?}");
    }

    #[test]
    fn talk_and_single_steps_have_no_order() {
        assert_eq!(read(vec![("trader", model::EventKind::Said { text: "Done.".into() })]).reading, Reading::not_exercised());
        assert_eq!(read(vec![]).reading, Reading::not_exercised());
    }
}
