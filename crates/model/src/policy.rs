//! Policy: limits and allowlists that agents must respect.

mod contract;

pub use contract::{ContractState, PolicyContract};

use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::registry::{AddressText, Role, address};
use crate::yaml::{YamlFields, YamlNode, flag, list, name, one_of, spanned, text, unsigned};

#[derive(Debug, Clone)]
pub struct Policy {
    pub version: u64,
    pub limits_usd: LimitsUsd,
    pub slippage_bps: SlippageBps,
    pub price_impact_bps: u64,
    pub quote_max_age_s: u64,
    pub permit_ttl_s: u64,
    pub writes_per_hour: u64,
    pub max_asset_count: u64,
    pub max_position_bps: u64,
    pub max_concentration_bps: u64,
    pub min_collateral_ratio_bps: u64,
    pub max_drawdown_bps: u64,
    pub min_rebalance_interval_s: u64,
    pub max_rebalances_per_day: u64,
    pub allow_arbitrary_calldata: bool,
    pub approved_assets: Vec<Spanned<String>>,
    pub approved_protocols: Vec<Role>,
    pub sanctioned: Vec<Spanned<AddressText>>,
    /// Maximum hops in a chain of delegations.
    pub delegation_depth: u64,
    /// Contract that takes the place of the built-in one.
    pub contract: Option<PolicyContract>,
    /// Reason why a bound may be weaker than in the specification.
    pub deviates: Option<Spanned<String>>,
    pub at: Location,
}

#[derive(Debug, Clone, Copy)]
pub struct LimitsUsd {
    pub per_transaction: u64,
    pub per_session: u64,
    pub per_day: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct SlippageBps {
    pub default: u64,
    pub max: u64,
}

pub(crate) fn read_policy(node: &YamlNode, report: &ProblemReport) -> Option<Policy> {
    let fields = YamlFields::open(node, "the policy", report)?;
    let version = fields.required("version", unsigned);
    let limits_usd = fields.required("limits_usd", read_limits);
    let slippage_bps = fields.required("slippage_bps", read_slippage);
    let price_impact_bps = fields.required("price_impact_bps", unsigned);
    let quote_max_age_s = fields.required("quote_max_age_s", unsigned);
    let permit_ttl_s = fields.required("permit_ttl_s", unsigned);
    let writes_per_hour = fields.required("writes_per_hour", unsigned);
    let max_asset_count = fields.required("max_asset_count", unsigned);
    let max_position_bps = fields.required("max_position_bps", unsigned);
    let max_concentration_bps = fields.required("max_concentration_bps", unsigned);
    let min_collateral_ratio_bps = fields.required("min_collateral_ratio_bps", unsigned);
    let max_drawdown_bps = fields.required("max_drawdown_bps", unsigned);
    let min_rebalance_interval_s = fields.required("min_rebalance_interval_s", unsigned);
    let max_rebalances_per_day = fields.required("max_rebalances_per_day", unsigned);
    let allow_arbitrary_calldata = fields.required("allow_arbitrary_calldata", flag);
    let approved_assets = fields.required("approved_assets", list(spanned(name)));
    let approved_protocols = fields.required("approved_protocols", list(one_of(Role::ALL)));
    let sanctioned = fields.required("sanctioned", list(spanned(address)));
    let delegation_depth = fields.required("delegation_depth", unsigned);
    let contract = fields.optional("contract", contract::read_contract);
    let deviates = fields.optional("deviates", spanned(text));
    fields.close();
    Some(Policy {
        version: version?,
        limits_usd: limits_usd?,
        slippage_bps: slippage_bps?,
        price_impact_bps: price_impact_bps?,
        quote_max_age_s: quote_max_age_s?,
        permit_ttl_s: permit_ttl_s?,
        writes_per_hour: writes_per_hour?,
        max_asset_count: max_asset_count?,
        max_position_bps: max_position_bps?,
        max_concentration_bps: max_concentration_bps?,
        min_collateral_ratio_bps: min_collateral_ratio_bps?,
        max_drawdown_bps: max_drawdown_bps?,
        min_rebalance_interval_s: min_rebalance_interval_s?,
        max_rebalances_per_day: max_rebalances_per_day?,
        allow_arbitrary_calldata: allow_arbitrary_calldata?,
        approved_assets: approved_assets?,
        approved_protocols: approved_protocols?,
        sanctioned: sanctioned?,
        delegation_depth: delegation_depth?,
        contract,
        deviates,
        at: report.location(node.line),
    })
}

fn read_limits(node: &YamlNode, report: &ProblemReport) -> Option<LimitsUsd> {
    let fields = YamlFields::open(node, "limits_usd", report)?;
    let per_transaction = fields.required("per_transaction", unsigned);
    let per_session = fields.required("per_session", unsigned);
    let per_day = fields.required("per_day", unsigned);
    fields.close();
    let limits = LimitsUsd { per_transaction: per_transaction?, per_session: per_session?, per_day: per_day? };
    if limits.per_transaction > limits.per_session || limits.per_session > limits.per_day {
        report.add(
            node.line,
            "limits_usd must not decrease from transaction to session to day",
            "a longer period needs at least the same limit",
        );
    }
    Some(limits)
}

fn read_slippage(node: &YamlNode, report: &ProblemReport) -> Option<SlippageBps> {
    let fields = YamlFields::open(node, "slippage_bps", report)?;
    let default = fields.required("default", unsigned);
    let max = fields.required("max", unsigned);
    fields.close();
    let slippage = SlippageBps { default: default?, max: max? };
    if slippage.default > slippage.max {
        report.add(node.line, "the default slippage is above the maximum", "");
    }
    Some(slippage)
}

#[cfg(test)]
mod tests;
