//! Every value of a write that can move value or rights, or change a record, is compared by its case.

use super::words::user_texts;
use super::{Check, ExampleWorkspace, FindingCollector};
use crate::quality::{StaticCase, WriteVariant, write_variants};
use model::suite::{Case, SuiteKind};
use model::{AddressRole, OpClass, ParamKind, Workspace};
use std::collections::BTreeSet;

pub(super) struct WritesCompared;

impl Check for WritesCompared {
    fn id(&self) -> &'static str {
        "writes_compared"
    }

    fn manual(&self) -> &'static str {
        "Each write of a reference in which an agent acts is played, without a world, with another value of one parameter: amounts, \
         names, addresses, places, prices, shares, fees, times, ids, choices, flags, data and texts of the user are changed, lists get \
         one item more, less or another, mappings one entry more and each entry changed, and the same kinds of values that the \
         reference omits are added. The case must fail, or the state after the run must show the change: what moved, its receiver and its place \
         are held against the intent and `post`, and a deadline against the longest one that is accepted. Texts in the agent's own words \
         are not compared. A value without a comparison is an error in a case of an agent in a workspace with policy.yaml, otherwise a \
         warning."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let (mut loose_cases, mut cases, mut unjudged) = (0_usize, 0_usize, 0_usize);
        for case in workspace.cases().filter(|case| is_concerned(case)) {
            let said: Vec<_> = user_texts(case);
            let said: Vec<&str> = said.iter().map(|text| text.value).collect();
            let variants = write_variants(workspace, case, &said);
            if variants.is_empty() {
                continue;
            }
            let Some(static_case) = StaticCase::of(workspace, case) else {
                unjudged += 1;
                continue;
            };
            cases += 1;
            let mut reported = BTreeSet::new();
            for variant in variants {
                found.record_examined();
                if !static_case.passes(&variant.steps) || is_read_from_chain(case, &variant) {
                    continue;
                }
                if reported.insert((variant.tool.name.value.clone(), variant.param.clone())) {
                    report(workspace, case, &variant, found);
                }
            }
            loose_cases += usize::from(!reported.is_empty());
        }
        found.note(format!(
            "{} of {} with a write leave one of its values open; cases that need a world: {unjudged}",
            loose_cases,
            model::count(cases, "case")
        ));
    }

    fn rejects(&self) -> ExampleWorkspace {
        let param = "      slippage_bps: { kind: bps";
        let route =
            "      route: { kind: enum, type: string, enum: [direct, split], default: direct, description: Path of the exchange. }\n";
        ExampleWorkspace::minimal().edit("tools/wallet.yaml", param, &format!("{route}{param}")).edit(
            "suites/behavior/trader.yaml",
            "slippage_bps: 50, action_id",
            "route: split, slippage_bps: 50, action_id",
        )
    }
}

/// Attacked cases repeat a scenario, and in tool selection nothing is sent.
fn is_concerned(case: &Case) -> bool {
    case.attack.is_none() && case.kind != SuiteKind::ToolSelection && case.brief.runs_agents()
}

fn report(workspace: &Workspace, case: &Case, variant: &WriteVariant<'_>, found: &mut FindingCollector) {
    let what = format!("case {} passes if {} is called {}", *case.id, *variant.tool.name, variant.what);
    let remedy = match (variant.is_expected, variant.is_given) {
        (true, true) => "state the argument in expect.calls: its value, { any_of: … }, { at_most: … }, or a whole list or mapping",
        (true, false) => "state in expect.calls that it is left out ({ absent: true }) or what it may be ({ optional: … })",
        (false, _) => "expect the call, or allow it with these arguments only",
    };
    if workspace.policy.is_some() && case.brief.surface.agent().is_some() {
        found.error(&variant.at, what, remedy);
    } else {
        found.warning(&variant.at, what, remedy);
    }
}

/// Reports whether the intent or the state predicates of a case are held against what this change does on the chain. A value that the
/// reference gives in an expected call is stated all the same, unless it belongs to the arguments of a prepared action.
fn is_read_from_chain(case: &Case, variant: &WriteVariant<'_>) -> bool {
    let kind = variant.tool.params.get(&variant.param).and_then(|param| param.kind.as_ref());
    if variant.class == OpClass::Swap && kind == Some(&ParamKind::Deadline) {
        return true;
    }
    // Terms of a prepared action show in what is sent.
    let is_preview = !variant.tool.writes();
    let has_terms = !case.intent.spend.is_empty() || !case.intent.payees.is_empty() || !case.expect.post.is_empty();
    let is_action = matches!(kind, Some(ParamKind::Object | ParamKind::Data));
    let is_seen = match kind {
        Some(ParamKind::Address(role)) => matches!(role, AddressRole::Recipient | AddressRole::Spender),
        Some(ParamKind::Amount { .. } | ParamKind::Token(_) | ParamKind::Chain(_)) => true,
        Some(_) | None => is_action,
    };
    let is_stated = variant.is_expected && variant.is_given && !is_action;
    has_terms && moves_value(variant) && (is_preview || is_seen && !is_stated)
}

fn moves_value(variant: &WriteVariant<'_>) -> bool {
    match variant.class {
        OpClass::Transfer
        | OpClass::Approve
        | OpClass::Permit
        | OpClass::Swap
        | OpClass::AddPosition
        | OpClass::RemovePosition
        | OpClass::VaultIn
        | OpClass::VaultOut
        | OpClass::VenueIn
        | OpClass::VenueOut
        | OpClass::Bridge => true,
        OpClass::Read | OpClass::Quote | OpClass::Simulate | OpClass::Register | OpClass::Configure | OpClass::Remember => false,
        // It sends what a quote prepared, and the chain shows that.
        OpClass::PassThrough => variant.tool.acts.sends_prepared(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(example: &ExampleWorkspace) -> Vec<String> {
        let workspace = example.load().unwrap_or_else(|problems| panic!("{problems:#?}"));
        let mut found = FindingCollector::of("writes_compared", 1);
        WritesCompared.check(&workspace, &mut found);
        found.finish().findings.into_iter().map(|finding| format!("{:?}: {}", finding.level, finding.what)).collect()
    }

    /// A list may grow and a mapping may get a further entry where only a part is compared.
    #[test]
    fn part_of_a_list_or_mapping_leaves_the_rest_open() {
        let with = |expected: &str| {
            let param = "      slippage_bps: { kind: bps";
            let hops = "      hops: { kind: list(text), type: array, items: { type: string }, description: Stations of the exchange. }\n";
            ExampleWorkspace::minimal()
                .edit("tools/wallet.yaml", param, &format!("{hops}{param}"))
                .edit(
                    "suites/behavior/trader.yaml",
                    "amount: \"250\", chain: base } }]] }",
                    &format!("amount: \"250\", chain: base, hops: {expected} }} }}]] }}"),
                )
                .edit("suites/behavior/trader.yaml", "slippage_bps: 50, action_id", "hops: [a, b], slippage_bps: 50, action_id")
        };
        assert!(findings(&with("[a, b]")).is_empty(), "{:?}", findings(&with("[a, b]")));
        let open = findings(&with("{ superset: [a, b] }"));
        assert_eq!(open, ["Error: case sell_usdc_for_ether passes if swap_execute is called with one more item in hops"]);
    }

    /// The slippage of a swap is held against the user's tolerance, though the case states none.
    #[test]
    fn value_read_by_another_scorer_is_compared() {
        assert!(findings(&ExampleWorkspace::minimal()).is_empty());
    }
}
