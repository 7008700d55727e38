//! Positions in a venue: lending, staking, margin, yield, gauges. One contract plays them all, so one file makes their calldata.

use super::vault::{call, percent_bps, told};
use super::{all_of, allow, main_asset, maybe_amount, plan, value_of};
use crate::chain::bindings::{FeeBurner, Token, Venue};
use crate::chain::genesis::{ACCOUNT, base_units, market};
use crate::live::args::{Args, word};
use crate::live::tool_error::{ToolError, shown};
use crate::live::tx_builder::{Asset, TxBuilder, human};
use crate::live::tx_plan::{Call, Part, TxPlan};
use alloy_primitives::{Address, B256, U256, hex};
use model::transcript::{ToolErrorCode, Trade};
use model::{AddressRole, Kind, Role, Spot, Thing, TokenRole, Tool, Unit, Via};
use serde_json::{Value, json};

/// Where a position lies, and what the thing that was named is made of.
struct Position {
    venue: Address,
    market: B256,
    assets: Vec<String>,
}

/// The venue of the thing a call names, or that of the tool.
fn position(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<Position, ToolError> {
    let thing = named_thing(builder, tool.via.role, args);
    let via = match thing {
        Some(thing) => Via { role: thing.role, contract: thing.contract.clone(), ..Via::default() },
        None => {
            let protocol = || by_word(builder, tool.via.role, args.text("protocol").or_else(|| args.text("provider")));
            Via { role: tool.via.role, contract: tool.via.contract.clone().or_else(protocol), ..Via::default() }
        }
    };
    let name = tool.via.market.as_deref().or_else(|| thing?.market.as_deref()).unwrap_or("lend");
    let assets = thing.map(|thing| thing.assets.iter().map(|symbol| symbol.value.clone()).collect()).unwrap_or_default();
    Ok(Position { venue: builder.contract(&via, &["Venue"])?, market: market(name), assets })
}

/// The first thing named that is a position of this role.
fn named_thing<'d>(builder: &'d TxBuilder<'_>, role: Option<Role>, args: &Args<'_>) -> Option<&'d Thing> {
    let names = |kind: &Kind| matches!(kind, Kind::Id(_) | Kind::Address(_));
    let texts = args.of_kind(|kind| names(kind) || matches!(kind, Kind::List(inner) if names(inner))).flat_map(|(_, _, value)| {
        let one = std::slice::from_ref(value);
        value.as_array().map_or(one, Vec::as_slice).iter().map(word)
    });
    let fits = |thing: &Thing| thing.chain == builder.id && thing.role.is_some_and(|own| role.is_none_or(|role| role == own));
    texts.into_iter().find_map(|text| builder.things.iter().find(|thing| fits(thing) && thing.id.eq_ignore_ascii_case(&text)))
}

/// The contract whose name in the registry begins with a word, such as `aave` or `across`.
pub(super) fn by_word(builder: &TxBuilder<'_>, role: Option<Role>, word: Option<String>) -> Option<Spot<String>> {
    let word = word.filter(|word| !word.is_empty())?.to_lowercase();
    let mut contracts = builder.registry()?.contracts.iter().filter(|contract| role.is_none_or(|role| contract.role == role));
    contracts.find(|contract| contract.name.to_lowercase().starts_with(&word)).map(|contract| contract.name.clone())
}

fn gives(tool: &Tool) -> Option<&str> {
    tool.via.gives.as_ref().map(|symbol| symbol.value.as_str())
}

fn takes(tool: &Tool) -> Option<&str> {
    tool.via.takes.as_ref().map(|symbol| symbol.value.as_str())
}

/// What is put in or taken out: the first asset of a thing.
fn own_asset(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>, at: &Position) -> Result<Asset, ToolError> {
    let fixed = gives(tool).or(takes(tool)).or_else(|| at.assets.first().map(String::as_str));
    main_asset(builder, fixed, args, &[TokenRole::Asset, TokenRole::Collateral, TokenRole::In])
}

/// What is owed: the last asset of a thing.
fn debt_asset(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>, at: &Position) -> Result<Asset, ToolError> {
    let fixed = gives(tool).or(takes(tool)).or_else(|| at.assets.last().map(String::as_str));
    main_asset(builder, fixed, args, &[TokenRole::Debt, TokenRole::Asset])
}

/// The amount a call is about: a deposit before its rent, collateral before size; the parts of a list add up.
fn stated(builder: &TxBuilder<'_>, args: &Args<'_>, asset: &Asset) -> Result<Option<U256>, ToolError> {
    let own = args.amounts().find(|(name, kind, _)| is_main(name) && !matches!(kind, Kind::Amount { unit: Unit::Usd, .. }));
    if let Some((name, kind, value)) = own {
        return something(name, builder.amount(args, name, kind, value, asset)?).map(Some);
    }
    let listed = args.of_kind(|kind| matches!(kind, Kind::List(inner) if matches!(**inner, Kind::Amount { .. }))).next();
    let Some((name, Kind::List(inner), Value::Array(items))) = listed else { return maybe_amount(builder, args, asset) };
    let mut sum = U256::ZERO;
    for item in items {
        sum = sum.saturating_add(builder.amount(args, name, inner, item, asset)?);
    }
    something(name, sum).map(Some)
}

fn is_main(name: &str) -> bool {
    matches!(name, "deposit" | "amount") || name.starts_with("collateral")
}

fn something(name: &str, amount: U256) -> Result<U256, ToolError> {
    if amount.is_zero() { Err(ToolError::new(ToolErrorCode::InvalidAmount, format!("{name}: nothing would move"))) } else { Ok(amount) }
}

/// An amount that must be said in numbers.
fn needed(builder: &TxBuilder<'_>, args: &Args<'_>, asset: &Asset) -> Result<U256, ToolError> {
    let amount = stated(builder, args, asset)?.filter(|amount| *amount != U256::MAX);
    amount.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAmount, format!("say how much {}", asset.symbol)))
}

/// An amount that is held; everything where everything is meant.
async fn from_holding(builder: &mut TxBuilder<'_>, args: &Args<'_>, asset: &Asset) -> Result<U256, ToolError> {
    let stated = stated(builder, args, asset)?.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAmount, "the call names no amount"))?;
    something(&asset.symbol, all_of(builder, asset, stated).await?)
}

fn parties(to: Address, assets: &[&Asset]) -> Vec<(Part, Address)> {
    std::iter::once((Part::Recipient, to)).chain(assets.iter().map(|asset| (Part::Asset, asset.at))).collect()
}

pub(super) async fn enter(builder: &mut TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    if let Some(plan) = turned(builder, tool, args)? {
        return Ok(plan);
    }
    let at = position(builder, tool, args)?;
    let asset = own_asset(builder, tool, args, &at)?;
    let behalf = args.address(AddressRole::Recipient)?.map_or(ACCOUNT, |address| address.address);
    let amount = from_holding(builder, args, &asset).await?;
    let mut calls = vec![];
    put(builder, &mut calls, &at, tool, (&asset, amount)).await?;
    let mut plan = plan(builder, calls, vec![(asset.at, amount)], parties(behalf, &[&asset]));
    plan.outputs.insert("enters".into(), told(&asset, amount));
    plan.outputs.insert("credited".into(), json!(ACCOUNT.to_checksum(None)));
    if behalf != ACCOUNT {
        let note = format!("positions cannot be given away here: the account itself is credited, not {}", behalf.to_checksum(None));
        plan.outputs.insert("note".into(), json!(note));
    }
    Ok(plan)
}

async fn put(
    builder: &mut TxBuilder<'_>,
    calls: &mut Vec<Call>,
    at: &Position,
    tool: &Tool,
    what: (&Asset, U256),
) -> Result<(), ToolError> {
    let (asset, amount) = what;
    allow(builder, calls, asset, at.venue, amount).await?;
    let enter = Venue::enterCall { market: at.market, asset: asset.at, amount, data: tool.name.as_bytes().to_vec().into() };
    calls.push(Call { value: value_of(asset, amount), ..call(at.venue, &enter) });
    Ok(())
}

/// Some tools go both ways: by a word, or by a change below nothing.
fn turned(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<Option<TxPlan>, ToolError> {
    match args.text("action").as_deref() {
        Some("unstake") => return exit(builder, tool, args).map(Some),
        Some("claim") => return claim(builder, tool, args).map(Some),
        Some(_) | None => {}
    }
    let less = args.amounts().filter(|(name, _, _)| name.ends_with("_delta"));
    let less = less.filter_map(|(name, kind, value)| word(value).strip_prefix('-').map(|text| (name, kind, json!(text)))).next();
    let Some((name, kind, value)) = less else { return Ok(None) };
    let at = position(builder, tool, args)?;
    let asset = own_asset(builder, tool, args, &at)?;
    let amount = something(name, builder.amount(args, name, kind, &value, &asset)?)?;
    Ok(Some(leave(builder, &at, &asset, amount)))
}

pub(super) fn exit(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    let at = position(builder, tool, args)?;
    let asset = own_asset(builder, tool, args, &at)?;
    let amount = stated(builder, args, &asset)?.unwrap_or(U256::MAX);
    Ok(leave(builder, &at, &asset, amount))
}

fn leave(builder: &TxBuilder<'_>, at: &Position, asset: &Asset, amount: U256) -> TxPlan {
    let exit = Venue::exitCall { market: at.market, asset: asset.at, amount, to: ACCOUNT };
    let mut plan = plan(builder, vec![call(at.venue, &exit)], vec![], parties(ACCOUNT, &[asset]));
    let amount = if amount == U256::MAX { "all".to_owned() } else { human(amount, asset.decimals) };
    plan.outputs.insert("takes_out".into(), json!({ "asset": asset.symbol, "amount": amount }));
    plan
}

pub(super) fn borrow(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    let at = position(builder, tool, args)?;
    let asset = debt_asset(builder, tool, args, &at)?;
    let amount = needed(builder, args, &asset)?;
    let borrow = Venue::borrowCall { market: at.market, asset: asset.at, amount, to: ACCOUNT };
    let mut plan = plan(builder, vec![call(at.venue, &borrow)], vec![], parties(ACCOUNT, &[&asset]));
    plan.outputs.insert("borrows".into(), told(&asset, amount));
    Ok(plan)
}

pub(super) async fn repay(builder: &mut TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    let at = position(builder, tool, args)?;
    let asset = debt_asset(builder, tool, args, &at)?;
    let stated = stated(builder, args, &asset)?.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAmount, "the call names no amount"))?;
    let owed = owed(builder, &at, &asset).await?;
    // Never more than the debt: what is allowed beyond it would stay allowed.
    let amount = stated.min(owed);
    let mut calls = vec![];
    pay_back(builder, &mut calls, &at, &asset, amount).await?;
    let mut plan = plan(builder, calls, vec![(asset.at, amount)], parties(ACCOUNT, &[&asset]));
    plan.outputs.insert("repays".into(), told(&asset, amount));
    plan.outputs.insert("still_owed".into(), told(&asset, owed - amount));
    Ok(plan)
}

async fn owed(builder: &mut TxBuilder<'_>, at: &Position, asset: &Asset) -> Result<U256, ToolError> {
    builder.read(at.venue, &Venue::borrowedCall { account: ACCOUNT, market: at.market, asset: asset.at }).await
}

async fn pay_back(builder: &mut TxBuilder<'_>, calls: &mut Vec<Call>, at: &Position, asset: &Asset, amount: U256) -> Result<(), ToolError> {
    allow(builder, calls, asset, at.venue, amount).await?;
    let repay = Venue::repayCall { market: at.market, asset: asset.at, amount };
    calls.push(Call { value: value_of(asset, amount), ..call(at.venue, &repay) });
    Ok(())
}

pub(super) fn claim(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    let at = position(builder, tool, args)?;
    let asset = own_asset(builder, tool, args, &at)?;
    let claim = Venue::claimCall { market: at.market, asset: asset.at, to: ACCOUNT };
    let mut plan = plan(builder, vec![call(at.venue, &claim)], vec![], parties(ACCOUNT, &[&asset]));
    plan.outputs.insert("claims".into(), json!({ "asset": asset.symbol }));
    Ok(plan)
}

pub(super) async fn convert(builder: &mut TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    let at = position(builder, tool, args)?;
    let missing = |side: &str| ToolError::new(ToolErrorCode::InvalidArguments, format!("the call names no asset to {side}"));
    let from = builder.asset(&args.token(TokenRole::In).or_else(|| gives(tool).map(str::to_owned)).ok_or_else(|| missing("give"))?)?;
    let into = builder.asset(&args.token(TokenRole::Out).or_else(|| takes(tool).map(str::to_owned)).ok_or_else(|| missing("take"))?)?;
    let amount = from_holding(builder, args, &from).await?;
    let expected = worth(builder, &from, amount, &into)?;
    let slippage = args.bps().unwrap_or(builder.workspace.policy.slippage_bps.default).min(10_000);
    let least = bps_of(expected, 10_000 - slippage);
    let mut calls = vec![];
    allow(builder, &mut calls, &from, at.venue, amount).await?;
    let convert =
        Venue::convertCall { market: at.market, assetIn: from.at, amountIn: amount, assetOut: into.at, minOut: least, to: ACCOUNT };
    calls.push(Call { value: value_of(&from, amount), ..call(at.venue, &convert) });
    let mut plan = plan(builder, calls, vec![(from.at, amount)], parties(ACCOUNT, &[&from, &into]));
    plan.outputs.insert("gives".into(), told(&from, amount));
    let least_told = human(least, into.decimals);
    plan.outputs.insert("takes".into(), json!({ "asset": into.symbol, "expected": human(expected, into.decimals), "least": least_told }));
    plan.trade = Some(Trade {
        chain: builder.id,
        sell: from.symbol,
        amount: amount.to_string(),
        buy: into.symbol,
        expected: expected.to_string(),
        least: least.to_string(),
        to: builder.book.party(ACCOUNT),
        deadline: builder.unix_s + super::swap::DEADLINE_S,
    });
    Ok(plan)
}

/// What an amount of one asset is in another, at the prices of the world.
fn worth(builder: &TxBuilder<'_>, from: &Asset, amount: U256, into: &Asset) -> Result<U256, ToolError> {
    let priced = |asset: &Asset| {
        let price = builder.price(&asset.symbol).filter(|price| !price.is_zero());
        price.ok_or_else(|| ToolError::new(ToolErrorCode::Unavailable, format!("{} has no price", asset.symbol)))
    };
    exchanged(amount, (priced(from)?, from.decimals), (priced(into)?, into.decimals))
        .ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAmount, format!("so much {} does not exist", from.symbol)))
}

/// Price and decimals of each side.
fn exchanged(amount: U256, from: (U256, u8), into: (U256, u8)) -> Option<U256> {
    let unit = |decimals: u8| U256::from(10).checked_pow(U256::from(decimals));
    let value = amount.checked_mul(from.0)?.checked_mul(unit(into.1)?)?;
    value.checked_div(into.0.checked_mul(unit(from.1)?)?)
}

fn bps_of(amount: U256, bps: u64) -> U256 {
    amount.saturating_mul(U256::from(bps)) / U256::from(10_000)
}

/// The account has no hook of its own: it borrows and gives back, and the calldata goes along for the record.
pub(super) fn flash(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    let at = position(builder, tool, args)?;
    let asset = own_asset(builder, tool, args, &at)?;
    if asset.is_native() {
        return Err(ToolError::new(ToolErrorCode::InvalidArguments, "a flash loan is of a token, not of the native coin"));
    }
    let amount = needed(builder, args, &asset)?;
    let text = args.first(|kind| matches!(kind, Kind::Data)).map(|(_, value)| word(value)).unwrap_or_default();
    let data = hex::decode(&text).map_err(|_| ToolError::new(ToolErrorCode::InvalidArguments, format!("{} is not hex", shown(&text))))?;
    let back = call(asset.at, &Token::approveCall { spender: at.venue, value: amount });
    let flash = call(at.venue, &Venue::flashCall { market: at.market, asset: asset.at, amount, data: data.into() });
    let mut plan = plan(builder, vec![back, flash], vec![], parties(ACCOUNT, &[&asset]));
    plan.parties.push((Part::Spender, at.venue));
    plan.outputs.insert("flash_loan".into(), told(&asset, amount));
    Ok(plan)
}

pub(super) async fn burn(builder: &mut TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    let burner = builder.contract(&tool.via, &["FeeBurner"])?;
    let uni = builder.asset("UNI")?;
    let assets =
        args.first(|kind| matches!(kind, Kind::List(inner) if matches!(**inner, Kind::Token(_)))).and_then(|(_, value)| value.as_array());
    let assets: Vec<Asset> = assets.into_iter().flatten().map(|item| builder.asset(&word(item))).collect::<Result<_, _>>()?;
    let to = args.address(AddressRole::Recipient)?.map_or(ACCOUNT, |address| address.address);
    let most = maybe_amount(builder, args, &uni)?;
    let price = builder.read(burner, &FeeBurner::burnAmountCall {}).await?;
    if most.is_some_and(|most| most < price) {
        return Err(ToolError::new(
            ToolErrorCode::InvalidAmount,
            format!("the jar opens for {} UNI, not for less", human(price, uni.decimals)),
        ));
    }
    // A nonce that somebody else has used by now must fail on chain, not be put right here.
    let nonce = match args.get("expected_nonce").and_then(Value::as_u64) {
        Some(nonce) => U256::from(nonce),
        None => builder.read(burner, &FeeBurner::nonceCall {}).await?,
    };
    let mut calls = vec![];
    allow(builder, &mut calls, &uni, burner, price).await?;
    let released = assets.iter().map(|asset| asset.at).collect();
    calls.push(call(burner, &FeeBurner::releaseCall { nonce_: nonce, assets: released, recipient: to }));
    let named: Vec<&Asset> = std::iter::once(&uni).chain(&assets).collect();
    let mut plan = plan(builder, calls, vec![(uni.at, price)], parties(to, &named));
    plan.outputs.insert("burns".into(), told(&uni, price));
    plan.outputs.insert("nonce".into(), json!(nonce.to_string()));
    plan.outputs.insert("releases".into(), json!(assets.iter().map(|asset| &asset.symbol).collect::<Vec<_>>()));
    Ok(plan)
}

/// Collateral in, and a loan against it that is worth what the exposure exceeds it by.
pub(super) async fn leverage(builder: &mut TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    let at = position(builder, tool, args)?;
    let asset = own_asset(builder, tool, args, &at)?;
    let debt = debt_asset(builder, tool, args, &at)?;
    let leverage = ratio(args, 4)?.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "the call names no leverage"))?;
    let beyond = leverage.checked_sub(U256::from(10_000)).filter(|beyond| !beyond.is_zero());
    let beyond = beyond.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "a leverage is more than 1"))?;
    let amount = from_holding(builder, args, &asset).await?;
    let loan = worth(builder, &asset, amount, &debt)?.saturating_mul(beyond) / U256::from(10_000);
    let loan = something(&debt.symbol, loan)?;
    let mut calls = vec![];
    put(builder, &mut calls, &at, tool, (&asset, amount)).await?;
    calls.push(call(at.venue, &Venue::borrowCall { market: at.market, asset: debt.at, amount: loan, to: ACCOUNT }));
    let mut plan = plan(builder, calls, vec![(asset.at, amount)], parties(ACCOUNT, &[&asset, &debt]));
    plan.outputs.insert("enters".into(), told(&asset, amount));
    plan.outputs.insert("borrows".into(), told(&debt, loan));
    Ok(plan)
}

/// A ratio with so many decimals; digits beyond them say nothing.
fn ratio(args: &Args<'_>, decimals: u8) -> Result<Option<U256>, ToolError> {
    let Some((name, value)) = args.first(|kind| matches!(kind, Kind::Ratio)) else { return Ok(None) };
    let text = word(value);
    let cut: String = match text.split_once('.') {
        Some((whole, fraction)) => format!("{whole}.{}", fraction.chars().take(usize::from(decimals)).collect::<String>()),
        None => text.clone(),
    };
    let ratio = base_units(&cut, decimals).filter(|ratio| !ratio.is_zero());
    ratio.map(Some).ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, format!("{name}: {} is no ratio", shown(&text))))
}

/// Pays back from the holding, and takes the same share of the collateral out; towards a health factor the collateral stays.
pub(super) async fn deleverage(builder: &mut TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    let at = position(builder, tool, args)?;
    let debt = debt_asset(builder, tool, args, &at)?;
    let collateral = takes(tool).or_else(|| at.assets.first().map(String::as_str));
    let collateral = main_asset(builder, collateral, args, &[TokenRole::Collateral])?;
    let owed = owed(builder, &at, &debt).await?;
    let held = builder.read(at.venue, &Venue::suppliedCall { account: ACCOUNT, market: at.market, asset: collateral.at }).await?;
    let target = ratio(args, 18)?;
    let wanted = match target {
        Some(target) => {
            let health = builder.read(at.venue, &Venue::healthFactorCall { account: ACCOUNT, market: at.market }).await?;
            towards(owed, health, target).unwrap_or_default()
        }
        None => bps_of(owed, percent_bps(args).unwrap_or(10_000)),
    };
    let pay = wanted.min(builder.holding(debt.at).await?);
    let out = match (target, owed.is_zero()) {
        (Some(_), _) => U256::ZERO,
        (None, true) => bps_of(held, percent_bps(args).unwrap_or(10_000)),
        (None, false) => held.saturating_mul(pay) / owed,
    };
    let (mut calls, mut given) = (vec![], vec![]);
    // Where there is nothing to do, the venue is the one to say so.
    if !pay.is_zero() || out.is_zero() {
        pay_back(builder, &mut calls, &at, &debt, pay).await?;
        given.push((debt.at, pay));
    }
    if !out.is_zero() {
        calls.push(call(at.venue, &Venue::exitCall { market: at.market, asset: collateral.at, amount: out, to: ACCOUNT }));
    }
    let mut plan = plan(builder, calls, given, parties(ACCOUNT, &[&debt, &collateral]));
    plan.outputs.insert("repays".into(), told(&debt, pay));
    plan.outputs.insert("takes_out".into(), told(&collateral, out));
    plan.outputs.insert("still_owed".into(), told(&debt, owed - pay));
    Ok(plan)
}

/// How much of a debt must go for the health factor to rise this far; it rises as the debt falls. `None` where it is there already.
fn towards(owed: U256, health: U256, target: U256) -> Option<U256> {
    if health >= target {
        return None;
    }
    Some(owed - owed.checked_mul(health)? / target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(whole: u64, decimals: u8) -> U256 {
        U256::from(whole) * U256::from(10).pow(U256::from(decimals))
    }

    #[test]
    fn amounts_change_hands_at_their_prices() {
        let (ether, dollar) = ((units(3_200, 8), 18), (units(1, 8), 6));
        assert_eq!(exchanged(units(2, 18), ether, dollar), Some(units(6_400, 6)));
        assert_eq!(exchanged(units(1_600, 6), dollar, ether), Some(units(5, 17)));
        assert_eq!(exchanged(U256::MAX, ether, dollar), None);
        assert_eq!(exchanged(U256::from(1), ether, (U256::ZERO, 6)), None);
    }

    #[test]
    fn a_debt_shrinks_until_the_health_factor_is_reached() {
        // From 1.2 to 2.4: half of the debt.
        assert_eq!(towards(U256::from(1_000), units(12, 17), units(24, 17)), Some(U256::from(500)));
        assert_eq!(towards(U256::from(1_000), units(2, 18), units(2, 18)), None);
        assert_eq!(towards(U256::ZERO, U256::MAX, units(2, 18)), None);
    }

    #[test]
    fn the_deposit_is_meant_and_not_the_rent() {
        for (name, main) in
            [("deposit", true), ("amount", true), ("collateral_amount", true), ("rent_per_block", false), ("size_delta", false)]
        {
            assert_eq!(is_main(name), main, "{name}");
        }
    }

    #[test]
    fn a_share_in_hundredths_of_a_percent() {
        assert_eq!(bps_of(U256::from(1_000), 2_500), U256::from(250));
        assert_eq!(bps_of(U256::from(3), 5_000), U256::from(1));
    }
}
