//! Rejects recipients, spenders and assets on the policy's sanctions list.

use super::hook::{Hook, HookInput, HookScope, ObjectionReason};
use model::transcript::ToolErrorCode;

pub(super) const HOOK: Hook = Hook {
    id: "sanctions",
    manual: "No recipient, spender or asset may be an address that the policy lists as sanctioned.",
    scope: HookScope::Policy,
    check,
};

fn check(input: &HookInput<'_>) -> Option<ObjectionReason> {
    let listed = |address| input.policy.sanctioned.iter().find(|sanctioned| sanctioned.address == address);
    let found = input.parties().find_map(|(_, address)| listed(address))?;
    Some(ObjectionReason::new(ToolErrorCode::SanctionedAddress, format!("{} is sanctioned", found.text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::bindings::Token;
    use crate::live::hooks::specimen::{SANCTIONED, SampleWrite, USDC};
    use crate::live::tx_plan::{ContractCall, PartyRole, PlanKind};
    use alloy_primitives::U256;
    use alloy_sol_types::SolCall;

    #[test]
    fn sanctions_hook_checks_every_party_role() {
        for part in [PartyRole::Recipient, PartyRole::Spender, PartyRole::Asset] {
            let mut sample = SampleWrite::transfer();
            sample.plan.parties.push((part, SANCTIONED));
            let objection = check(&sample.input()).unwrap();
            assert_eq!(objection.code, ToolErrorCode::SanctionedAddress);
            assert_eq!(objection.why, format!("{SANCTIONED} is sanctioned"));
        }
        let paid = SampleWrite::transfer().objection(|sample| sample.plan.parties.push((PartyRole::Recipient, SANCTIONED)));
        assert_eq!(paid, ("sanctions", ToolErrorCode::SanctionedAddress));
    }

    #[test]
    fn sanctions_hook_allows_revoking_sanctioned_spender() {
        let mut sample = SampleWrite::transfer();
        let data = Token::approveCall { spender: SANCTIONED, value: U256::ZERO }.abi_encode();
        sample.plan.kind = PlanKind::Execute(vec![ContractCall { to: USDC, value: U256::ZERO, data }]);
        sample.plan.parties = vec![(PartyRole::Spender, SANCTIONED), (PartyRole::Asset, USDC)];
        assert_eq!(check(&sample.input()), None);
    }
}
