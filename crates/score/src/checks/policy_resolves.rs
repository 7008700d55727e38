//! Assets, roles and addresses of the policy exist. Tier 1, policy.

use super::words::suggest_name;
use super::{Check, ExampleWorkspace, FindingCollector};
use model::{AddressText, Policy, Role, Spanned, Workspace};

pub(super) struct PolicyResolves;

/// Greater limits are treated as a mistake in the file.
const MAX_DELEGATION_DEPTH: u64 = 10;

impl Check for PolicyResolves {
    fn id(&self) -> &'static str {
        "policy_resolves"
    }

    fn manual(&self) -> &'static str {
        "Approved assets are tokens or native coins of some chain, no sanctioned address is registered as a token or contract, and the \
         delegation depth lies between 1 and 10. An approved role without a contract is a warning: it approves nothing."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let Some(policy) = &workspace.policy else { return };
        for asset in &policy.approved_assets {
            found.record_examined();
            if !symbols(workspace).any(|symbol| symbol.eq_ignore_ascii_case(asset)) {
                let remedy = suggest_name(asset, symbols(workspace), "add it to a registry or remove it");
                found.error(&asset.at, format!("the approved asset {} is not a token of any chain", **asset), remedy);
            }
        }
        for role in &policy.approved_protocols {
            found.record_examined();
            check_role(workspace, policy, *role, found);
        }
        for address in &policy.sanctioned {
            found.record_examined();
            check_sanctioned(workspace, address, found);
        }
        found.record_examined();
        if !(1..=MAX_DELEGATION_DEPTH).contains(&policy.delegation_depth) {
            let what = format!("delegation_depth is {}", policy.delegation_depth);
            found.error(&policy.at, what, format!("write 1 to {MAX_DELEGATION_DEPTH} hops"));
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("policy.yaml", "[USDC, WETH, ETH]", "[USDC, WEHT, ETH]")
    }
}

fn symbols(workspace: &Workspace) -> impl Iterator<Item = &str> {
    workspace
        .chains
        .iter()
        .flat_map(|chain| chain.tokens.iter().map(|token| token.symbol.as_str()).chain(std::iter::once(chain.native.as_str())))
}

fn check_role(workspace: &Workspace, policy: &Policy, role: Role, found: &mut FindingCollector) {
    if !workspace.chains.iter().flat_map(|chain| &chain.contracts).any(|contract| contract.role == role) {
        let what = format!("no contract of any chain has the approved role {}", role.word());
        found.warning(&policy.at, what, "register one, or remove the role from approved_protocols");
    }
}

fn check_sanctioned(workspace: &Workspace, sanctioned: &Spanned<AddressText>, found: &mut FindingCollector) {
    for chain in &workspace.chains {
        let tokens = chain.tokens.iter().map(|token| (&token.symbol, &token.address));
        let contracts = chain.contracts.iter().map(|contract| (&contract.name, &contract.address));
        for (name, address) in tokens.chain(contracts) {
            if address.address == sanctioned.address {
                let what = format!("the sanctioned address {} is {} on {}", sanctioned.text, **name, chain.name);
                found.error(&sanctioned.at, what, format!("remove it here or at {}", address.at));
            }
        }
    }
}
