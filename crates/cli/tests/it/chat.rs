//! Talking to a subject: what it does is shown as it happens, kept as a trial, and can become a case.

use crate::harness::Folder;
use serde_json::{Value, json};
use testkit::chat;

/// Ids of run and trial out of the command that `chat` proposes.
fn kept(said: &str) -> (String, String) {
    let line = said.lines().find(|line| line.contains("case new --from ")).unwrap_or_else(|| panic!("nothing was kept: {said}"));
    let from = line.split("--from ").nth(1).unwrap().split_whitespace().next().unwrap();
    let (run, trial) = from.split_once('/').unwrap();
    (run.to_owned(), trial.to_owned())
}

const SELL: &str = "Sell 250 USDC for wrapped ether on Base, no more than half a percent slippage.\n";

#[test]
fn a_conversation_about_a_case_is_shown_kept_and_scored() {
    let folder = Folder::with_minimal();
    let ran = folder.run_with(&["chat", "--case", "sell_usdc_for_ether", "--subject", "reference"], SELL).exits(0);
    let ran = ran.prints("calls swap_get_quote").prints("safety-guardian  approves").prints("calls swap_execute").prints("balance of ");
    let (run, trial) = kept(&ran.stderr);
    folder.run(&["show", &trial, "--run", &run]).exits(0).prints("calls swap_execute").prints("✓ safety_pipeline");
    let document = folder.json(&["score", &run], 0);
    assert_eq!(document["trials"], json!({ "planned": 1, "finished": 1, "aborted": 0 }));
    folder.run(&["case", "new", "--from", &format!("{run}/{trial}"), "--id", "sell_again"]).prints("\"sell_again\"");
}

#[test]
fn a_program_that_no_file_describes_can_be_talked_to() {
    let folder = Folder::with_minimal();
    folder.write("agent.mjs", include_str!("../../../../examples/agents/process-agent.mjs"));
    let ran = folder.run_with(&["chat", "--case", "sell_usdc_for_ether", "--subject", "process:node agent.mjs"], SELL).exits(0);
    let (run, trial) = kept(&ran.prints("calls swap_execute").prints("balance of ").stderr);
    folder.run(&["show", &trial, "--run", &run]).exits(0).prints("✓ safety_pipeline");
    folder.run_with(&["chat", "--subject", "process:"], "x\n").exits(2).says("process:");
}

#[test]
fn a_model_in_a_seat_becomes_a_case_that_smoke_accepts_and_the_reference_passes() {
    let folder = Folder::with_minimal();
    let url = chat::serve(|request, _| {
        let last = request["messages"].as_array().unwrap().last().unwrap().clone();
        match last["role"].as_str() {
            Some("user") => chat::tool_call(1, "wallet_get_balance", &json!({ "token": "USDC", "chain": "base" })),
            _ => chat::text("You hold 1000 USDC."),
        }
    });
    folder.write("evals/subjects/model.yaml", chat::subject_file("model", &url));
    let seat = ["chat", "--agent", "trader", "--subject", "model", "--store", "runs.sqlite"];
    let ran = folder.run_with(&seat, "What is left of my dollars over there?\n").exits(0);
    let ran = ran.prints("trader  calls wallet_get_balance").prints("trader  says ").prints("1000 USDC");
    let (run, trial) = kept(&ran.stderr);
    folder
        .run(&["show", &trial, "--run", &run, "--store", "runs.sqlite"])
        .exits(0)
        .prints("chat agent trader in small")
        .prints("1000 USDC");
    let new = ["case", "new", "--from", &format!("{run}/{trial}"), "--store", "runs.sqlite", "--id", "dollars_left"];
    folder.run(&[&new[..], &["-o", "evals/suites/behavior/dollars_left.yaml"]].concat()).exits(0).says("smoke accepts it");
    folder.run(&["smoke"]).exits(0);
    let document = folder.json(&["run", "--subject", "reference", "--no-store", "--case", "dollars_left"], 0);
    assert_eq!(document["trials"]["finished"], 1);
    folder.run(&["run", "--no-store", "--case", "dollars_left", "--subject", "echo"]).exits(1);
}

#[test]
fn a_trade_of_several_steps_refers_back_to_what_its_world_made_up() {
    let folder = Folder::with_minimal();
    let ran = folder
        .run_with(&["chat", "--case", "sell_usdc_for_ether", "--subject", "reference"], "Get rid of 250 USDC, I want wrapped ether.\n");
    let (run, trial) = kept(&ran.exits(0).stderr);
    let file = "evals/suites/behavior/drafted.yaml";
    // The same trade as in the case it was talked about, so the two cannot be told apart; that is said, and the draft is there.
    let ran = folder.run(&["case", "new", "--from", &format!("{run}/{trial}"), "--id", "drafted_trade", "-o", file]).exits(1);
    ran.says("the reference of sell_usdc_for_ether passes case drafted_trade too");
    assert!(
        folder.read(file).contains("\"path\": \"action_id\"") || folder.read(file).contains("path: \"action_id\""),
        "{}",
        folder.read(file)
    );
    let document = folder.json(&["run", "--subject", "reference", "--no-store", "--case", "drafted_trade"], 0);
    let met = |verdict: &&Value| verdict["verdict"] == "met";
    assert!(document["verdicts"].as_array().unwrap().iter().filter(met).count() > 0, "{document:#}");
}

#[test]
fn events_come_as_lines_of_json() {
    let folder = Folder::with_minimal();
    let echo = ["chat", "--subject", "echo", "--profile", "trader", "--no-store", "--format", "json"];
    let ran = folder.run_with(&echo, "Hello.\nStill there?\n").exits(0);
    let events: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<&str> = events.iter().filter_map(|event| event["happened"]["user_said"]["text"].as_str()).collect();
    assert_eq!(told, ["Hello.", "Still there?"]);
    assert!(events.iter().any(|event| event["happened"]["said"]["text"] == "Still there?"), "{events:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = Folder::with_minimal();
    folder.run_with(&["chat", "--agent", "trades"], "x\n").exits(2).says("there is no agent \"trades\"");
    folder.run_with(&["chat", "--case", "nothing"], "x\n").exits(2).says("there is no case \"nothing\"");
    folder.run_with(&["chat", "--world", "mars"], "x\n").exits(2).says("there is no world \"mars\"");
    folder.run_with(&["chat", "--subject", "nobody"], "x\n").exits(2).says("there is no subject \"nobody\"");
    folder.run_with(&["chat", "--agent", "trader", "--case", "sell_usdc_for_ether"], "x\n").exits(2);
    folder.run(&["case", "new", "--from", "nonsense"]).exits(2).says("RUN/TRIAL");
    let (run, trial) = kept(&folder.run_with(&["chat"], "Hello.\n").exits(0).stderr);
    folder.run(&["case", "new", "--from", &format!("{run}/{trial}")]).exits(2).says("activated no skill");
    folder.run(&["chat", "--no-store"]).exits(0);
}
