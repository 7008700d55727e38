//! Limits the slippage of trades.

use super::hook::{Hook, HookInput, HookScope, ObjectionReason};
use crate::live::args::ToolArgs;
use crate::live::tx_plan::TxPlan;
use alloy_primitives::U256;
use model::transcript::{ToolErrorCode, TradeTerms};
use model::{ParamKind, Tool};
use serde_json::{Map, Value};

pub(super) const HOOK: Hook = Hook {
    id: "slippage",
    manual: "The minimum output of a trade must be its expected output less at most the policy's maximum slippage.",
    scope: HookScope::Policy,
    check,
};

fn check(input: &HookInput<'_>) -> Option<ObjectionReason> {
    let max = input.policy.slippage_bps.max;
    let bps = excess_slippage(input.tool, input.args, input.plan, max)?;
    Some(ObjectionReason::new(ToolErrorCode::SlippageExceeded, format!("slippage of {bps} bps exceeds the maximum of {max} bps")))
}

/// Returns the slippage in bps that an action states or its calldata allows, if it exceeds `max`.
pub(crate) fn excess_slippage(tool: &Tool, args: &Map<String, Value>, plan: &TxPlan, max: u64) -> Option<u64> {
    // The minimum of an exact-output swap equals its output, so its slippage shows only in the stated bps.
    let planned = plan.outputs.get("slippage_bps").and_then(|bps| bps.as_u64());
    let stated = planned.or_else(|| stated_bps(&ToolArgs::new(tool, args))).filter(|bps| *bps > max);
    stated.or_else(|| plan.trade.as_ref().and_then(|trade| calldata_bps(trade, max)))
}

fn stated_bps(args: &ToolArgs<'_>) -> Option<u64> {
    args.of_kind(|kind| matches!(kind, ParamKind::Bps))
        .find(|(name, _, _)| name.contains("slippage"))
        .and_then(|(_, _, value)| value.as_u64())
}

/// Returns the slippage in bps that the calldata allows, if it exceeds `max`.
fn calldata_bps(trade: &TradeTerms, max: u64) -> Option<u64> {
    let full_bps = U256::from(10_000);
    let amount = |text: &str| U256::from_str_radix(text, 10).ok();
    let (expected, least) = (amount(&trade.expected)?, amount(&trade.least)?);
    // Rounded down like the calldata, so that exactly the maximum passes.
    let floor = expected.checked_mul(full_bps.saturating_sub(U256::from(max)))? / full_bps;
    if least >= floor {
        return None;
    }
    let bps = (expected - least).checked_mul(full_bps)? / expected;
    Some(u64::try_from(bps).unwrap_or(u64::MAX).max(max + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::hooks::specimen::SampleWrite;
    use serde_json::json;

    fn trade(expected: u64, least: u64) -> Option<String> {
        let mut sample = SampleWrite::swap();
        sample.plan.outputs.clear();
        let trade = sample.plan.trade.as_mut().unwrap();
        (trade.expected, trade.least) = (expected.to_string(), least.to_string());
        check(&sample.input()).map(|objection| objection.why)
    }

    #[test]
    fn slippage_hook_compares_the_calldata_minimum() {
        // The sample policy allows 100 bps.
        assert_eq!(trade(10_000, 9_900), None);
        assert_eq!(trade(10_000, 10_000), None);
        assert_eq!(trade(10_000, 9_899).unwrap(), "slippage of 101 bps exceeds the maximum of 100 bps");
        assert_eq!(trade(10_000, 9_700).unwrap(), "slippage of 300 bps exceeds the maximum of 100 bps");
        assert_eq!(trade(10_000, 0).unwrap(), "slippage of 10000 bps exceeds the maximum of 100 bps");
        // Exactly the maximum, with a remainder in the division.
        assert_eq!(trade(1_000_003, 1_000_003 * 9_900 / 10_000), None);
        assert_eq!(trade(1_000_003, 1_000_003 * 9_900 / 10_000 - 1).unwrap(), "slippage of 101 bps exceeds the maximum of 100 bps");
        assert_eq!(trade(0, 0), None);
    }

    #[test]
    fn slippage_hook_checks_exact_output_swaps() {
        let objection = SampleWrite::swap().objection(|sample| {
            let trade = sample.plan.trade.as_mut().unwrap();
            trade.least = trade.expected.clone();
            sample.plan.outputs.insert("slippage_bps".into(), json!(300));
        });
        assert_eq!(objection, ("slippage", ToolErrorCode::SlippageExceeded));
    }

    #[test]
    fn slippage_hook_uses_the_argument_without_a_trade() {
        let mut sample = SampleWrite::swap();
        sample.plan.outputs.clear();
        sample.plan.trade = None;
        assert_eq!(check(&sample.input()), None);
        sample.args.insert("slippage_bps".into(), json!(101));
        assert!(check(&sample.input()).is_some());
    }
}
