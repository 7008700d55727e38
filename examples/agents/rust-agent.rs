//! Trades in the minimal workspace: the same agent as in the other languages. Build it with `rustc rust-agent.rs`, beside bardo_agent.rs.
mod bardo_agent;
use bardo_agent::{call, delegate, refuse, run, say};

fn main() {
    let deal = [("token_in", "USDC".into()), ("token_out", "WETH".into()), ("amount", "250".into()), ("chain", "base".into())];
    let mut id = String::new();
    run(|news, _hello| {
        let last = news.last().expect("something is new");
        match (last.text("user"), last.text("peer.said.decision"), last.text("answer.tool")) {
            (Some(user), ..) if user.starts_with("How many") => call("wallet_get_balance", &[("token", "USDC".into()), ("chain", "base".into())]),
            (Some(_), ..) => call("swap_get_quote", &deal),
            (_, Some("approve"), _) => call("swap_execute", &[&deal[..], &[("slippage_bps", 50.0.into()), ("action_id", id.as_str().into())]].concat()),
            (_, Some(_), _) => say(r#"{"status": "rejected"}"#),
            (.., Some(_)) if last.get("answer.error").is_some() => refuse(last.text("answer.error.message").unwrap_or("an error")),
            (.., Some("swap_get_quote")) => {
                id = last.text("answer.result.action_id").expect("an action").to_owned();
                call("tx_simulate", &[("action_id", id.as_str().into())])
            }
            (.., Some("tx_simulate")) => delegate("safety-guardian", &[("action_id", id.as_str().into())]),
            _ => say(r#"{"status": "success"}"#),
        }
    });
}
