//! Typed calls, events, errors and structs of our contracts, generated from `contracts/artifacts`.

use alloy_sol_types::sol;

sol!(AmmFactory, "../../contracts/artifacts/AmmFactory.json");
sol!(AmmPair, "../../contracts/artifacts/AmmPair.json");
sol!(AmmQuoter, "../../contracts/artifacts/AmmQuoter.json");
sol!(AmmRouter, "../../contracts/artifacts/AmmRouter.json");
sol!(FeeBurner, "../../contracts/artifacts/FeeBurner.json");
sol!(FeeToken, "../../contracts/artifacts/FeeToken.json");
sol!(HookToken, "../../contracts/artifacts/HookToken.json");
sol!(IdentityRegistry, "../../contracts/artifacts/IdentityRegistry.json");
sol!(LyingToken, "../../contracts/artifacts/LyingToken.json");
sol!(Multicall3, "../../contracts/artifacts/Multicall3.json");
sol!(Permit2, "../../contracts/artifacts/Permit2.json");
sol!(PolicyCage, "../../contracts/artifacts/PolicyCage.json");
sol!(SanctionsList, "../../contracts/artifacts/SanctionsList.json");
sol!(Token, "../../contracts/artifacts/Token.json");
sol!(Vault, "../../contracts/artifacts/Vault.json");
sol!(Venue, "../../contracts/artifacts/Venue.json");
sol!(Weth, "../../contracts/artifacts/Weth.json");

/// EIP-712 messages that are signed but appear in no ABI.
pub mod typed_data {
    use alloy_sol_types::sol;

    sol! {
        /// ERC-2612.
        struct Permit { address owner; address spender; uint256 value; uint256 nonce; uint256 deadline; }

        struct TokenPermissions { address token; uint256 amount; }
        /// Permit2 signature transfer; the spender is signed but not passed.
        struct PermitTransferFrom { TokenPermissions permitted; address spender; uint256 nonce; uint256 deadline; }
    }
}
