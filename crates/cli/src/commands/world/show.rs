//! `world show`: accounts, balances, allowances, positions and limits.

use super::{chain_ids, chain_kind, find_world};
use crate::args::{ReportFormat, WorldArgs};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{FORMAT, table};
use model::{UserError, Workspace, format_units};
use serde_json::{Value, json};
use world::chain::genesis::Genesis;
use world::chain::{AccountOverview, account_overview};

pub(super) async fn show(io: &CliOutput, workspace: &Workspace, args: &WorldArgs) -> Result<ExitKind, UserError> {
    let world = find_world(workspace, args.world.as_deref())?;
    let mut overviews = vec![];
    for id in chain_ids(workspace, world, args.on.as_deref())? {
        let genesis = Genesis::from_world(workspace, world, id)?;
        let mut chain = chain_kind::open_chain(&args.chain, &genesis).await?;
        overviews.push(account_overview(chain.as_mut(), &genesis.book).await?);
    }
    let text = match io.format {
        ReportFormat::Json => {
            let chains: Vec<Value> = overviews.iter().map(as_json).collect();
            format!("{:#}\n", json!({ "format": FORMAT, "command": "world show", "world": world.name.value, "chains": chains, "exit": 0 }))
        }
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            let parts: Vec<String> = overviews.iter().map(|overview| as_text(io, workspace, overview)).collect();
            format!("{}  {}\n\n{}", io.paint.strong(&world.name), world.about, parts.join("\n"))
        }
    };
    Ok(io.print_result(&text, ExitKind::Clean))
}

fn as_text(io: &CliOutput, workspace: &Workspace, overview: &AccountOverview) -> String {
    let name = workspace.chain(&overview.chain.to_string()).map(|chain| chain.name.clone()).unwrap_or_default();
    let mut text = format!("{}\n", io.paint.strong(&format!("{name} ({})", overview.chain)));
    for account in &overview.accounts {
        text.push_str(&format!(" {:<9} {}\n", account.name.as_deref().unwrap_or(""), account.address));
    }
    let rows = overview
        .balances
        .iter()
        .map(|one| vec![name_or_empty(&one.holder.name), one.asset.clone(), format_units(one.amount, one.decimals)]);
    text.push_str(&format!("\n{}\n", table(&["holder", "asset", "amount"], rows.collect())));
    if !overview.allowances.is_empty() {
        let rows = overview
            .allowances
            .iter()
            .map(|one| vec![name_or_empty(&one.owner.name), name_or_empty(&one.spender.name), one.asset.clone(), one.amount.to_string()]);
        text.push_str(&format!("\n{}\n", table(&["owner", "spender", "asset", "base units"], rows.collect())));
    }
    if !overview.positions.is_empty() {
        let row = |one: &world::chain::VenuePosition| {
            vec![
                name_or_empty(&one.venue.name),
                one.market.to_owned(),
                one.asset.clone(),
                one.supplied.to_string(),
                one.borrowed.to_string(),
            ]
        };
        text.push_str(&format!(
            "\n{}\n",
            table(&["venue", "market", "asset", "supplied", "borrowed"], overview.positions.iter().map(row).collect())
        ));
    }
    let Some(limits) = &overview.limits else {
        text.push_str("\nThe limits of an own policy contract cannot be read.\n");
        return text;
    };
    let dollars = |usd8: String| format_units(usd8, 8);
    let rows = vec![
        vec!["per transaction".into(), dollars(limits.per_transaction.to_string()), String::new()],
        vec!["per session".into(), dollars(limits.per_session.to_string()), dollars(limits.spent_session.to_string())],
        vec!["per day".into(), dollars(limits.per_day.to_string()), dollars(limits.spent_day.to_string())],
        vec!["net asset value".into(), dollars(limits.nav.to_string()), String::new()],
        vec!["writes per hour".into(), limits.writes_per_hour.to_string(), String::new()],
        vec!["halted".into(), limits.halted.to_string(), String::new()],
    ];
    text.push_str(&format!("\n{}\n", table(&["limit", "USD", "spent"], rows)));
    text
}

fn name_or_empty(name: &Option<String>) -> String {
    name.clone().unwrap_or_default()
}

fn as_json(overview: &AccountOverview) -> Value {
    let balances: Vec<Value> = overview
        .balances
        .iter()
        .map(|one| json!({ "holder": one.holder, "asset": one.asset, "decimals": one.decimals, "amount": one.amount.to_string() }))
        .collect();
    let allowances: Vec<Value> = overview
        .allowances
        .iter()
        .map(|one| json!({ "owner": one.owner, "spender": one.spender, "asset": one.asset, "amount": one.amount.to_string() }))
        .collect();
    let positions: Vec<Value> = overview
        .positions
        .iter()
        .map(|one| {
            json!({ "venue": one.venue, "market": one.market, "asset": one.asset,
                "supplied": one.supplied.to_string(), "borrowed": one.borrowed.to_string() })
        })
        .collect();
    let limits = overview.limits.as_ref().map(|limits| {
        json!({
            "per_transaction": limits.per_transaction.to_string(), "per_session": limits.per_session.to_string(),
            "per_day": limits.per_day.to_string(), "spent_session": limits.spent_session.to_string(), "spent_day": limits.spent_day.to_string(),
            "nav": limits.nav.to_string(),
        })
    });
    // Null with an own policy contract, whose limits cannot be read.
    json!({
        "chain": overview.chain, "accounts": overview.accounts, "balances": balances, "allowances": allowances, "positions": positions,
        "limits_usd8": limits, "writes_per_hour": overview.limits.as_ref().map(|limits| limits.writes_per_hour),
        "halted": overview.limits.as_ref().map(|limits| limits.halted),
    })
}
