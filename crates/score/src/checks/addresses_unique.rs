//! Addresses, names and symbols are unique per chain. Tier 1, address registry.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::{ChainRegistry, Location, Role, Workspace};
use std::collections::BTreeMap;

pub(super) struct AddressesUnique;

/// Roles whose contracts are tokens themselves.
const TOKEN_ROLES: &[Role] = &[Role::Weth, Role::Staking];

impl Check for AddressesUnique {
    fn id(&self) -> &'static str {
        "addresses_unique"
    }

    fn manual(&self) -> &'static str {
        "On one chain no two contracts share role and name, no role has the same address twice, and no token's symbol (in any case) or \
         address occurs twice. A token's address may only be registered as a contract of role weth or staking (a staking contract may be \
         its own token): approving any other role would approve the token."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for chain in &workspace.chains {
            let mut seen = FirstOccurrences { chain, first: BTreeMap::new(), found };
            for token in &chain.tokens {
                seen.found.record_examined();
                seen.report_repeat(format!("the token symbol {}", token.symbol.to_uppercase()), &token.symbol.at);
                seen.report_repeat(format!("a token with the address {}", token.address.to_checksum()), &token.address.at);
            }
            for contract in &chain.contracts {
                seen.found.record_examined();
                let role = contract.role.word();
                seen.report_repeat(format!("a {role} called {}", *contract.name), &contract.name.at);
                seen.report_repeat(format!("a {role} with the address {}", contract.address.to_checksum()), &contract.address.at);
            }
            check_token_addresses(chain, found);
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        let weth = "0x4200000000000000000000000000000000000006";
        ExampleWorkspace::minimal().edit("registry/base.yaml", weth, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
    }
}

struct FirstOccurrences<'s> {
    chain: &'s ChainRegistry,
    first: BTreeMap<String, Location>,
    found: &'s mut FindingCollector,
}

impl FirstOccurrences<'_> {
    fn report_repeat(&mut self, thing: String, at: &Location) {
        if let Some(first) = self.first.get(&thing) {
            let what = format!("{} has {thing} twice", self.chain.name);
            self.found.error(at, what, format!("the first is at {first}; keep one or correct the other"));
        } else {
            self.first.insert(thing, at.clone());
        }
    }
}

fn check_token_addresses(chain: &ChainRegistry, found: &mut FindingCollector) {
    for contract in chain.contracts.iter().filter(|contract| !TOKEN_ROLES.contains(&contract.role)) {
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
