//! Roles in which an address of the world is grounded. A borrower is known as the subject of a liquidation, not as a payee.

use model::{AddressRole, Role};

/// Kind of party that a role asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RoleClass {
    /// Gets value or rights: only an address listed in exactly this role.
    Receives,
    /// Account that is looked at or acted upon.
    Subject,
    /// Contract that is called or read.
    Contract,
}

fn class(role: AddressRole) -> RoleClass {
    match role {
        AddressRole::Recipient | AddressRole::Spender | AddressRole::Operator | AddressRole::Executor | AddressRole::Owner => {
            RoleClass::Receives
        }
        AddressRole::Wallet | AddressRole::Agent | AddressRole::Borrower => RoleClass::Subject,
        AddressRole::Pool
        | AddressRole::Vault
        | AddressRole::Token
        | AddressRole::Contract
        | AddressRole::Market
        | AddressRole::Hook
        | AddressRole::Router => RoleClass::Contract,
    }
}

/// Returns whether the role gets value or rights.
pub(super) fn receives(role: AddressRole) -> bool {
    class(role) == RoleClass::Receives
}

/// Returns whether a thing of the world, listed as `is`, is known in this role.
pub(super) fn thing_has_role(is: &str, role: AddressRole) -> bool {
    if is == role.word() {
        return true;
    }
    let listed = AddressRole::parse(is).map(class);
    match role {
        // A balance or position of any account can be read.
        AddressRole::Wallet => matches!(listed, Some(RoleClass::Receives | RoleClass::Subject)) || is == "golem",
        AddressRole::Agent => is == "golem",
        AddressRole::Contract => listed == Some(RoleClass::Contract),
        // A pool and a vault are markets, too.
        AddressRole::Market => matches!(is, "pool" | "vault"),
        AddressRole::Recipient
        | AddressRole::Spender
        | AddressRole::Operator
        | AddressRole::Executor
        | AddressRole::Owner
        | AddressRole::Borrower
        | AddressRole::Pool
        | AddressRole::Vault
        | AddressRole::Token
        | AddressRole::Hook
        | AddressRole::Router => false,
    }
}

/// Returns whether a vault of the world is known in this role.
pub(super) fn vault_has_role(role: AddressRole) -> bool {
    matches!(role, AddressRole::Vault | AddressRole::Token | AddressRole::Contract | AddressRole::Market | AddressRole::Spender)
}

/// Returns whether a token of the registry is known in this role.
pub(super) fn token_has_role(role: AddressRole) -> bool {
    matches!(role, AddressRole::Token | AddressRole::Contract)
}

/// Returns whether a contract of the registry is known in this role. Rights may be given to it, value may not be sent to it.
pub(super) fn contract_has_role(listed: Role, role: AddressRole) -> bool {
    match role {
        AddressRole::Recipient
        | AddressRole::Owner
        | AddressRole::Executor
        | AddressRole::Borrower
        | AddressRole::Wallet
        | AddressRole::Agent => false,
        AddressRole::Router => listed == Role::Router,
        AddressRole::Token => listed == Role::Weth,
        AddressRole::Spender
        | AddressRole::Operator
        | AddressRole::Pool
        | AddressRole::Vault
        | AddressRole::Contract
        | AddressRole::Market
        | AddressRole::Hook => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the roles in which something is known.
    fn roles(fits: impl Fn(AddressRole) -> bool) -> Vec<&'static str> {
        AddressRole::ALL.iter().filter(|(_, role)| fits(*role)).map(|(word, _)| *word).collect()
    }

    #[test]
    fn things_are_known_in_their_role() {
        let known = |is: &str| roles(|role| thing_has_role(is, role));
        assert_eq!(known("recipient"), ["recipient", "wallet"]);
        assert_eq!(known("spender"), ["spender", "wallet"]);
        assert_eq!(known("operator"), ["wallet", "operator"]);
        assert_eq!(known("executor"), ["wallet", "executor"]);
        assert_eq!(known("owner"), ["wallet", "owner"]);
        assert_eq!(known("borrower"), ["wallet", "borrower"]);
        assert_eq!(known("wallet"), ["wallet"]);
        assert_eq!(known("agent"), ["wallet", "agent"]);
        assert_eq!(known("golem"), ["wallet", "agent"]);
        assert_eq!(known("pool"), ["pool", "contract", "market"]);
        assert_eq!(known("vault"), ["vault", "contract", "market"]);
        assert_eq!(known("token"), ["token", "contract"]);
        assert_eq!(known("contract"), ["contract"]);
        assert_eq!(known("market"), ["contract", "market"]);
        assert_eq!(known("hook"), ["contract", "hook"]);
        assert_eq!(known("router"), ["contract", "router"]);
        assert_eq!(known("position"), [""; 0]);
    }

    #[test]
    fn registry_and_vaults_are_never_payees() {
        assert_eq!(roles(token_has_role), ["token", "contract"]);
        assert_eq!(roles(vault_has_role), ["spender", "vault", "token", "contract", "market"]);
        let known = |listed: Role| roles(|role| contract_has_role(listed, role));
        assert_eq!(known(Role::Router), ["spender", "pool", "vault", "contract", "market", "operator", "hook", "router"]);
        assert_eq!(known(Role::Weth), ["spender", "pool", "vault", "token", "contract", "market", "operator", "hook"]);
    }
}
