//! From a tool and its arguments to what would be signed. One family of deeds, one file.

mod bridge;
mod configure;
mod identity;
mod lend;
mod pool;
mod sign;
mod swap;
mod transfer;
mod vault;

pub(crate) use configure::raw_calls;

use super::args::Args;
use super::tool_error::{ToolError, shown};
use super::tx_builder::{Asset, TxBuilder};
use super::tx_plan::{Call, Part, PlanKind, TxPlan};
use crate::chain::bindings::Token;
use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use model::transcript::ToolErrorCode;
use model::{Acts, AddressRole, Deed, Kind, TokenRole, Tool};

/// What a tool does where its file says no more than the primitive.
pub(crate) fn deed(tool: &Tool) -> Deed {
    tool.via.deed.unwrap_or(match tool.acts.value {
        Acts::Read | Acts::Quote | Acts::Simulate | Acts::PassThrough => Deed::Commit,
        Acts::Transfer => Deed::Send,
        Acts::Approve => Deed::Approve,
        Acts::Permit => Deed::Sign,
        Acts::Swap => Deed::Swap,
        Acts::AddPosition => Deed::Add,
        Acts::RemovePosition => Deed::Remove,
        Acts::VaultIn => Deed::Deposit,
        Acts::VaultOut => Deed::Redeem,
        Acts::VenueIn => Deed::Enter,
        Acts::VenueOut => Deed::Exit,
        Acts::Bridge => Deed::Bridge,
        Acts::Register => Deed::Register,
        Acts::Configure => Deed::Configure,
        Acts::Remember => Deed::Remember,
    })
}

/// What the deed would come to. `tool` says how it acts, `args` may be those of a quote for it.
pub(crate) async fn build(builder: &mut TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    match deed(tool) {
        Deed::Send => transfer::send(builder, args),
        Deed::Receive => transfer::receive(builder, tool, args),
        Deed::Sweep => transfer::sweep(builder, args).await,
        Deed::Approve => transfer::approve(builder, args),
        Deed::Revoke => transfer::revoke(builder, args),
        Deed::Sign => sign::sign(builder, tool, args),
        Deed::Swap => swap::swap(builder, args).await,
        Deed::Add | Deed::Increase => pool::add(builder, args).await,
        Deed::Reposition => pool::reposition(builder, args).await,
        Deed::Remove => pool::remove(builder, args).await,
        Deed::Deposit => vault::deposit(builder, args).await,
        Deed::Redeem => vault::redeem(builder, args).await,
        Deed::Enter => lend::enter(builder, tool, args).await,
        Deed::Exit => lend::exit(builder, tool, args),
        Deed::Borrow => lend::borrow(builder, tool, args),
        Deed::Repay => lend::repay(builder, tool, args).await,
        Deed::Claim => lend::claim(builder, tool, args),
        Deed::Convert => lend::convert(builder, tool, args).await,
        Deed::Flash => lend::flash(builder, tool, args),
        Deed::Burn => lend::burn(builder, tool, args).await,
        Deed::Leverage => lend::leverage(builder, tool, args).await,
        Deed::Deleverage => lend::deleverage(builder, tool, args).await,
        Deed::Bridge => bridge::bridge(builder, tool, args).await,
        Deed::Register => identity::register(builder, tool, args),
        Deed::Feedback => identity::feedback(builder, tool, args),
        Deed::Metadata => identity::metadata(builder, tool, args),
        Deed::Validate => identity::validate(builder, tool, args),
        Deed::Configure => configure::configure(builder, tool, args),
        // Letting the agent act again is the owner's to do on chain; the agent can only ask for it.
        Deed::Halt if args.text("action").as_deref() == Some("reset") => sign::sign(builder, tool, args),
        Deed::Halt => Ok(configure::halt(builder)),
        Deed::Batch => configure::batch(builder, args).await,
        Deed::Commit => {
            Err(ToolError::new(ToolErrorCode::ActionNotPrepared, "no prepared action is named; quote, preview or dry-run one first"))
        }
        Deed::Remember => {
            let key = format!("{}:{}", *tool.name, builder.unix_s);
            let mut value = args.given().clone();
            value.retain(|name, _| !matches!(name.as_str(), "dry_run" | "action_id"));
            Ok(TxPlan::new(builder.id, PlanKind::Remember { key, value: serde_json::Value::Object(value) }))
        }
    }
}

/// The asset of a deed: a token parameter, the asset the tool always takes, or what the thing it names is made of.
fn main_asset(builder: &TxBuilder<'_>, fixed: Option<&str>, args: &Args<'_>, roles: &[TokenRole]) -> Result<Asset, ToolError> {
    if let Some(text) = roles.iter().find_map(|role| args.token(*role)).or_else(|| fixed.map(str::to_owned)).or_else(|| args.any_token()) {
        return builder.asset(&text);
    }
    named(builder, args)?.into_iter().next().ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "the call names no asset"))
}

/// The assets behind the first id or address that stands for something.
fn named(builder: &TxBuilder<'_>, args: &Args<'_>) -> Result<Vec<Asset>, ToolError> {
    let names = args.of_kind(|kind| {
        matches!(kind, Kind::Id(_))
            || matches!(kind, Kind::Address(AddressRole::Pool | AddressRole::Vault | AddressRole::Market | AddressRole::Contract))
            || matches!(kind, Kind::List(inner) if matches!(**inner, Kind::Id(_) | Kind::Address(_)))
    });
    let mut tried = None;
    for (_, _, value) in names {
        let texts = match value.as_array() {
            Some(items) => items.iter().map(super::args::word).collect(),
            None => vec![super::args::word(value)],
        };
        for text in texts {
            match builder.behind(&text) {
                Ok(assets) if !assets.is_empty() => return Ok(assets),
                Ok(_) => tried = Some(ToolError::new(ToolErrorCode::NotFound, format!("{} holds no asset", shown(&text)))),
                Err(error) => tried = Some(error),
            }
        }
    }
    Err(tried.unwrap_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "the call names nothing to act on")))
}

/// The first amount of the call in base units of an asset, which must not be nothing.
fn amount(builder: &TxBuilder<'_>, args: &Args<'_>, asset: &Asset) -> Result<U256, ToolError> {
    maybe_amount(builder, args, asset)?.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAmount, "the call names no amount"))
}

fn maybe_amount(builder: &TxBuilder<'_>, args: &Args<'_>, asset: &Asset) -> Result<Option<U256>, ToolError> {
    let Some((name, kind, value)) = first_amount(args) else { return Ok(None) };
    let amount = builder.amount(args, name, kind, value, asset)?;
    if amount.is_zero() {
        return Err(ToolError::new(ToolErrorCode::InvalidAmount, format!("{name}: nothing would move")));
    }
    Ok(Some(amount))
}

/// The first amount, also inside a list; US dollars only where there is nothing else.
fn first_amount<'a>(args: &Args<'a>) -> Option<(&'a str, &'a Kind, &'a serde_json::Value)> {
    let usd = |kind: &Kind| matches!(kind, Kind::Amount { unit: model::Unit::Usd, .. });
    let lists = args.of_kind(|kind| matches!(kind, Kind::List(inner) if matches!(**inner, Kind::Amount { .. }))).filter_map(
        |(name, kind, value)| match (kind, value) {
            (Kind::List(inner), serde_json::Value::Array(items)) => items.first().map(|item| (name, inner.as_ref(), item)),
            (_, _) => None,
        },
    );
    args.amounts().find(|(_, kind, _)| !usd(kind)).or_else(|| lists.into_iter().next())
}

/// The whole holding where everything is meant.
async fn all_of(builder: &mut TxBuilder<'_>, asset: &Asset, amount: U256) -> Result<U256, ToolError> {
    if amount == U256::MAX { builder.holding(asset.at).await } else { Ok(amount) }
}

/// Lets a contract take exactly what the next call needs, unless it may already.
async fn allow(builder: &mut TxBuilder<'_>, calls: &mut Vec<Call>, asset: &Asset, spender: Address, amount: U256) -> Result<(), ToolError> {
    if !asset.is_native() && builder.allowance(asset.at, spender).await? < amount {
        calls.push(Call { to: asset.at, value: U256::ZERO, data: Token::approveCall { spender, value: amount }.abi_encode() });
    }
    Ok(())
}

fn value_of(asset: &Asset, amount: U256) -> U256 {
    if asset.is_native() { amount } else { U256::ZERO }
}

fn plan(builder: &TxBuilder<'_>, calls: Vec<Call>, outflows: Vec<(Address, U256)>, parties: Vec<(Part, Address)>) -> TxPlan {
    TxPlan { outflows, parties, ..TxPlan::new(builder.id, PlanKind::Execute(calls)) }
}
