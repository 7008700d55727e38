//! `world send`: one transaction and everything it did.

use super::effects::{name, row, words};
use super::{chains, chosen, kind};
use crate::args::{Format, SendArgs};
use crate::exit::Exit;
use crate::io::Io;
use crate::report::{FORMAT, table};
use model::transcript::{Mined, TxOutcome};
use model::{UserError, Workspace};
use serde_json::json;
use world::chain::genesis::Genesis;
use world::chain::{Tx, encode, execute, mined};

pub(super) async fn send(io: &Io, workspace: &Workspace, args: &SendArgs) -> Result<Exit, UserError> {
    let world = chosen(workspace, args.world.world.as_deref())?;
    let id = *chains(workspace, world, args.world.on.as_deref())?.first().ok_or_else(|| UserError::plain("the world has no chain"))?;
    let genesis = Genesis::of(workspace, world, id)?;
    let book = &genesis.book;
    let to = encode::address(book, &args.to)?;
    let data = encode::encode(book, &args.function, &args.args)?;
    let value = args.value.parse().map_err(|_| UserError::plain(format!("\"{}\" is not an amount of wei", args.value)))?;
    let operator = world.wallet.address;
    let tx = if args.direct {
        Tx { value, ..Tx::call(operator, to, data) }
    } else {
        Tx::call(operator, world::chain::genesis::ACCOUNT, execute(to, value, data))
    };
    let mut chain = kind::open(&args.world.chain, &genesis).await?;
    let nonce = chain.nonce(operator).await?;
    let receipt = chain.send(&tx).await?;
    let mined = mined(book, &tx, nonce, &receipt);
    // A revert is the answer, and an answer is what was asked for; scripts see it by the exit code.
    let exit = if mined.outcome == TxOutcome::Success { Exit::Clean } else { Exit::Missed };
    let text = match io.format {
        Format::Json => {
            let transaction = serde_json::to_value(&mined).unwrap_or_default();
            format!("{:#}\n", json!({ "format": FORMAT, "command": "world send", "transaction": transaction, "exit": exit.code() }))
        }
        Format::Text | Format::Junit | Format::Markdown | Format::Github | Format::Sarif => as_text(io, &mined),
    };
    Ok(io.result(&text, exit))
}

fn as_text(io: &Io, mined: &Mined) -> String {
    let mut text = String::new();
    let to = mined.to.as_ref().map(name).unwrap_or_default();
    text.push_str(&format!("{} → {to}  {}\n", name(&mined.from), mined.call.as_ref().map(words).unwrap_or_default()));
    for inner in &mined.inner {
        text.push_str(&format!("  → {}  {}\n", name(&inner.to), inner.call.as_ref().map(words).unwrap_or_default()));
    }
    let outcome = match &mined.outcome {
        TxOutcome::Success => io.paint.good("success"),
        TxOutcome::Reverted { error } => io.paint.bad(&format!("reverted: {}", words(error))),
        TxOutcome::Halted => io.paint.bad("halted"),
    };
    text.push_str(&format!("{outcome}, gas {}\n", mined.gas_used));
    if !mined.effects.is_empty() {
        text.push_str(&format!("\n{}\n", table(&["effect", "who", "what", "before", "after"], mined.effects.iter().map(row).collect())));
    }
    if !mined.logs.is_empty() {
        text.push('\n');
    }
    for log in &mined.logs {
        text.push_str(&io.paint.dim(&format!(" {}: {}\n", name(&log.by), words(&log.event))));
    }
    text
}
