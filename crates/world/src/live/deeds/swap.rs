//! Swaps through the router, exact in or exact out, by way of USDC where there is no direct pool.

use super::{allow, amount, deal, value_of};
use crate::chain::genesis::ACCOUNT;
use crate::live::args::{Args, word};
use crate::live::deal::{Call, Deal, Part};
use crate::live::desk::{Asset, Desk, human};
use crate::live::fault::{Fault, shown};
use alloy_primitives::{Address, U256};
use alloy_sol_types::{SolCall, sol};
use model::Kind;
use model::transcript::Trade;
use serde_json::json;

sol! {
    interface Router {
        function swapExactIn(uint256 amountIn, uint256 minOut, address[] path, address to, uint256 deadline) external payable returns (uint256);
        function swapExactOut(uint256 amountOut, uint256 maxIn, address[] path, address to, uint256 deadline) external payable returns (uint256);
    }
    interface Quoter {
        function quoteExactIn(uint256 amountIn, address[] path) external view returns (uint256 amountOut, uint256 impactBps);
        function quoteExactOut(uint256 amountOut, address[] path) external view returns (uint256 amountIn, uint256 impactBps);
    }
}

/// Seconds a swap may wait where nobody says otherwise.
pub(super) const DEADLINE_S: u64 = 300;

/// A router serves one chain; what is to arrive on another takes a bridge or an intent.
fn stays(desk: &Desk<'_>, args: &Args<'_>) -> Result<(), Fault> {
    let Some((_, named)) = args.first(|kind| matches!(kind, Kind::Chain(Some(role)) if role == "destination")) else { return Ok(()) };
    let text = word(named);
    match desk.workspace.chain(&text) {
        Some(chain) if chain.id == desk.id => Ok(()),
        Some(chain) => Err(Fault::new("ROUTING_NO_ROUTE", format!("a swap on chain {} does not arrive on chain {}", desk.id, chain.id))),
        None => Err(Fault::new("VALIDATION_CHAIN_NOT_SUPPORTED", format!("{} is no chain that is known here", shown(&text)))),
    }
}

pub(super) async fn swap(desk: &mut Desk<'_>, args: &Args<'_>) -> Result<Deal, Fault> {
    let missing = |side: &str| Fault::new("VALIDATION_INVALID_ARGUMENTS", format!("the call names no token to {side}"));
    let sell = desk.asset(&args.token("in").ok_or_else(|| missing("sell"))?)?;
    let buy = desk.asset(&args.token("out").ok_or_else(|| missing("buy"))?)?;
    if sell == buy {
        return Err(Fault::new("VALIDATION_INVALID_ARGUMENTS", format!("{} cannot be swapped for itself", sell.symbol)));
    }
    stays(desk, args)?;
    let exact_out = args.flag("exact_output") || args.text("trade_type").is_some_and(|word| word.eq_ignore_ascii_case("EXACT_OUTPUT"));
    let (router, quoter) = (desk.router()?, desk.quoter()?);
    let path = path(desk, &sell, &buy)?;
    let slippage = args.bps().unwrap_or(desk.workspace.policy.slippage_bps.default).min(10_000);
    let deadline = deadline(args, desk.unix_s);
    let counted = if exact_out { &buy } else { &sell };
    let amount = amount(desk, args, counted)?;
    let amount = super::all_of(desk, counted, amount).await?;
    let (give, expected, least, impact_bps, data) = if exact_out {
        let quote = desk.read(quoter, &Quoter::quoteExactOutCall { amountOut: amount, path: path.clone() }).await.map_err(no_route)?;
        let most = quote.amountIn * U256::from(10_000 + slippage) / U256::from(10_000);
        let call = Router::swapExactOutCall { amountOut: amount, maxIn: most, path, to: ACCOUNT, deadline: U256::from(deadline) };
        (most, amount, amount, quote.impactBps, call.abi_encode())
    } else {
        let quote = desk.read(quoter, &Quoter::quoteExactInCall { amountIn: amount, path: path.clone() }).await.map_err(no_route)?;
        let least = quote.amountOut * U256::from(10_000 - slippage) / U256::from(10_000);
        let call = Router::swapExactInCall { amountIn: amount, minOut: least, path, to: ACCOUNT, deadline: U256::from(deadline) };
        (amount, quote.amountOut, least, quote.impactBps, call.abi_encode())
    };
    let mut calls = vec![];
    allow(desk, &mut calls, &sell, router, give).await?;
    calls.push(Call { to: router, value: value_of(&sell, give), data });
    let mut deal =
        deal(desk, calls, vec![(sell.at, give)], vec![(Part::Recipient, ACCOUNT), (Part::Asset, sell.at), (Part::Asset, buy.at)]);
    deal.tells.insert("sell".into(), json!({ "asset": sell.symbol, "amount": human(give, sell.decimals) }));
    deal.tells.insert(
        "buy".into(),
        json!({ "asset": buy.symbol, "expected": human(expected, buy.decimals), "least": human(least, buy.decimals) }),
    );
    deal.tells.insert("price_impact_bps".into(), json!(u64::try_from(impact_bps).unwrap_or(u64::MAX)));
    deal.tells.insert("slippage_bps".into(), json!(slippage));
    deal.trade = Some(Trade {
        chain: desk.id,
        sell: sell.symbol,
        amount: give.to_string(),
        buy: buy.symbol,
        expected: expected.to_string(),
        least: least.to_string(),
        to: desk.book.party(ACCOUNT),
        deadline,
    });
    Ok(deal)
}

fn no_route(fault: Fault) -> Fault {
    Fault::new(if fault.message.contains("NoPair") { "ROUTING_NO_ROUTE" } else { "ROUTING_INSUFFICIENT_LIQUIDITY" }, fault.message)
}

fn path(desk: &Desk<'_>, sell: &Asset, buy: &Asset) -> Result<Vec<Address>, Fault> {
    if desk.pair(sell, buy).is_ok() {
        return Ok(vec![sell.at, buy.at]);
    }
    let usdc = desk.asset("USDC").map_err(|_| Fault::new("ROUTING_NO_ROUTE", format!("chain {} has no pools", desk.id)))?;
    desk.pair(sell, &usdc)?;
    desk.pair(&usdc, buy)?;
    Ok(vec![sell.at, usdc.at, buy.at])
}

/// Seconds from now as a time. A deadline so large that it is a date is one.
fn deadline(args: &Args<'_>, now: u64) -> u64 {
    let given = args.first(|kind| matches!(kind, Kind::Deadline)).and_then(|(_, value)| value.as_u64()).unwrap_or(DEADLINE_S);
    if given >= 1_000_000_000 { given } else { now + given }
}
