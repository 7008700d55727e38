//! Policy of the account: its limits, and the approvals of assets, protocols and functions.

use super::{ACCOUNT, GenesisBuilder};
use crate::chain::bindings::CageConfig::Limits;
use crate::chain::bindings::PolicyCage;
use crate::chain::contracts;
use alloy_json_abi::StateMutability;
use alloy_primitives::{Address, FixedBytes, U256};
use alloy_sol_types::SolCall;

/// Limits during the set-up: none of them binds.
const NO_LIMITS: Limits = Limits {
    perTxUsd8: u128::MAX,
    perSessionUsd8: u128::MAX,
    perDayUsd8: u128::MAX,
    maxWritesPerHour: u32::MAX,
    maxRebalancesPerDay: 0,
    minRebalanceInterval: 0,
    minCollateralRatioBps: 0,
    maxPositionBps: 10_000,
    maxConcentrationBps: 10_000,
    maxSlippageBps: 10_000,
    maxDrawdownBps: 10_000,
    maxAssets: 64,
};

impl GenesisBuilder<'_> {
    /// Lifts the limits for the set-up.
    pub(super) fn lift_limits(&mut self) {
        self.send(ACCOUNT, PolicyCage::setLimitsCall { limits_: NO_LIMITS }.abi_encode(), U256::ZERO, "the limits of the set-up");
    }

    pub(super) fn limits(&mut self) {
        let policy = self.policy;
        let usd8 = |dollars: u64| u128::from(dollars) * 100_000_000;
        let small = |value: u64| u16::try_from(value).unwrap_or(u16::MAX);
        let limits = Limits {
            perTxUsd8: usd8(policy.limits_usd.per_transaction),
            perSessionUsd8: usd8(policy.limits_usd.per_session),
            perDayUsd8: usd8(policy.limits_usd.per_day),
            maxWritesPerHour: u32::try_from(policy.writes_per_hour).unwrap_or(u32::MAX),
            // Enforced off chain by the policy: an agent that trades twice must be observed, not blocked.
            maxRebalancesPerDay: 0,
            minRebalanceInterval: 0,
            minCollateralRatioBps: u32::try_from(policy.min_collateral_ratio_bps).unwrap_or(u32::MAX),
            maxPositionBps: small(policy.max_position_bps),
            maxConcentrationBps: small(policy.max_concentration_bps),
            maxSlippageBps: small(policy.slippage_bps.max),
            maxDrawdownBps: small(policy.max_drawdown_bps),
            // The policy limits the assets held; this limits the assets approved.
            maxAssets: 64,
        };
        self.send(ACCOUNT, PolicyCage::setLimitsCall { limits_: limits }.abi_encode(), U256::ZERO, "the limits");
        let allowed = self.policy.allow_arbitrary_calldata;
        self.send(ACCOUNT, PolicyCage::setAllowArbitraryCalldataCall { allowed }.abi_encode(), U256::ZERO, "the calldata rule");
        for selector in selectors(&["IdentityRegistry", "FeeBurner"]) {
            self.send(ACCOUNT, PolicyCage::setSelectorCall { selector, allowed: true }.abi_encode(), U256::ZERO, "a permitted function");
        }
    }

    pub(super) fn approvals(&mut self) {
        let approved = |symbol: &str| self.policy.approved_assets.iter().any(|asset| asset.eq_ignore_ascii_case(symbol));
        let priced = self.priced_assets();
        let assets: Vec<(Address, u8, u128, bool)> = priced
            .into_iter()
            .filter(|(at, _, _)| approved(&self.book.asset(*at)))
            .map(|(at, decimals, usd8)| (at, decimals, usd8, matches!(self.book.asset(at).as_str(), "USDC" | "USDT" | "DAI")))
            .collect();
        for (asset, decimals, usd8, base) in assets {
            let call = PolicyCage::setAssetCall { asset, kind: 1, decimals, base, priceUsd8: usd8 };
            self.send(ACCOUNT, call.abi_encode(), U256::ZERO, "an approved asset");
        }
        let protocols: Vec<(Address, u8, bool)> = self
            .book
            .entries()
            .filter_map(|(at, entry)| {
                let kind = match entry.contract? {
                    "AmmRouter" => 2,
                    "Vault" => 3,
                    "Venue" => 4,
                    "Permit2" => 5,
                    "Weth" => 6,
                    "IdentityRegistry" | "FeeBurner" => 1,
                    _ => return None,
                };
                let role = entry.role.as_deref();
                let named = self.policy.approved_protocols.iter().any(|approved| Some(approved.word()) == role);
                (named || kind == 3 || kind == 6).then_some((at, kind, kind == 3))
            })
            .collect();
        for (protocol, kind, share) in protocols {
            self.send(ACCOUNT, PolicyCage::setProtocolCall { protocol, kind }.abi_encode(), U256::ZERO, "an approved protocol");
            if share {
                let call = PolicyCage::setAssetCall { asset: protocol, kind: 2, decimals: 18, base: false, priceUsd8: 0 };
                self.send(ACCOUNT, call.abi_encode(), U256::ZERO, "vault shares");
            }
        }
        for account in self.policy.sanctioned.iter().map(|address| address.address).collect::<Vec<_>>() {
            self.send(ACCOUNT, PolicyCage::setSanctionedCall { account, sanctioned_: true }.abi_encode(), U256::ZERO, "a sanction");
        }
    }
}

/// Returns the selectors that an agent may call on generic protocols: all state-changing functions except `init`.
fn selectors(names: &[&str]) -> Vec<FixedBytes<4>> {
    let writes = |function: &&alloy_json_abi::Function| {
        matches!(function.state_mutability, StateMutability::NonPayable | StateMutability::Payable) && function.name != "init"
    };
    names.iter().flat_map(|name| contracts::contract(name).abi.functions()).filter(writes).map(|function| function.selector()).collect()
}
