//! Positions: shares of pools and what lies in venues, by id or all of them.

use super::pools::{self, Share};
use super::shared::{about, asset_at, need_subject, net, owner, party, sum, worth};
use crate::chain::bindings::Venue;
use crate::chain::genesis::{MARKETS, market};
use crate::live::args::Args;
use crate::live::tool_error::{ToolError, shown};
use crate::live::tx_builder::{Asset, TxBuilder};
use alloy_primitives::{Address, B256, U256};
use model::transcript::ToolErrorCode;
use model::{Kind, OpTarget, Role, Thing};
use serde_json::{Map, Value, json};

/// An account's balances in one market of a venue.
pub(super) struct Stand {
    venue: Address,
    market: B256,
    pub supplied: Vec<(Asset, U256)>,
    pub borrowed: Vec<(Asset, U256)>,
    pub claimable: Vec<(Asset, U256)>,
}

impl Stand {
    fn new(venue: Address, market: B256) -> Self {
        Self { venue, market, supplied: vec![], borrowed: vec![], claimable: vec![] }
    }

    fn is_empty(&self) -> bool {
        self.supplied.is_empty() && self.borrowed.is_empty() && self.claimable.is_empty()
    }

    pub(super) fn tell(&self, builder: &TxBuilder<'_>) -> Map<String, Value> {
        let sums = |amounts: &[(Asset, U256)]| amounts.iter().map(|(asset, amount)| sum(builder, asset, *amount)).collect::<Value>();
        Map::from_iter([
            ("venue".to_owned(), party(builder, self.venue)),
            ("market".to_owned(), json!(market_name(self.market))),
            ("supplied".to_owned(), sums(&self.supplied)),
            ("borrowed".to_owned(), sums(&self.borrowed)),
            ("claimable".to_owned(), sums(&self.claimable)),
            ("value_usd".to_owned(), json!(net(worth(builder, &self.supplied), worth(builder, &self.borrowed)))),
        ])
    }
}

fn market_name(hash: B256) -> String {
    MARKETS.iter().find(|name| market(name) == hash).map_or_else(|| hash.to_string(), |name| (*name).to_owned())
}

/// One position by its id.
pub(super) async fn position(builder: &mut TxBuilder<'_>, args: &Args<'_>) -> Result<Map<String, Value>, ToolError> {
    let text = need_subject(args, "position")?;
    let who = owner(builder, args)?;
    let missing = || ToolError::new(ToolErrorCode::NotFound, format!("{} is no position on chain {}", shown(&text), builder.id));
    let thing = find(builder, args, &text).ok_or_else(missing)?;
    let mut answer = about(builder);
    answer.insert("id".into(), json!(*thing.id));
    answer.insert("is".into(), json!(thing.is));
    answer.insert("account".into(), json!(who.to_checksum(None)));
    let told = match thing.role {
        Some(role) => in_venue(builder, thing, role, who).await?.tell(builder),
        None => in_pool(builder, thing, who).await?,
    };
    answer.extend(told);
    Ok(answer)
}

/// The thing of this id that can be held; of several the one the parameter asks for.
fn find<'d>(builder: &TxBuilder<'d>, args: &Args<'_>, text: &str) -> Option<&'d Thing> {
    let things =
        builder.things.iter().filter(|thing| thing.chain == builder.id && thing.id.eq_ignore_ascii_case(text) && can_be_held(thing));
    let asked = |thing: &&Thing| args.of_kind(|kind| matches!(kind, Kind::Id(word) if word.word() == thing.is)).next().is_some();
    things.clone().find(asked).or_else(|| things.clone().next())
}

fn can_be_held(thing: &Thing) -> bool {
    match thing.role {
        Some(_) => !thing.assets.is_empty(),
        None => thing.assets.len() == 2 && matches!(thing.is.as_str(), "position" | "pool"),
    }
}

async fn in_venue(builder: &mut TxBuilder<'_>, thing: &Thing, role: Role, who: Address) -> Result<Stand, ToolError> {
    let (venue, market) = place(builder, thing, role)?;
    let mut stand = Stand::new(venue, market);
    let (Some(first), Some(last)) = (thing.assets.first(), thing.assets.last()) else { return Ok(stand) };
    let (first, last) = (builder.asset(first)?, builder.asset(last)?);
    let supplied = builder.read(venue, &Venue::suppliedCall { account: who, market, asset: first.at }).await?;
    let borrowed = builder.read(venue, &Venue::borrowedCall { account: who, market, asset: last.at }).await?;
    let claimable = builder.read(venue, &Venue::claimableCall { account: who, market, asset: first.at }).await?;
    stand.supplied.push((first.clone(), supplied));
    stand.borrowed.push((last, borrowed));
    stand.claimable.push((first, claimable));
    Ok(stand)
}

fn place(builder: &TxBuilder<'_>, thing: &Thing, role: Role) -> Result<(Address, B256), ToolError> {
    let via = OpTarget { role: Some(role), contract: thing.contract.clone(), ..OpTarget::default() };
    Ok((builder.contract(&via, &["Venue"])?, market(thing.market.as_deref().unwrap_or("lend"))))
}

async fn in_pool(builder: &mut TxBuilder<'_>, thing: &Thing, who: Address) -> Result<Map<String, Value>, ToolError> {
    let [a, b] = thing.assets.as_slice() else { return Ok(Map::new()) };
    let (a, b) = (builder.asset(a)?, builder.asset(b)?);
    let earned = earned(builder, thing, &a, who).await?;
    let mut told = pools::share(builder, a, b, who).await?.tell(builder);
    if let Some(earned) = earned {
        told.insert("claimable".into(), earned);
    }
    Ok(told)
}

/// Returns the fees of a pool share, which wait at the position manager.
async fn earned(builder: &mut TxBuilder<'_>, thing: &Thing, first: &Asset, who: Address) -> Result<Option<Value>, ToolError> {
    if thing.claimable.is_none() {
        return Ok(None);
    }
    let (venue, _) = place(builder, thing, Role::PositionManager)?;
    let claimable = builder.read(venue, &Venue::claimableCall { account: who, market: market("gauge"), asset: first.at }).await?;
    Ok(Some(json!([sum(builder, first, claimable)])))
}

pub(super) async fn positions(builder: &mut TxBuilder<'_>, args: &Args<'_>) -> Result<Map<String, Value>, ToolError> {
    let who = owner(builder, args)?;
    let shares = pools::shares(builder, who).await?;
    let stands = stands(builder, who).await?;
    let mut answer = about(builder);
    answer.insert("account".into(), json!(who.to_checksum(None)));
    answer.insert(
        "positions".into(),
        shares.iter().map(|share| tell_share(builder, share)).chain(stands.iter().map(|stand| tell_stand(builder, stand))).collect(),
    );
    Ok(answer)
}

/// Everything an account has in the venues of a chain, market by market.
pub(super) async fn stands(builder: &mut TxBuilder<'_>, who: Address) -> Result<Vec<Stand>, ToolError> {
    let venues = builder.book.entries().filter(|(_, entry)| entry.contract == Some("Venue")).map(|(at, _)| at);
    let mut found: Vec<Stand> = vec![];
    for venue in venues.collect::<Vec<_>>() {
        let from = found.len();
        for key in builder.read(venue, &Venue::holdingsCall { account: who }).await? {
            let claimable = builder.read(venue, &Venue::claimableCall { account: who, market: key.market, asset: key.asset }).await?;
            let at = match found.iter().skip(from).position(|stand| stand.market == key.market) {
                Some(at) => from + at,
                None => {
                    found.push(Stand::new(venue, key.market));
                    found.len() - 1
                }
            };
            let (asset, stand) = (asset_at(builder, key.asset), &mut found[at]);
            let lists = [(&mut stand.supplied, key.supplied), (&mut stand.borrowed, key.borrowed), (&mut stand.claimable, claimable)];
            for (list, amount) in lists {
                if !amount.is_zero() {
                    list.push((asset.clone(), amount));
                }
            }
        }
    }
    found.retain(|stand| !stand.is_empty());
    Ok(found)
}

/// With the ids by which tools know it; several may share what the chain keeps as one.
pub(super) fn tell_stand(builder: &TxBuilder<'_>, stand: &Stand) -> Value {
    let is_here = |thing: &&Thing| {
        let here = thing.role.and_then(|role| place(builder, thing, role).ok());
        here == Some((stand.venue, stand.market)) && thing.assets.iter().any(|symbol| stand.counts(symbol))
    };
    with_ids(builder, stand.tell(builder), is_here)
}

pub(super) fn tell_share(builder: &TxBuilder<'_>, share: &Share) -> Value {
    let is_here = |thing: &&Thing| {
        let [a, b] = thing.assets.as_slice() else { return false };
        let pair = || builder.pair(&builder.asset(a).ok()?, &builder.asset(b).ok()?).ok();
        thing.role.is_none() && (thing.is == "position" || thing.holds.is_some()) && pair() == Some(share.pool)
    };
    with_ids(builder, share.tell(builder), is_here)
}

impl Stand {
    fn counts(&self, symbol: &str) -> bool {
        [&self.supplied, &self.borrowed, &self.claimable].into_iter().flatten().any(|(asset, _)| asset.symbol.eq_ignore_ascii_case(symbol))
    }
}

fn with_ids(builder: &TxBuilder<'_>, mut told: Map<String, Value>, is_here: impl Fn(&&Thing) -> bool) -> Value {
    let things = builder.things.iter().filter(|thing| thing.chain == builder.id && can_be_held(thing)).filter(is_here);
    told.insert("ids".into(), things.map(|thing| json!(*thing.id)).collect());
    Value::Object(told)
}
