//! What a case expects is measured by some scorer. An evaluation must be able to fail.

use super::{Check, Example, Findings};
use model::suite::Case;
use model::{Place, Workspace};

pub(super) struct ExpectationsMeasured;

/// A part of an expectation, and whether a case states it.
type Part = (&'static str, fn(&Case) -> bool);

/// Parts that no scorer of this version reads.
const UNREAD: &[Part] = &[
    ("forbid", |case| !case.expect.forbid.is_empty()),
    ("rules", |case| !case.expect.rules.is_empty()),
    ("post", |case| !case.expect.post.is_empty()),
    ("output_schema", |case| case.expect.output_schema.is_some()),
    ("ask", |case| !case.expect.ask.is_empty()),
    ("carry", |case| !case.expect.carry.is_empty()),
];

impl Check for ExpectationsMeasured {
    fn id(&self) -> &'static str {
        "expectations_measured"
    }

    fn manual(&self) -> &'static str {
        "Every case expects at least calls or a skill, which scorers of this version read; without either, a run would say nothing about it. \
         Parts of expectations that are written down but not scored yet (forbid, rules, post, output_schema, ask, carry) are a warning, \
         one for each part, so that nobody takes them for measured."
    }

    fn check(&self, workspace: &Workspace, found: &mut Findings) {
        for case in workspace.cases() {
            found.look();
            if case.expect.calls.is_none() && case.expect.skill.is_none() {
                let what = format!("nothing this version measures is expected of case {}", *case.id);
                found.error(&case.at, what, "add calls or skill");
            }
        }
        for (part, stated) in UNREAD {
            let cases: Vec<&Case> = workspace.cases().filter(|case| stated(case)).collect();
            if let Some(first) = cases.first() {
                let at: &Place = &first.at;
                let what = format!("{part} is stated by {} and scored by none", super::words::counted(cases.len(), "case"));
                found.warning(at, what, "it is checked for form only until a later version scores it");
            }
        }
    }

    fn accepts(&self) -> Example {
        Example::minimal()
            .edit("suites/tool_selection/trader.yaml", "      forbid: [swap_execute, token_transfer]\n", "")
            .edit("suites/behavior/trader.yaml", "      forbid: [token_transfer]\n      rules: [\"before(simulate, write)\", \"before(guard.approve, write)\"]\n", "")
            .edit(
                "suites/composition/desk_to_trader.yaml",
                "      rules: [\"before(guard.approve, write)\"]\n      carry:\n        - { slot: amount, value: \"100\", from_turn: 1, until: trader }\n",
                "",
            )
    }

    fn rejects(&self) -> Example {
        Example::minimal().edit(
            "suites/skills/swap.yaml",
            "      skill: swap\n      params: { token_in: ETH, token_out: USDC, amount: \"0.5\", chain: base }\n",
            "      ask: [amount]\n",
        )
    }
}
