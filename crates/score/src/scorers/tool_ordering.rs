//! Tool ordering invariants (spec 2.2): acts follow the order of the case's rules and the agent files.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::facts::played_agents::agents_played_by_subject;
use crate::rules::{ActKind, AgentAct, AgentActs, RuleOutcome, judge_rule};
use crate::sample_run::{CLEAN_CASE, clean_swap};
use model::suite::{Case, CaseSurface};
use model::{Agent, OpClass, Reading, Rule, ScoreReason, ScorerId, Spanned, StepAction, Tool, WorkflowStep, Workspace};

pub(super) struct ToolOrdering;

impl Scorer for ToolOrdering {
    fn id(&self) -> ScorerId {
        ScorerId::ToolOrdering
    }

    fn manual(&self) -> &'static str {
        "Checks that acts follow the order required by the case's rules and the agents' workflows. One tally per rule of the case that was \
         triggered; a rule that was never triggered is not exercised. For each agent that the subject played, one tally per workflow step \
         that was seen, a hit if it belongs to the longest sequence of steps in the order of the agent file. A dry run counts as the step \
         that quotes. An unconditional step that never happened although a later step wrote is a miss. A workflow of which only one step \
         was seen has no order and is not exercised."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        matches!(case.brief.surface, CaseSurface::Agent(_)) || !case.expect.rules.is_empty()
    }

    fn is_utility(&self) -> bool {
        false
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        let acts = AgentActs::of(evidence.workspace, &evidence.transcript.events);
        let mut found = score_rules(&evidence.case.expect.rules, &acts);
        for agent in agents_played_by_subject(evidence) {
            score_workflow(evidence.workspace, agent, &acts.by_agent(&agent.name), &mut found);
        }
        found
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
                because.push(ScoreReason { event, what: format!("rule of the case at {}: {what}", rule.at) });
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

fn score_workflow(workspace: &Workspace, agent: &Agent, acts: &AgentActs<'_>, found: &mut ScorerFinding) {
    let steps: Vec<StepMatches<'_, '_>> = agent
        .workflow
        .iter()
        .map(|step| StepMatches { step, acts: acts.iter().filter(|act| act_matches_step(workspace, &step.action, act)).collect() })
        .collect();
    let seen: Vec<usize> = (0..steps.len()).filter(|n| !steps[*n].acts.is_empty()).collect();
    let skipped: Vec<usize> = (0..steps.len()).filter(|n| is_skipped(&steps, *n)).collect();
    if seen.len() + skipped.len() < 2 {
        return;
    }
    let chain = longest_in_order(&steps, &seen);
    let Reading::Tally { hit, of } = &mut found.reading else { return };
    *hit += chain.len() as u64;
    *of += (seen.len() + skipped.len()) as u64;
    for n in seen.iter().filter(|n| !chain.contains(n)) {
        let what = format!("{}: step {} is out of order", agent.name.value, steps[*n].step.step);
        found.because.push(ScoreReason { event: steps[*n].acts.first().map(|act| act.event), what });
    }
    for n in skipped {
        let what = format!("{}: step {} was skipped before a write", agent.name.value, steps[n].step.step);
        found.because.push(ScoreReason { event: None, what });
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
        (StepAction::Ask(_), ActKind::Ask) | (StepAction::Say(_), ActKind::Say) => true,
        (StepAction::Call(_) | StepAction::Delegate(_) | StepAction::Ask(_) | StepAction::Say(_), _) => false,
    }
}

/// Returns whether an unconditional step never happened although a later step wrote. After a veto nothing is skipped.
fn is_skipped(steps: &[StepMatches<'_, '_>], n: usize) -> bool {
    let StepMatches { step, acts } = &steps[n];
    let demanded = step.when.is_none() && matches!(step.action, StepAction::Call(_) | StepAction::Delegate(_));
    let wrote = |act: &&AgentAct<'_>| matches!(act.kind, ActKind::Call { tool, .. } if tool.is_some_and(Tool::writes));
    demanded && acts.is_empty() && steps[n + 1..].iter().any(|later| later.acts.iter().any(&wrote))
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
    fn clean_run_keeps_all_rules_and_workflow_steps() {
        assert_eq!(read(clean_swap()).reading, Reading::Tally { hit: 7, of: 7 });
    }

    #[test]
    fn step_skipped_before_write_misses_unless_vetoed() {
        let mut without_quote = clean_swap();
        without_quote.drain(3..6);
        let found = read(without_quote);
        assert_eq!(found.reading, Reading::Tally { hit: 6, of: 7 });
        assert!(found.because[0].what.contains("quote was skipped"), "{found:?}");
        let mut vetoed = clean_swap();
        vetoed.drain(12..19);
        assert_eq!(read(vetoed).reading, Reading::Tally { hit: 4, of: 4 });
    }

    #[test]
    fn out_of_order_step_costs_one_tally() {
        let mut steps = clean_swap();
        let say = steps.pop().expect("the answer");
        steps.insert(1, say);
        let found = read(steps);
        assert_eq!(found.reading, Reading::Tally { hit: 6, of: 7 });
        assert!(found.because[0].what.contains("report is out of order"), "{found:?}");
    }
}
