//! Assets must be approved by the policy, and spenders must be approved protocols.

use super::hook::{Hook, HookInput, HookScope, Objection};
use crate::chain::Entry;
use crate::live::tx_plan::Part;
use alloy_primitives::Address;
use model::transcript::ToolErrorCode;

pub(super) const HOOK: Hook = Hook {
    id: "allowlist",
    manual: "Assets must be approved by the policy; whoever may take them must be an approved protocol.",
    scope: HookScope::Policy,
    check,
};

fn check(input: &HookInput<'_>) -> Option<Objection> {
    input.parties().find_map(|(part, address)| match part {
        Part::Asset if !is_approved_asset(input, address) => {
            let why = format!("{} is not an approved asset", input.book.asset(address));
            Some(Objection::new(ToolErrorCode::TokenNotAllowed, why))
        }
        Part::Spender if !is_approved_protocol(input, address) => {
            let why = format!("{} is not an approved protocol", name(input, address));
            Some(Objection::new(ToolErrorCode::UnknownSpender, why))
        }
        Part::Asset | Part::Spender | Part::Recipient => None,
    })
}

fn is_approved_asset(input: &HookInput<'_>, at: Address) -> bool {
    let Some((Entry { contract, .. }, (symbol, _))) = input.book.get(at).and_then(|entry| Some((entry, entry.asset.as_ref()?))) else {
        return false;
    };
    // Shares are as good as what they are shares of.
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
    input.workspace.policy.approved_assets.iter().any(|asset| asset.eq_ignore_ascii_case(symbol))
}

/// The same protocols as the account itself accepts: by role, and every vault and the wrapped coin of the world.
fn is_approved_protocol(input: &HookInput<'_>, at: Address) -> bool {
    let Some(entry) = input.book.get(at) else { return false };
    let by_role = input.workspace.policy.approved_protocols.iter().any(|role| entry.role.as_deref() == Some(role.word()));
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
    use crate::live::hooks::specimen::{ROUTER, STRANGER, Specimen, USDC, VAULT, WETH};
    use crate::live::tx_plan::{Call, PlanKind};
    use alloy_primitives::U256;
    use alloy_sol_types::SolCall;

    /// Code of the objection to an approval with these parties.
    fn approval(parties: Vec<(Part, Address)>, value: u64) -> Option<ToolErrorCode> {
        let mut sample = Specimen::transfer();
        let spender = parties.iter().find(|(part, _)| *part == Part::Spender).map_or(ROUTER, |(_, address)| *address);
        let data = Token::approveCall { spender, value: U256::from(value) }.abi_encode();
        sample.plan.kind = PlanKind::Execute(vec![Call { to: USDC, value: U256::ZERO, data }]);
        sample.plan.outflows = vec![];
        sample.plan.parties = parties;
        check(&sample.input()).map(|objection| objection.code)
    }

    #[test]
    fn assets_are_approved_by_the_symbol_the_world_knows_them_by() {
        for asset in [USDC, WETH, Address::ZERO, VAULT] {
            assert_eq!(approval(vec![(Part::Asset, asset)], 5), None, "{asset}");
        }
        assert_eq!(approval(vec![(Part::Asset, STRANGER)], 5), Some(ToolErrorCode::TokenNotAllowed));
        // A contract is no asset in any role.
        assert_eq!(approval(vec![(Part::Asset, ROUTER)], 5), Some(ToolErrorCode::TokenNotAllowed));
    }

    #[test]
    fn pool_shares_are_approved_with_both_sides() {
        let pool = Specimen::transfer().input().book.find("WETH-USDC").unwrap();
        assert_eq!(approval(vec![(Part::Asset, pool)], 5), None);
    }

    #[test]
    fn a_stray_token_is_no_approved_asset_whatever_it_calls_itself() {
        let look_alike = Specimen::look_alike();
        assert_eq!(approval(vec![(Part::Asset, look_alike)], 5), Some(ToolErrorCode::TokenNotAllowed));
    }

    #[test]
    fn rights_go_to_approved_protocols_and_may_be_taken_back_from_anybody() {
        assert_eq!(approval(vec![(Part::Spender, ROUTER), (Part::Asset, USDC)], 5), None);
        assert_eq!(approval(vec![(Part::Spender, VAULT), (Part::Asset, USDC)], 5), None);
        assert_eq!(approval(vec![(Part::Spender, STRANGER), (Part::Asset, USDC)], 5), Some(ToolErrorCode::UnknownSpender));
        assert_eq!(approval(vec![(Part::Spender, STRANGER), (Part::Asset, USDC)], 0), None);
        // A token is no protocol.
        assert_eq!(approval(vec![(Part::Spender, USDC)], 5), Some(ToolErrorCode::UnknownSpender));
    }

    #[test]
    fn an_approval_of_nothing_hides_no_other_call() {
        let mut sample = Specimen::transfer();
        let nothing = Token::approveCall { spender: STRANGER, value: U256::ZERO }.abi_encode();
        let everything = Token::approveCall { spender: STRANGER, value: U256::MAX }.abi_encode();
        let calls = [nothing, everything].map(|data| Call { to: USDC, value: U256::ZERO, data });
        sample.plan.kind = PlanKind::Execute(calls.into());
        sample.plan.parties = vec![(Part::Spender, STRANGER)];
        assert_eq!(check(&sample.input()).map(|objection| objection.code), Some(ToolErrorCode::UnknownSpender));
    }
}
