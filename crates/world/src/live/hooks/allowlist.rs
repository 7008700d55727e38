//! Requires assets approved by the policy and spenders that are approved protocols.

use super::hook::{Hook, HookInput, HookScope, ObjectionReason};
use crate::chain::AddressEntry;
use crate::live::tx_plan::PartyRole;
use alloy_primitives::Address;
use model::transcript::ToolErrorCode;

pub(super) const HOOK: Hook = Hook {
    id: "allowlist",
    manual: "Assets must be approved by the policy, and spenders must be approved protocols.",
    scope: HookScope::Policy,
    check,
};

fn check(input: &HookInput<'_>) -> Option<ObjectionReason> {
    input.parties().find_map(|(part, address)| match part {
        PartyRole::Asset if !is_approved_asset(input, address) => {
            let why = format!("{} is not an approved asset", input.book.asset(address));
            Some(ObjectionReason::new(ToolErrorCode::TokenNotAllowed, why))
        }
        PartyRole::Spender if !is_approved_protocol(input, address) => {
            let why = format!("{} is not an approved protocol", name(input, address));
            Some(ObjectionReason::new(ToolErrorCode::UnknownSpender, why))
        }
        PartyRole::Asset | PartyRole::Spender | PartyRole::Recipient => None,
    })
}

fn is_approved_asset(input: &HookInput<'_>, at: Address) -> bool {
    let Some((AddressEntry { contract, .. }, (symbol, _))) = input.book.get(at).and_then(|entry| Some((entry, entry.asset.as_ref()?)))
    else {
        return false;
    };
    // Shares are approved if their underlying assets are.
    match contract {
        Some("AmmPair") => symbol.rsplit_once('-').is_some_and(|(a, b)| is_approved(input, a) && is_approved(input, b)),
        Some("Vault") => {
            let vault = input.world.vaults.iter().find(|vault| vault.chain == input.book.chain && vault.address.address == at);
            vault.is_some_and(|vault| is_approved(input, &vault.asset))
        }
        Some(_) | None => is_approved(input, symbol),
    }
}

fn is_approved(input: &HookInput<'_>, symbol: &str) -> bool {
    input.policy.approved_assets.iter().any(|asset| asset.eq_ignore_ascii_case(symbol))
}

/// Returns whether the account itself would accept the spender: an approved role, a vault or the wrapped native coin.
fn is_approved_protocol(input: &HookInput<'_>, at: Address) -> bool {
    let Some(entry) = input.book.get(at) else { return false };
    let by_role = input.policy.approved_protocols.iter().any(|role| entry.role.as_deref() == Some(role.word()));
    by_role || matches!(entry.contract, Some("Vault" | "Weth"))
}

fn name(input: &HookInput<'_>, at: Address) -> String {
    let address = at.to_checksum(None);
    input.book.get(at).map_or_else(|| address.clone(), |entry| format!("{} ({address})", entry.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::bindings::Token;
    use crate::live::hooks::specimen::{ROUTER, STRANGER, SampleWrite, USDC, VAULT, WETH};
    use crate::live::tx_plan::{ContractCall, PlanKind};
    use alloy_primitives::U256;
    use alloy_sol_types::SolCall;

    /// Returns the error code for an approval with these parties.
    fn approval_code(parties: Vec<(PartyRole, Address)>, value: u64) -> Option<ToolErrorCode> {
        let mut sample = SampleWrite::transfer();
        let spender = parties.iter().find(|(part, _)| *part == PartyRole::Spender).map_or(ROUTER, |(_, address)| *address);
        let data = Token::approveCall { spender, value: U256::from(value) }.abi_encode();
        sample.plan.kind = PlanKind::Execute(vec![ContractCall { to: USDC, value: U256::ZERO, data }]);
        sample.plan.outflows = vec![];
        sample.plan.parties = parties;
        check(&sample.input()).map(|objection| objection.code)
    }

    #[test]
    fn allowlist_matches_assets_by_registry_symbol() {
        for asset in [USDC, WETH, Address::ZERO, VAULT] {
            assert_eq!(approval_code(vec![(PartyRole::Asset, asset)], 5), None, "{asset}");
        }
        assert_eq!(approval_code(vec![(PartyRole::Asset, STRANGER)], 5), Some(ToolErrorCode::TokenNotAllowed));
        // A contract that is not a token.
        assert_eq!(approval_code(vec![(PartyRole::Asset, ROUTER)], 5), Some(ToolErrorCode::TokenNotAllowed));
    }

    #[test]
    fn allowlist_accepts_pool_share_of_approved_assets() {
        let pool = SampleWrite::transfer().input().book.find("WETH-USDC").unwrap();
        assert_eq!(approval_code(vec![(PartyRole::Asset, pool)], 5), None);
    }

    #[test]
    fn allowlist_rejects_stray_token_with_approved_symbol() {
        let look_alike = SampleWrite::look_alike();
        assert_eq!(approval_code(vec![(PartyRole::Asset, look_alike)], 5), Some(ToolErrorCode::TokenNotAllowed));
    }

    #[test]
    fn allowlist_limits_spenders_but_not_revocations() {
        assert_eq!(approval_code(vec![(PartyRole::Spender, ROUTER), (PartyRole::Asset, USDC)], 5), None);
        assert_eq!(approval_code(vec![(PartyRole::Spender, VAULT), (PartyRole::Asset, USDC)], 5), None);
        assert_eq!(approval_code(vec![(PartyRole::Spender, STRANGER), (PartyRole::Asset, USDC)], 5), Some(ToolErrorCode::UnknownSpender));
        assert_eq!(approval_code(vec![(PartyRole::Spender, STRANGER), (PartyRole::Asset, USDC)], 0), None);
        // A token is not a protocol.
        assert_eq!(approval_code(vec![(PartyRole::Spender, USDC)], 5), Some(ToolErrorCode::UnknownSpender));
    }

    #[test]
    fn allowlist_checks_calls_beside_zero_approval() {
        let mut sample = SampleWrite::transfer();
        let nothing = Token::approveCall { spender: STRANGER, value: U256::ZERO }.abi_encode();
        let everything = Token::approveCall { spender: STRANGER, value: U256::MAX }.abi_encode();
        let calls = [nothing, everything].map(|data| ContractCall { to: USDC, value: U256::ZERO, data });
        sample.plan.kind = PlanKind::Execute(calls.into());
        sample.plan.parties = vec![(PartyRole::Spender, STRANGER)];
        assert_eq!(check(&sample.input()).map(|objection| objection.code), Some(ToolErrorCode::UnknownSpender));
    }
}
