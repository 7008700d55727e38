//! Every address has its EIP-55 checksum. Tier 1, address registry.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::{AddressText, Spanned, Workspace};

pub(super) struct AddressesChecksummed;

impl Check for AddressesChecksummed {
    fn id(&self) -> &'static str {
        "addresses_checksummed"
    }

    fn manual(&self) -> &'static str {
        "Every address of the registry, of the policy's sanctioned list and of a world's wallet has its EIP-55 checksum. Without the \
         checksum a mistyped digit goes unnoticed until value is sent there."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for chain in &workspace.chains {
            for token in &chain.tokens {
                check_address(&token.address, &format!("token {} on {}", *token.symbol, chain.name), found);
            }
            for contract in &chain.contracts {
                check_address(&contract.address, &format!("contract {} on {}", *contract.name, chain.name), found);
            }
        }
        for address in workspace.policy.iter().flat_map(|policy| &policy.sanctioned) {
            check_address(address, "a sanctioned address", found);
        }
        for world in &workspace.worlds {
            let Some(wallet) = &world.wallet else { continue };
            check_address(wallet, &format!("the wallet of world {}", *world.name), found);
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        let right = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
        ExampleWorkspace::minimal().edit("registry/base.yaml", right, &right.to_lowercase())
    }
}

fn check_address(address: &Spanned<AddressText>, whose: &str, found: &mut FindingCollector) {
    found.record_examined();
    if !address.is_checksummed() {
        let what = format!("{whose}: {} lacks the EIP-55 checksum", address.text);
        // A wrong digit cannot be told from wrong capitals, so the author has to check the source.
        found.error(&address.at, what, format!("if its digits are right, write \"{}\"", address.to_checksum()));
    }
}
