//! Router swaps with exact input or output, through USDC if there is no direct pool.

use super::amounts::{amount, resolve_max};
use super::calls::{approve_if_needed, plan, value_of};
use crate::chain::bindings::{AmmQuoter, AmmRouter};
use crate::chain::genesis::ACCOUNT;
use crate::live::args::{ToolArgs, scalar_text};
use crate::live::tool_error::{ToolError, quote_value};
use crate::live::tx_builder::{AssetInfo, TxBuilder, human};
use crate::live::tx_plan::{ContractCall, PartyRole, TxPlan};
use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use model::transcript::{ToolErrorCode, TradeTerms};
use model::{ChainRole, ParamKind, TokenRole};
use serde_json::json;

/// Default deadline in seconds.
pub(super) const DEADLINE_S: u64 = 300;

/// Fails if the call names another destination chain: the router serves one chain only.
fn require_same_chain(builder: &TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<(), ToolError> {
    let Some((_, named)) = args.first(|kind| matches!(kind, ParamKind::Chain(Some(ChainRole::Destination)))) else { return Ok(()) };
    let text = scalar_text(named);
    match builder.workspace.chain(&text) {
        Some(chain) if chain.id == builder.id => Ok(()),
        Some(chain) => Err(ToolError::new(ToolErrorCode::NoRoute, format!("cannot swap from chain {} to chain {}", builder.id, chain.id))),
        None => Err(ToolError::new(ToolErrorCode::ChainNotSupported, format!("{} is not a known chain", quote_value(&text)))),
    }
}

pub(super) async fn swap(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let missing = |side: &str| ToolError::new(ToolErrorCode::InvalidArguments, format!("no token to {side} specified"));
    let sell = builder.asset(&args.token(TokenRole::In).ok_or_else(|| missing("sell"))?)?;
    let buy = builder.asset(&args.token(TokenRole::Out).ok_or_else(|| missing("buy"))?)?;
    if sell == buy {
        return Err(ToolError::new(ToolErrorCode::InvalidArguments, format!("{} cannot be swapped for itself", sell.symbol)));
    }
    require_same_chain(builder, args)?;
    let exact_out = args.flag("exact_output") || args.text("trade_type").is_some_and(|word| word.eq_ignore_ascii_case("EXACT_OUTPUT"));
    let (router, quoter) = (builder.router()?, builder.quoter()?);
    let path = path(builder, &sell, &buy).map_err(|error| {
        let asked = |role: TokenRole| quote_value(&args.token(role).unwrap_or_default());
        let names = format!("no route from {} to {} on chain {}", asked(TokenRole::In), asked(TokenRole::Out), builder.id);
        ToolError::new(error.code, names)
    })?;
    let slippage = args.bps().unwrap_or(builder.policy.slippage_bps.default).min(10_000);
    let deadline = deadline(args, builder.unix_s);
    let counted = if exact_out { &buy } else { &sell };
    let amount = amount(builder, args, counted)?;
    let amount = resolve_max(builder, counted, amount).await?;
    let (give, expected, least, impact_bps, data) = if exact_out {
        let quote =
            builder.read(quoter, &AmmQuoter::quoteExactOutCall { amountOut: amount, path: path.clone() }).await.map_err(no_route)?;
        let most = quote.amountIn * U256::from(10_000 + slippage) / U256::from(10_000);
        let call = AmmRouter::swapExactOutCall { amountOut: amount, maxIn: most, path, to: ACCOUNT, deadline: U256::from(deadline) };
        (most, amount, amount, quote.impactBps, call.abi_encode())
    } else {
        let quote = builder.read(quoter, &AmmQuoter::quoteExactInCall { amountIn: amount, path: path.clone() }).await.map_err(no_route)?;
        let least = quote.amountOut * U256::from(10_000 - slippage) / U256::from(10_000);
        let call = AmmRouter::swapExactInCall { amountIn: amount, minOut: least, path, to: ACCOUNT, deadline: U256::from(deadline) };
        (amount, quote.amountOut, least, quote.impactBps, call.abi_encode())
    };
    let mut calls = vec![];
    approve_if_needed(builder, &mut calls, &sell, router, give).await?;
    calls.push(ContractCall { to: router, value: value_of(&sell, give), data });
    let mut plan = plan(
        builder,
        calls,
        vec![(sell.at, give)],
        vec![(PartyRole::Recipient, ACCOUNT), (PartyRole::Asset, sell.at), (PartyRole::Asset, buy.at)],
    );
    plan.outputs.insert("sell".into(), json!({ "asset": sell.symbol, "amount": human(give, sell.decimals) }));
    plan.outputs.insert(
        "buy".into(),
        json!({ "asset": buy.symbol, "expected": human(expected, buy.decimals), "least": human(least, buy.decimals) }),
    );
    plan.outputs.insert("price_impact_bps".into(), json!(u64::try_from(impact_bps).unwrap_or(u64::MAX)));
    plan.outputs.insert("slippage_bps".into(), json!(slippage));
    plan.trade = Some(TradeTerms {
        chain: builder.id,
        sell: sell.symbol,
        amount: give.to_string(),
        buy: buy.symbol,
        expected: expected.to_string(),
        least: least.to_string(),
        to: builder.book.party(ACCOUNT),
        deadline: deadline.saturating_sub(builder.clock_shift_s),
    });
    Ok(plan)
}

fn no_route(error: ToolError) -> ToolError {
    ToolError::new(
        if error.message.contains("NoPair") { ToolErrorCode::NoRoute } else { ToolErrorCode::InsufficientLiquidity },
        error.message,
    )
}

fn path(builder: &TxBuilder<'_>, sell: &AssetInfo, buy: &AssetInfo) -> Result<Vec<Address>, ToolError> {
    if builder.pair(sell, buy).is_ok() {
        return Ok(vec![sell.at, buy.at]);
    }
    let usdc = builder.asset("USDC").map_err(|_| ToolError::new(ToolErrorCode::NoRoute, format!("chain {} has no pools", builder.id)))?;
    builder.pair(sell, &usdc)?;
    builder.pair(&usdc, buy)?;
    Ok(vec![sell.at, usdc.at, buy.at])
}

/// Returns the deadline as a Unix timestamp. Small values are seconds from now.
fn deadline(args: &ToolArgs<'_>, now: u64) -> u64 {
    let given = args.first(|kind| matches!(kind, ParamKind::Deadline)).and_then(|(_, value)| value.as_u64()).unwrap_or(DEADLINE_S);
    if given >= 1_000_000_000 { given } else { now + given }
}
