//! `world send`: sends one transaction and shows its effects.

use super::effects::{decoded_text, effect_row, party_name};
use super::{chain_ids, chain_kind, find_world};
use crate::args::{ReportFormat, SendArgs};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{FORMAT, table};
use model::transcript::{MinedTransaction, TxOutcome};
use model::{UserError, Workspace};
use serde_json::json;
use world::chain::genesis::Genesis;
use world::chain::{Tx, decode_mined, encode, execute};

pub(super) async fn send(io: &CliOutput, workspace: &Workspace, args: &SendArgs) -> Result<ExitKind, UserError> {
    let world = find_world(workspace, args.world.world.as_deref())?;
    let id = *chain_ids(workspace, world, args.world.on.as_deref())?
        .first()
        .ok_or_else(|| UserError::without_remedy("the world has no chain"))?;
    let genesis = Genesis::from_world(workspace, world, id)?;
    let book = &genesis.book;
    let to = encode::parse_address(book, &args.to)?;
    let data = encode::encode(book, &args.function, &args.args)?;
    let value = args.value.parse().map_err(|_| UserError::without_remedy(format!("\"{}\" is not an amount of wei", args.value)))?;
    let wallet = world.wallet.as_ref().ok_or_else(|| UserError::without_remedy("the world has no wallet"))?;
    let operator = wallet.address;
    let tx = if args.direct {
        Tx { value, ..Tx::call(operator, to, data) }
    } else {
        Tx::call(operator, world::chain::genesis::ACCOUNT, execute(to, value, data))
    };
    let mut chain = chain_kind::open_chain(&args.world.chain, &genesis).await?;
    let nonce = chain.nonce(operator).await?;
    let receipt = chain.send(&tx).await?;
    let mined = decode_mined(book, &tx, nonce, &receipt);
    // A revert is a result, not an error; scripts see it by the exit code.
    let exit = if mined.outcome == TxOutcome::Success { ExitKind::Clean } else { ExitKind::Missed };
    let text = match io.format {
        ReportFormat::Json => {
            let transaction = serde_json::to_value(&mined).unwrap_or_default();
            format!("{:#}\n", json!({ "format": FORMAT, "command": "world send", "transaction": transaction, "exit": exit.code() }))
        }
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            as_text(io, &mined)
        }
    };
    Ok(io.print_result(&text, exit))
}

fn as_text(io: &CliOutput, mined: &MinedTransaction) -> String {
    let mut text = String::new();
    let to = mined.to.as_ref().map(party_name).unwrap_or_default();
    text.push_str(&format!("{} → {to}  {}\n", party_name(&mined.from), mined.call.as_ref().map(decoded_text).unwrap_or_default()));
    for inner in &mined.inner {
        text.push_str(&format!("  → {}  {}\n", party_name(&inner.to), inner.call.as_ref().map(decoded_text).unwrap_or_default()));
    }
    let outcome = match &mined.outcome {
        TxOutcome::Success => io.paint.good("success"),
        TxOutcome::Reverted { error } => io.paint.bad(&format!("reverted: {}", decoded_text(error))),
        TxOutcome::Halted => io.paint.bad("halted"),
    };
    text.push_str(&format!("{outcome}, gas {}\n", mined.gas_used));
    if !mined.effects.is_empty() {
        text.push_str(&format!(
            "\n{}\n",
            table(&["effect", "who", "what", "before", "after"], mined.effects.iter().map(effect_row).collect())
        ));
    }
    if !mined.logs.is_empty() {
        text.push('\n');
    }
    for log in &mined.logs {
        text.push_str(&io.paint.dim(&format!(" {}: {}\n", party_name(&log.by), decoded_text(&log.event))));
    }
    text
}
