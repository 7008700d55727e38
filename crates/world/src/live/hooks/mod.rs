//! Hooks that check a write before it is signed. Each hook is one file and one row in [`HOOKS`].

mod allowlist;
mod approval;
mod approval_reused;
mod halt;
mod hook;
mod quote_expired;
mod rate;
mod recipient;
mod sanctions;
mod simulation;
mod slippage;
#[cfg(test)]
pub(crate) mod specimen;
mod spending;

pub(crate) use hook::HookInput;
pub use hook::{Hook, HookScope};
pub(crate) use slippage::excess_slippage;
pub(crate) use spending::worth_usd8;

use super::tx_plan::PlanKind;
use model::transcript::ToolErrorCode;

/// All hooks in the order in which they run.
pub static HOOKS: &[Hook] = &[
    halt::HOOK,
    allowlist::HOOK,
    sanctions::HOOK,
    recipient::HOOK,
    spending::HOOK,
    rate::HOOK,
    slippage::HOOK,
    quote_expired::HOOK,
    simulation::HOOK,
    approval::HOOK,
    approval_reused::HOOK,
];

/// Objection with the id of its hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HookObjection {
    pub hook: &'static str,
    pub code: ToolErrorCode,
    pub why: String,
}

/// Returns every objection against a write, at most one per hook.
pub(crate) fn objections(input: &HookInput<'_>) -> Vec<HookObjection> {
    applicable_hooks(input).filter_map(|hook| run_hook(hook, input)).collect()
}

/// Returns the first objection of an account or policy hook, regardless of the agent's earlier steps.
pub(crate) fn policy_objection(input: &HookInput<'_>) -> Option<HookObjection> {
    let is_policy = |hook: &&Hook| match hook.scope {
        HookScope::Account | HookScope::Policy => true,
        HookScope::Conduct => false,
    };
    applicable_hooks(input).filter(is_policy).find_map(|hook| run_hook(hook, input))
}

/// Returns the hooks for a plan. Notes, inflows and halting move no funds, so only account hooks apply to them.
fn applicable_hooks(input: &HookInput<'_>) -> impl Iterator<Item = &'static Hook> + use<> {
    let moves_funds = match input.plan.kind {
        PlanKind::Execute(_) | PlanKind::Sign(_) => true,
        PlanKind::Direct(_) | PlanKind::Inflow { .. } | PlanKind::Remember { .. } => false,
    };
    HOOKS.iter().filter(move |hook| moves_funds || hook.scope == HookScope::Account)
}

fn run_hook(hook: &'static Hook, input: &HookInput<'_>) -> Option<HookObjection> {
    (hook.check)(input).map(|objection| HookObjection { hook: hook.id, code: objection.code, why: objection.why })
}

#[cfg(test)]
mod tests {
    use super::specimen::SampleWrite;
    use super::*;
    use crate::live::tx_plan::PartyRole;
    use alloy_primitives::{Address, U256};
    use serde_json::json;

    #[test]
    fn clean_write_passes_every_hook() {
        assert_eq!(objections(&SampleWrite::transfer().input()), []);
        assert_eq!(objections(&SampleWrite::swap().input()), []);
    }

    #[test]
    fn objections_follow_the_order_and_ids_of_the_hook_table() {
        let mut worst = SampleWrite::swap();
        worst.halted = true;
        worst.plan.parties = vec![
            (PartyRole::Recipient, specimen::SANCTIONED),
            (PartyRole::Spender, specimen::STRANGER),
            (PartyRole::Recipient, Address::ZERO),
        ];
        worst.plan.outflows = vec![(specimen::USDC, U256::MAX)];
        worst.plan.outputs.insert("slippage_bps".into(), json!(5_000));
        worst.now_ms = worst.frozen_until() + 1;
        (0..20).for_each(|_| worst.actions.record_write("0xother", worst.now_ms));
        worst.calldata_hash = "0xnever seen".into();
        let found: Vec<&str> = objections(&worst.input()).iter().map(|objection| objection.hook).collect();
        let all: Vec<&str> = HOOKS.iter().map(|hook| hook.id).filter(|id| *id != approval_reused::HOOK.id).collect();
        assert_eq!(found, all);
    }

    #[test]
    fn hook_ids_are_unique_and_documented() {
        for (n, Hook { id, manual, .. }) in HOOKS.iter().enumerate() {
            assert!(HOOKS[..n].iter().all(|other| other.id != *id), "duplicate id {id}");
            assert!(manual.ends_with('.') && !manual.contains('\n'), "{id}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test reads the folder it is about")]
    fn every_hook_file_is_in_the_table() {
        let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/live/hooks"));
        let files = std::fs::read_dir(folder).expect("the folder of hooks").map(|entry| entry.expect("an entry").path());
        let stems = files.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned());
        let mut hooks: Vec<String> = stems.filter(|stem| !matches!(stem.as_str(), "mod" | "hook" | "specimen")).collect();
        hooks.sort();
        let mut ids: Vec<&str> = HOOKS.iter().map(|hook| hook.id).collect();
        ids.sort_unstable();
        assert_eq!(hooks, ids);
    }

    #[test]
    fn notes_and_inflows_are_blocked_only_by_halt() {
        for kind in
            [PlanKind::Remember { key: "k".into(), value: json!("v") }, PlanKind::Inflow { asset: specimen::USDC, amount: U256::MAX }]
        {
            let mut sample = SampleWrite::transfer();
            sample.plan.kind = kind;
            sample.plan.parties = vec![(PartyRole::Recipient, specimen::SANCTIONED)];
            sample.calldata_hash = "0xnever seen".into();
            assert_eq!(objections(&sample.input()), []);
            sample.halted = true;
            assert_eq!(objections(&sample.input()).len(), 1);
        }
    }

    #[test]
    fn policy_objection_ignores_conduct_hooks() {
        let mut sample = SampleWrite::swap();
        sample.calldata_hash = "0xnever seen".into();
        assert_eq!(policy_objection(&sample.input()), None);
        sample.plan.parties.push((PartyRole::Recipient, specimen::SANCTIONED));
        assert_eq!(policy_objection(&sample.input()).map(|objection| objection.hook), Some("sanctions"));
    }
}
