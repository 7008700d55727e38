//! Cases that carry a skill out name the skill, and their references carry it out to a report. Spec 2.3, completion.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::Workspace;
use model::suite::{Case, ReferenceAction};

pub(super) struct CarriedOutSkills;

impl Check for CarriedOutSkills {
    fn id(&self) -> &'static str {
        "carried_out_skills"
    }

    fn manual(&self) -> &'static str {
        "A case with carry_out names the expected skill, and the calls, the state or the report that its agent must deliver; its reference \
         ends with the report that the agent returns. Only such a case expects a report."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for case in workspace.cases() {
            found.record_examined();
            let expect = &case.expect;
            if !case.brief.carry_out {
                if expect.report.is_some() {
                    let what = format!("case {} expects a report, but no skill is carried out", *case.id);
                    found.error(&case.at, what, "add carry_out: true to the brief, or remove report");
                }
                continue;
            }
            if expect.skill.is_none() {
                found.error(&case.at, format!("case {} carries out a skill but expects none", *case.id), "add skill to expect");
            }
            if expect.calls.is_none() && expect.post.is_empty() && expect.report.is_none() {
                let what = format!("case {} carries out a skill, but any report of its agent would do", *case.id);
                found.error(&case.at, what, "add calls, post or report to expect");
            }
            if !ends_with_report(case) {
                let what = format!("the reference of case {} does not carry the skill out to a report", *case.id);
                found.error(&case.at, what, "after activate, add the steps of the agent and its say");
            }
        }
    }

    fn accepts(&self) -> ExampleWorkspace {
        let step = "      - { activate: swap, params: { token_in: ETH, token_out: USDC, amount: \"0.5\", chain: base } }\n";
        let quote =
            "      - { agent: trader, call: swap_get_quote, args: { token_in: ETH, token_out: USDC, amount: \"0.5\", chain: base } }\n";
        let report = "      - { agent: trader, say: '{\"status\": \"failure\"}' }\n";
        carried_out().edit("suites/skills/swap.yaml", step, &format!("{step}{quote}{report}"))
    }

    fn rejects(&self) -> ExampleWorkspace {
        carried_out()
    }
}

/// Returns the minimal workspace with its skill carried out, but without the steps of the agent.
fn carried_out() -> ExampleWorkspace {
    let calls = "      skill: swap\n      calls: { any_of: [[{ tool: swap_get_quote }]] }\n";
    ExampleWorkspace::minimal().edit("suites/skills/swap.yaml", "      world: small\n", "      world: small\n      carry_out: true\n").edit(
        "suites/skills/swap.yaml",
        "      skill: swap\n",
        calls,
    )
}

fn ends_with_report(case: &Case) -> bool {
    let after = case.reference.iter().rev().take_while(|step| !matches!(step.action, ReferenceAction::Activate { .. }));
    after.count() > 1 && case.reference.last().is_some_and(|step| matches!(step.action, ReferenceAction::Say(_)))
}
