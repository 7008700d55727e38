//! The reference of another case does not pass this one.

use super::words::{is_writing, percent};
use super::{Check, Example, Findings};
use crate::quality::Stand;
use model::Workspace;
use model::suite::{Case, ExpectedCalls, RefDoes, SuiteKind, Surface};
use std::collections::BTreeMap;

pub(super) struct CrossPlay;

/// The share of cases that may be passed by somebody else's answer, reads only.
const MOST: f64 = 0.05;

impl Check for CrossPlay {
    fn id(&self) -> &'static str {
        "cross_play"
    }

    fn manual(&self) -> &'static str {
        "Every case is played with the references of all other cases of its surface, without a world: a case that the right answer to \
         another question passes does not say what it wants. Pairs that call different tools on a profile cannot pass and are not played. \
         Where a case wants nothing done, doing nothing is the right answer to both and does not count. No case that expects a write may be passed, and at most \
         5 % of all; what is passed within that is a warning. Cases whose own reference only a world can judge are counted and left out."
    }

    fn check(&self, workspace: &Workspace, found: &mut Findings) {
        let mut surfaces: BTreeMap<String, Vec<Player<'_>>> = BTreeMap::new();
        let mut untold = 0_usize;
        for case in workspace.cases() {
            match Stand::of(workspace, case) {
                Some(stand) => surfaces.entry(surface(case)).or_default().push(Player { case, stand, tools: tools(workspace, case) }),
                None => untold += 1,
            }
        }
        let (mut cases, mut pairs, mut passed) = (0_usize, 0_usize, vec![]);
        for players in surfaces.values() {
            for player in players {
                found.look();
                cases += 1;
                let others = players.iter().filter(|other| !std::ptr::eq(other.case, player.case));
                pairs += others.clone().count();
                let others: Vec<&Player<'_>> =
                    others.filter(|other| player.may_be_passed_by(other) && player.stand.passes(&other.case.reference)).collect();
                if let Some(first) = others.first() {
                    passed.push((player.case, first.case, others.len()));
                }
            }
        }
        let share = passed.len() as f64 / cases.max(1) as f64;
        for (case, other, more) in &passed {
            let what = format!("the reference of {} passes case {} too{}", *other.id, *case.id, and_more(*more));
            let remedy = "state the arguments, parameters or rules that tell them apart";
            if share > MOST || is_writing(workspace, case) {
                found.error(&case.at, what, remedy)
            } else {
                found.warning(&case.at, what, remedy)
            }
        }
        found.note(format!(
            "{} of {cases} cases ({}) are passed by another case's reference, of {pairs} pairs of one surface; {untold} cases only a world can judge",
            passed.len(),
            percent(passed.len(), cases)
        ));
    }

    fn rejects(&self) -> Example {
        let from = "args: { token_in: USDC, token_out: WETH, amount: \"250\", chain: base } }]] }\n      forbid: [token_transfer]";
        let to = "args: { token_out: WETH, chain: base } }]] }";
        let second = "\n  - id: sell_dollars\n    brief:\n      surface: { agent: trader }\n      turns: [\"Turn 90 USDC into wrapped ether.\"]\n      world: small\n    \
                      expect:\n      calls: { any_of: [[{ tool: swap_execute, args: { amount: \"90\" } }]] }\n    reference:\n      \
                      - { call: swap_execute, args: { token_in: USDC, token_out: WETH, amount: \"90\", chain: base } }\n";
        Example::minimal()
            .edit("suites/behavior/trader.yaml", from, to)
            .edit("suites/behavior/trader.yaml", "\n      rules: [\"before(simulate, write)\", \"before(guard.approve, write)\"]", "")
            .edit("suites/behavior/trader.yaml", "    tags: [happy_path]\n", &format!("    tags: [happy_path]{second}"))
    }
}

struct Player<'w> {
    case: &'w Case,
    stand: Stand<'w>,
    /// What its reference calls, sorted.
    tools: Vec<&'w str>,
}

impl Player<'_> {
    fn may_be_passed_by(&self, other: &Player<'_>) -> bool {
        if wants_nothing(self.case) && does_nothing(other.case) {
            return false;
        }
        // On a profile a hit needs exactly the tools of an alternative.
        self.case.kind != SuiteKind::ToolSelection || self.tools == other.tools || has_alternatives(self.case)
    }
}

fn has_alternatives(case: &Case) -> bool {
    matches!(&case.expect.calls, Some(ExpectedCalls::AnyOf(alternatives)) if alternatives.len() > 1)
}

fn wants_nothing(case: &Case) -> bool {
    let calls = matches!(case.expect.calls, None | Some(ExpectedCalls::NoTool(_)));
    calls && case.expect.skill.is_none() && case.expect.carry.is_empty()
}

fn does_nothing(case: &Case) -> bool {
    case.reference.iter().all(|step| matches!(step.does, RefDoes::Ask(_) | RefDoes::Say(_) | RefDoes::Report(_)))
}

fn tools<'w>(workspace: &'w Workspace, case: &'w Case) -> Vec<&'w str> {
    let called = case.reference.iter().filter_map(|step| match &step.does {
        RefDoes::Call { tool, .. } => Some(workspace.tool(tool).map_or(tool.as_str(), |known| known.name.as_str())),
        RefDoes::Delegate { .. } | RefDoes::Activate { .. } | RefDoes::Ask(_) | RefDoes::Say(_) | RefDoes::Report(_) => None,
    });
    let mut called: Vec<&str> = called.collect();
    called.sort_unstable();
    called
}

fn surface(case: &Case) -> String {
    match &case.brief.surface {
        Surface::Profile(name) => format!("profile {}", **name),
        Surface::Agent(name) => format!("agent {}", **name),
        Surface::Skills => "skills".to_owned(),
    }
}

fn and_more(others: usize) -> String {
    if others > 1 { format!(", and {} more do", others - 1) } else { String::new() }
}
