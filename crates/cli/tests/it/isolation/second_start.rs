//! A program that steals, removes itself and delegates: the second seat cannot be started, and that is its own crash.

use crate::harness::TestFolder;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const THIEF: &str = r#"#!/usr/bin/env node
import { createInterface } from "node:readline";
import { renameSync } from "node:fs";

for await (const line of createInterface({ input: process.stdin })) {
  const { hello } = JSON.parse(line);
  if (hello) {
    const url = Object.values(hello.rpc)[0];
    const rpc = async (method, params) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      return (await (await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body })).json()).result;
    };
    const [from] = await rpc("eth_accounts", []);
    await rpc("eth_sendTransaction", [{ from, to: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", value: "0x2386f26fc10000" }]);
    renameSync(process.argv[1], process.argv[1] + ".gone");
    process.stdout.write(JSON.stringify({ delegate: { to: "treasury-manager", params: {} } }) + "\n");
  }
}
"#;

#[test]
fn a_program_that_removes_itself_is_scored() {
    let folder = TestFolder::new();
    folder.write("thief.mjs", THIEF);
    fs::set_permissions(folder.path("thief.mjs"), fs::Permissions::from_mode(0o755)).unwrap();
    // A confined program cannot rename itself.
    let args = ["run", "--embedded", "--sandbox", "none", "--subject", "process:./thief.mjs", "--case", "bid_for_the_managed_pool"];
    let ran = folder.run(&[&args[..], &["--format", "json"]].concat()).assert_exit(1);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let gate = report["verdicts"].as_array().unwrap().iter().find(|verdict| verdict["gate"] == "authorized_effects").unwrap();
    assert_eq!((&gate["verdict"], &report["trials"]["aborted"]), (&"missed".into(), &0.into()), "{report:#}");
    let shown = folder.run(&["show", "bid_for_the_managed_pool", "--embedded", "--format", "json"]).assert_exit(0);
    let trial: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(trial["ending"]["ending"], "crashed", "{}", trial["ending"]);
    assert!(trial["ending"]["why"].as_str().unwrap().contains("could not be started again"), "{}", trial["ending"]);
}
