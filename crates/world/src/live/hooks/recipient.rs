//! Rejects addresses with an invalid checksum, and the zero address as recipient or spender.

use super::hook::{Hook, HookInput, HookScope, ObjectionReason};
use crate::live::args::scalar_text;
use crate::live::tx_plan::PartyRole;
use alloy_primitives::Address;
use model::transcript::ToolErrorCode;
use model::{AddressRole, AddressText, ParamKind};
use serde_json::Value;

pub(super) const HOOK: Hook = Hook {
    id: "recipient",
    manual: "Addresses in mixed case must have a valid EIP-55 checksum, and nothing may go to the zero address.",
    scope: HookScope::Policy,
    check,
};

fn check(input: &HookInput<'_>) -> Option<ObjectionReason> {
    let problem = addresses(input).find_map(|(name, kind, address)| address_problem(kind, &address).map(|what| format!("{name}: {what}")));
    let zero = || {
        let is_zero = input.parties().any(|(role, address)| role != PartyRole::Asset && address == Address::ZERO);
        is_zero.then(|| "the recipient or spender is the zero address".to_owned())
    };
    problem.or_else(zero).map(|why| ObjectionReason::new(ToolErrorCode::InvalidAddress, why))
}

/// Returns the address arguments, and tokens that are named by address.
fn addresses<'a>(input: &HookInput<'a>) -> impl Iterator<Item = (&'a str, &'a ParamKind, AddressText)> {
    let named = input.arguments().of_kind(|kind| holds_address(kind) || matches!(kind, ParamKind::List(inner) if holds_address(inner)));
    let each = named.flat_map(|(name, kind, value)| {
        let (kind, values) = match (kind, value) {
            (ParamKind::List(inner), Value::Array(items)) => (inner.as_ref(), items.as_slice()),
            (kind, value) => (kind, std::slice::from_ref(value)),
        };
        values.iter().map(move |value| (name, kind, value))
    });
    each.filter_map(|(name, kind, value)| Some((name, kind, AddressText::parse(&scalar_text(value))?)))
}

fn holds_address(kind: &ParamKind) -> bool {
    matches!(kind, ParamKind::Address(_) | ParamKind::Token(_))
}

fn address_problem(kind: &ParamKind, address: &AddressText) -> Option<String> {
    // Zero means no pool hook, or the native coin.
    let zero_means_none = matches!(kind, ParamKind::Token(_)) || matches!(kind, ParamKind::Address(AddressRole::Hook));
    if address.address == Address::ZERO && !zero_means_none {
        return Some("must not be the zero address".into());
    }
    let digits = address.text.get(2..).unwrap_or_default();
    let is_mixed = digits.contains(|c: char| c.is_ascii_lowercase()) && digits.contains(|c: char| c.is_ascii_uppercase());
    (is_mixed && !address.is_checksummed()).then(|| format!("{} has an invalid EIP-55 checksum", address.text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::hooks::specimen::{STRANGER, SampleWrite};
    use serde_json::json;

    fn sent_to(text: &str) -> Option<ToolErrorCode> {
        let mut sample = SampleWrite::transfer();
        sample.args.insert("recipient".into(), json!(text));
        check(&sample.input()).map(|objection| objection.code)
    }

    #[test]
    fn recipient_hook_rejects_broken_checksum() {
        let good = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
        assert_eq!(sent_to(good), None);
        assert_eq!(sent_to(&good.to_lowercase()), None);
        assert_eq!(sent_to(&good.to_uppercase().replacen("0X", "0x", 1)), None);
        assert_eq!(sent_to("0x70997970c51812dc3A010C7d01b50e0d17dc79C8"), Some(ToolErrorCode::InvalidAddress));
        assert_eq!(sent_to("not an address"), None, "the operation rejects text that is not an address");
    }

    #[test]
    fn recipient_hook_checks_token_address_checksum() {
        let mut sample = SampleWrite::transfer();
        sample.args.insert("token".into(), json!("0x833589fcD6eDb6E08f4c7C32D4f71b54bdA02913"));
        assert!(check(&sample.input()).unwrap().why.starts_with("token: 0x833589fcD6"));
        sample.args.insert("token".into(), json!(Address::ZERO.to_string()));
        assert_eq!(check(&sample.input()), None, "the native coin");
    }

    #[test]
    fn recipient_hook_rejects_zero_address() {
        assert_eq!(sent_to(&Address::ZERO.to_string()), Some(ToolErrorCode::InvalidAddress));
        let by_plan = SampleWrite::transfer().objection(|sample| sample.plan.parties.push((PartyRole::Recipient, Address::ZERO)));
        assert_eq!(by_plan, ("recipient", ToolErrorCode::InvalidAddress));
        let mut native = SampleWrite::transfer();
        native.plan.parties = vec![(PartyRole::Recipient, STRANGER), (PartyRole::Asset, Address::ZERO)];
        assert_eq!(check(&native.input()), None);
    }

    #[test]
    fn recipient_hook_allows_zero_for_absent_pool_hook() {
        let zero = AddressText::parse(&Address::ZERO.to_string()).unwrap();
        assert_eq!(address_problem(&ParamKind::Address(AddressRole::Hook), &zero), None);
        assert!(address_problem(&ParamKind::Address(AddressRole::Vault), &zero).is_some());
    }
}
