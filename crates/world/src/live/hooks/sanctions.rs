//! Rejects recipients, spenders and assets on the policy's sanctions list.

use super::hook::{Hook, HookInput, HookScope, Objection};
use model::transcript::ToolErrorCode;

pub(super) const HOOK: Hook = Hook {
    id: "sanctions",
    manual: "No recipient, spender or asset may be an address that the policy lists as sanctioned.",
    scope: HookScope::Policy,
    check,
};

fn check(input: &HookInput<'_>) -> Option<Objection> {
    let listed = |address| input.workspace.policy.sanctioned.iter().find(|sanctioned| sanctioned.address == address);
    let found = input.parties().find_map(|(_, address)| listed(address))?;
    Some(Objection::new(ToolErrorCode::SanctionedAddress, format!("{} is sanctioned", found.text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::bindings::Token;
    use crate::live::hooks::specimen::{SANCTIONED, Specimen, USDC};
    use crate::live::tx_plan::{Call, Part, PlanKind};
    use alloy_primitives::U256;
    use alloy_sol_types::SolCall;

    #[test]
    fn a_sanctioned_party_is_found_in_any_part() {
        for part in [Part::Recipient, Part::Spender, Part::Asset] {
            let mut sample = Specimen::transfer();
            sample.plan.parties.push((part, SANCTIONED));
            let objection = check(&sample.input()).unwrap();
            assert_eq!(objection.code, ToolErrorCode::SanctionedAddress);
            assert_eq!(objection.why, format!("{SANCTIONED} is sanctioned"));
        }
        let paid = Specimen::transfer().objection(|sample| sample.plan.parties.push((Part::Recipient, SANCTIONED)));
        assert_eq!(paid, ("sanctions", ToolErrorCode::SanctionedAddress));
    }

    #[test]
    fn a_right_may_be_taken_back_from_a_sanctioned_spender() {
        let mut sample = Specimen::transfer();
        let data = Token::approveCall { spender: SANCTIONED, value: U256::ZERO }.abi_encode();
        sample.plan.kind = PlanKind::Execute(vec![Call { to: USDC, value: U256::ZERO, data }]);
        sample.plan.parties = vec![(Part::Spender, SANCTIONED), (Part::Asset, USDC)];
        assert_eq!(check(&sample.input()), None);
    }
}
