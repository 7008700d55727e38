//! Worlds: `world show`, `send`, `call` and `chat`.

use super::{compare, shown, snapshot};
use crate::harness::TestFolder;

#[test]
fn world_show() {
    let folder = TestFolder::with_minimal();
    snapshot("world_show_text", &folder, &["world", "show"]);
    snapshot("world_show_json", &folder, &["world", "show", "--format", "json"]);
}

#[test]
fn world_send() {
    let folder = TestFolder::with_minimal();
    let to = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    snapshot("world_send_text", &folder, &["world", "send", "USDC", "transfer(address,uint256)", to, "250000000"]);
    snapshot("world_send_json", &folder, &["world", "send", "--format", "json", "USDC", "transfer(address,uint256)", to, "250000000"]);
    snapshot("world_send_reverted", &folder, &["world", "send", "USDC", "transfer(address,uint256)", to, "max"]);
    snapshot("world_send_refused", &folder, &["world", "send", "USDD", "transfer(address,uint256)", to, "1"]);
}

#[test]
fn world_call() {
    let folder = TestFolder::with_minimal();
    let swap = ["token_in=USDC", "token_out=WETH", "amount=\"250\"", "chain=base"];
    snapshot("world_call_read", &folder, &["world", "call", "wallet_get_balance", "token=USDC", "chain=base"]);
    snapshot("world_call_write", &folder, &[&["world", "call", "swap_execute"], &swap[..]].concat());
    snapshot("world_call_json", &folder, &[&["world", "call", "--format", "json", "swap_execute"], &swap[..]].concat());
    snapshot("world_call_enforced", &folder, &[&["world", "call", "--defence", "enforce", "swap_execute"], &swap[..]].concat());
    snapshot("world_call_error", &folder, &["world", "call", "wallet_get_balance", "token=NOPE", "chain=base"]);
    snapshot("world_call_unknown", &folder, &["world", "call", "wallet_get_balanc"]);
}

#[test]
fn chat_with_the_reference() {
    let folder = TestFolder::with_minimal();
    let args = ["chat", "--case", "sell_usdc_for_ether", "--subject", "reference", "--no-store"];
    let ran = folder.run_with(&args, "Sell 250 USDC for wrapped ether on Base, no more than half a percent slippage.\n");
    compare("chat_text", &args.join(" "), &shown(&folder, &ran));
}
