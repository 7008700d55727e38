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
        "Each write of a reference in which an agent acts is played, without a world, with another value of one parameter: addresses, \
         tokens, amounts, networks, prices, shares, fees, times, ids, choices, flags, data and texts of the user are changed, lists get one \
         item more, less or another, mappings one entry more and each entry changed, and addresses, assets, amounts, shares, prices, ids, \
         deadlines, data, lists and mappings that the reference omits are added. The case must fail, or the change must be read from the \
         chain: what moves, to whom and on which network is held against the intent and `post`, and the deadline of a swap against the \
         longest one that is accepted. Texts in the agent's own words are not compared. A value without a comparison is an error in a \
         workspace with policy.yaml, otherwise a warning."
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
        let param = "      token: { kind: token(asset), type: string, description: Token to send. }\n";
        let notify = format!("{param}      notify: {{ kind: address(agent), type: string, optional: true, description: Who is told. }}\n");
        ExampleWorkspace::minimal()
            .edit("tools/wallet.yaml", param, &notify)
            .edit("suites/behavior/trader.yaml", "forbid: [token_transfer]", "allow: [token_transfer]")
            .edit(
                "suites/behavior/trader.yaml",
                "      - { agent: trader, say:",
                "      - { agent: trader, call: token_transfer, args: { token: USDC, notify: \"0x70997970C51812dc3A010C7d01b50e0d17dc79C8\" } }\n      - { agent: trader, say:",
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
    if workspace.policy.is_some() {
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
    let has_terms = !case.intent.spend.is_empty() || !case.intent.payees.is_empty() || !case.expect.post.is_empty();
    let is_action = matches!(kind, Some(ParamKind::Object | ParamKind::Data));
    let is_seen = match kind {
        Some(ParamKind::Address(role)) => matches!(role, AddressRole::Recipient | AddressRole::Spender),
        Some(ParamKind::Amount { .. } | ParamKind::Token(_) | ParamKind::Chain(_)) => true,
        Some(_) | None => is_action,
    };
    has_terms && is_seen && moves_value(variant) && (is_action || !(variant.is_expected && variant.is_given))
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
        OpClass::Read
        | OpClass::Quote
        | OpClass::Simulate
        | OpClass::Register
        | OpClass::Configure
        | OpClass::Remember => false,
        // It sends what a quote prepared, and the chain shows that.
        OpClass::PassThrough => variant.tool.acts.sends_prepared(),
    }
}
