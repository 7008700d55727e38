//! Position views: pool shares and venue positions, by id or all of an account.

use super::pools::{self, PoolShare};
use super::shared::{amount_json, asset_at, chain_facts, net_usd, owner, party, require_id, total_usd8};
use crate::chain::bindings::Venue;
use crate::chain::genesis::{MARKETS, market_id};
use crate::live::args::ToolArgs;
use crate::live::tool_error::{ToolError, quote_value};
use crate::live::tx_builder::{AssetInfo, TxBuilder};
use alloy_primitives::{Address, B256, U256};
use model::transcript::ToolErrorCode;
use model::{OpTarget, ParamKind, Role, WorldObject};
use serde_json::{Map, Value, json};

/// An account's balances in one market of a venue.
pub(super) struct MarketPosition {
    venue: Address,
    market: B256,
    pub supplied: Vec<(AssetInfo, U256)>,
    pub borrowed: Vec<(AssetInfo, U256)>,
    pub claimable: Vec<(AssetInfo, U256)>,
}

impl MarketPosition {
    fn new(venue: Address, market: B256) -> Self {
        Self { venue, market, supplied: vec![], borrowed: vec![], claimable: vec![] }
    }

    fn is_empty(&self) -> bool {
        self.supplied.is_empty() && self.borrowed.is_empty() && self.claimable.is_empty()
    }

    pub(super) fn to_json(&self, builder: &TxBuilder<'_>) -> Map<String, Value> {
        let sums =
            |amounts: &[(AssetInfo, U256)]| amounts.iter().map(|(asset, amount)| amount_json(builder, asset, *amount)).collect::<Value>();
        Map::from_iter([
            ("venue".to_owned(), party(builder, self.venue)),
            ("market".to_owned(), json!(market_name(self.market))),
            ("supplied".to_owned(), sums(&self.supplied)),
            ("borrowed".to_owned(), sums(&self.borrowed)),
            ("claimable".to_owned(), sums(&self.claimable)),
            ("value_usd".to_owned(), json!(net_usd(total_usd8(builder, &self.supplied), total_usd8(builder, &self.borrowed)))),
        ])
    }
}

fn market_name(hash: B256) -> String {
    MARKETS.iter().find(|name| market_id(name) == hash).map_or_else(|| hash.to_string(), |name| (*name).to_owned())
}

/// Returns one position by its id.
pub(super) async fn position(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<Map<String, Value>, ToolError> {
    let text = require_id(args, "position")?;
    let who = owner(builder, args)?;
    let missing = || ToolError::new(ToolErrorCode::NotFound, format!("{} is not a position on chain {}", quote_value(&text), builder.id));
    let thing = find_position(builder, args, &text).ok_or_else(missing)?;
    let mut answer = chain_facts(builder);
    answer.insert("id".into(), json!(*thing.id));
    answer.insert("is".into(), json!(thing.is));
    answer.insert("account".into(), json!(who.to_checksum(None)));
    let details = match thing.role {
        Some(role) => venue_position(builder, thing, role, who).await?.to_json(builder),
        None => pool_position(builder, thing, who).await?,
    };
    answer.extend(details);
    Ok(answer)
}

/// Returns the object with this id that can be held, preferably of the kind that the id parameter names.
fn find_position<'d>(builder: &TxBuilder<'d>, args: &ToolArgs<'_>, text: &str) -> Option<&'d WorldObject> {
    let things =
        builder.things.iter().filter(|thing| thing.chain == builder.id && thing.id.eq_ignore_ascii_case(text) && can_be_held(thing));
    let asked = |thing: &&WorldObject| args.of_kind(|kind| matches!(kind, ParamKind::Id(word) if word.word() == thing.is)).next().is_some();
    things.clone().find(asked).or_else(|| things.clone().next())
}

fn can_be_held(thing: &WorldObject) -> bool {
    match thing.role {
        Some(_) => !thing.assets.is_empty(),
        None => thing.assets.len() == 2 && matches!(thing.is.as_str(), "position" | "pool"),
    }
}

async fn venue_position(builder: &mut TxBuilder<'_>, thing: &WorldObject, role: Role, who: Address) -> Result<MarketPosition, ToolError> {
    let (venue, market) = venue_and_market(builder, thing, role)?;
    let mut position = MarketPosition::new(venue, market);
    let (Some(first), Some(last)) = (thing.assets.first(), thing.assets.last()) else { return Ok(position) };
    let (first, last) = (builder.asset(first)?, builder.asset(last)?);
    let supplied = builder.read(venue, &Venue::suppliedCall { account: who, market, asset: first.at }).await?;
    let borrowed = builder.read(venue, &Venue::borrowedCall { account: who, market, asset: last.at }).await?;
    let claimable = builder.read(venue, &Venue::claimableCall { account: who, market, asset: first.at }).await?;
    position.supplied.push((first.clone(), supplied));
    position.borrowed.push((last, borrowed));
    position.claimable.push((first, claimable));
    Ok(position)
}

fn venue_and_market(builder: &TxBuilder<'_>, thing: &WorldObject, role: Role) -> Result<(Address, B256), ToolError> {
    let via = OpTarget { role: Some(role), contract: thing.contract.clone(), ..OpTarget::default() };
    Ok((builder.contract(&via, &["Venue"])?, market_id(thing.market.as_deref().unwrap_or("lend"))))
}

async fn pool_position(builder: &mut TxBuilder<'_>, thing: &WorldObject, who: Address) -> Result<Map<String, Value>, ToolError> {
    let [a, b] = thing.assets.as_slice() else { return Ok(Map::new()) };
    let (a, b) = (builder.asset(a)?, builder.asset(b)?);
    let earned = pool_fees(builder, thing, &a, who).await?;
    let mut details = pools::share(builder, a, b, who).await?.to_json(builder);
    if let Some(earned) = earned {
        details.insert("claimable".into(), earned);
    }
    Ok(details)
}

/// Returns the unclaimed fees of a pool position, held by the position manager.
async fn pool_fees(builder: &mut TxBuilder<'_>, thing: &WorldObject, first: &AssetInfo, who: Address) -> Result<Option<Value>, ToolError> {
    if thing.claimable.is_none() {
        return Ok(None);
    }
    let (venue, _) = venue_and_market(builder, thing, Role::PositionManager)?;
    let claimable = builder.read(venue, &Venue::claimableCall { account: who, market: market_id("gauge"), asset: first.at }).await?;
    Ok(Some(json!([amount_json(builder, first, claimable)])))
}

pub(super) async fn positions(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<Map<String, Value>, ToolError> {
    let who = owner(builder, args)?;
    let shares = pools::shares(builder, who).await?;
    let markets = market_positions(builder, who).await?;
    let mut answer = chain_facts(builder);
    answer.insert("account".into(), json!(who.to_checksum(None)));
    answer.insert(
        "positions".into(),
        shares
            .iter()
            .map(|share| pool_share_json(builder, share))
            .chain(markets.iter().map(|position| market_position_json(builder, position)))
            .collect(),
    );
    Ok(answer)
}

/// Returns the venue positions of an account, one per market.
pub(super) async fn market_positions(builder: &mut TxBuilder<'_>, who: Address) -> Result<Vec<MarketPosition>, ToolError> {
    let venues = builder.book.entries().filter(|(_, entry)| entry.contract == Some("Venue")).map(|(at, _)| at);
    let mut found: Vec<MarketPosition> = vec![];
    for venue in venues.collect::<Vec<_>>() {
        let from = found.len();
        for key in builder.read(venue, &Venue::holdingsCall { account: who }).await? {
            let claimable = builder.read(venue, &Venue::claimableCall { account: who, market: key.market, asset: key.asset }).await?;
            let at = match found.iter().skip(from).position(|position| position.market == key.market) {
                Some(at) => from + at,
                None => {
                    found.push(MarketPosition::new(venue, key.market));
                    found.len() - 1
                }
            };
            let (asset, position) = (asset_at(builder, key.asset), &mut found[at]);
            let lists =
                [(&mut position.supplied, key.supplied), (&mut position.borrowed, key.borrowed), (&mut position.claimable, claimable)];
            for (list, amount) in lists {
                if !amount.is_zero() {
                    list.push((asset.clone(), amount));
                }
            }
        }
    }
    found.retain(|position| !position.is_empty());
    Ok(found)
}

/// Returns a venue position with its ids. Several ids may share one on-chain position.
pub(super) fn market_position_json(builder: &TxBuilder<'_>, position: &MarketPosition) -> Value {
    let is_here = |thing: &&WorldObject| {
        let here = thing.role.and_then(|role| venue_and_market(builder, thing, role).ok());
        here == Some((position.venue, position.market)) && thing.assets.iter().any(|symbol| position.has_asset(symbol))
    };
    with_ids(builder, position.to_json(builder), is_here)
}

pub(super) fn pool_share_json(builder: &TxBuilder<'_>, share: &PoolShare) -> Value {
    let is_here = |thing: &&WorldObject| {
        let [a, b] = thing.assets.as_slice() else { return false };
        let pair = || builder.pair(&builder.asset(a).ok()?, &builder.asset(b).ok()?).ok();
        thing.role.is_none() && (thing.is == "position" || thing.holds.is_some()) && pair() == Some(share.pool)
    };
    with_ids(builder, share.to_json(builder), is_here)
}

impl MarketPosition {
    fn has_asset(&self, symbol: &str) -> bool {
        [&self.supplied, &self.borrowed, &self.claimable].into_iter().flatten().any(|(asset, _)| asset.symbol.eq_ignore_ascii_case(symbol))
    }
}

fn with_ids(builder: &TxBuilder<'_>, mut details: Map<String, Value>, is_here: impl Fn(&&WorldObject) -> bool) -> Value {
    let things = builder.things.iter().filter(|thing| thing.chain == builder.id && can_be_held(thing)).filter(is_here);
    details.insert("ids".into(), things.map(|thing| json!(*thing.id)).collect());
    Value::Object(details)
}
