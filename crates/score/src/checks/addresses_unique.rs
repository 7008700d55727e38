//! An address stands for one thing on its chain. Tier 1, address registry.

use super::{Check, Example, Findings};
use model::{Chain, Place, Role, Workspace};
use std::collections::BTreeMap;

pub(super) struct AddressesUnique;

/// Roles whose contracts are tokens themselves.
const ARE_TOKENS: &[Role] = &[Role::Weth, Role::Staking];

impl Check for AddressesUnique {
    fn id(&self) -> &'static str {
        "addresses_unique"
    }

    fn manual(&self) -> &'static str {
        "On one chain no two contracts share role and name, no role has the same address twice, and no token's symbol (in any case) or address \
         occurs twice. A token is no contract of another role than weth or staking (a staking contract may be its own token): who approves the role would approve the token."
    }

    fn check(&self, workspace: &Workspace, found: &mut Findings) {
        for chain in &workspace.chains {
            let mut seen = Seen { chain, first: BTreeMap::new(), found };
            for token in &chain.tokens {
                seen.found.look();
                seen.once(format!("the token symbol {}", token.symbol.to_uppercase()), &token.symbol.at);
                seen.once(format!("a token with the address {}", token.address.checksummed()), &token.address.at);
            }
            for contract in &chain.contracts {
                seen.found.look();
                let role = contract.role.word();
                seen.once(format!("a {role} called {}", *contract.name), &contract.name.at);
                seen.once(format!("a {role} with the address {}", contract.address.checksummed()), &contract.address.at);
            }
            no_token_is_another_contract(chain, found);
        }
    }

    fn rejects(&self) -> Example {
        let weth = "0x4200000000000000000000000000000000000006";
        Example::minimal().edit("registry/base.yaml", weth, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
    }
}

struct Seen<'s> {
    chain: &'s Chain,
    first: BTreeMap<String, Place>,
    found: &'s mut Findings,
}

impl Seen<'_> {
    fn once(&mut self, thing: String, at: &Place) {
        if let Some(first) = self.first.get(&thing) {
            let what = format!("{} has {thing} twice", self.chain.name);
            self.found.error(at, what, format!("the first is at {first}; keep one or correct the other"));
        } else {
            self.first.insert(thing, at.clone());
        }
    }
}

fn no_token_is_another_contract(chain: &Chain, found: &mut Findings) {
    for contract in chain.contracts.iter().filter(|contract| !ARE_TOKENS.contains(&contract.role)) {
        if let Some(token) = chain.tokens.iter().find(|token| token.address.address == contract.address.address) {
            found.error(
                &contract.address.at,
                format!(
                    "{} on {} is registered as {} and as the token {}",
                    contract.address.text,
                    chain.name,
                    contract.role.word(),
                    *token.symbol
                ),
                format!("the token is at {}; correct the address that is wrong", token.address.at),
            );
        }
    }
}
