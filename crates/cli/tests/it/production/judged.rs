//! A judged share of the traffic, within the money of a day.

use super::collecting::{CollectProcess, tool_trace};
use crate::harness::TestFolder;
use serde_json::{Value, json};
use testkit::chat;

/// Verdict in the wire format of the judge's model.
fn verdict(word: &str, score: u64) -> Value {
    chat::tool_call_reply(1, "verdict", &json!({ "verdict": word, "score": score, "reason": "As the rubric says." }))
}

/// Workspace whose gate on judged traces has a window.
fn folder(url: &str, usd_per_day: &str) -> TestFolder {
    let folder = TestFolder::with_reference();
    let judge = format!("judge: {{ share: 1, usd_per_day: {usd_per_day}, rubric: The answer names an amount. }}\n");
    folder.write("evals/production.yaml", format!("{}{judge}", super::KEEP_ALL));
    folder.write("evals/subjects/grader.yaml", chat::subject_file("grader", url));
    let gate = "    scorer: judged\n    slice: pooled\n    tiers: [2, 3, 4]\n    min_cases: ";
    folder.edit("evals/gates.yaml", &format!("{gate}10\n"), &format!("{gate}2\n    window: 24h\n"));
    folder
}

fn collect(folder: &TestFolder, traces: u64, args: &[&str], line: &str) {
    let collector = CollectProcess::start(folder, args);
    for n in 0..traces {
        assert_eq!(collector.post(&tool_trace(n)).0, 200);
    }
    collector.wait_for_kept(usize::try_from(traces).unwrap());
    collector.wait_for(line);
}

/// Returns the verdict of the gate and the cost of the judge.
fn gate(folder: &TestFolder, args: &[&str]) -> (String, Value) {
    let report: Value = serde_json::from_str(&folder.run(&[&["watch", "--once", "--format", "json"], args].concat()).stdout).unwrap();
    let found = report["verdicts"].as_array().unwrap().iter().find(|verdict| verdict["gate"] == "judged_quality").unwrap();
    (found["verdict"].as_str().unwrap().to_owned(), report["cost"]["judge"].clone())
}

#[test]
fn judged_traces_meet_or_miss_their_gate_and_are_asked_once() {
    let url = chat::serve_chat(|request, n| {
        // The third trace fails, and no trace is asked about twice.
        assert!(n < 3, "a question too many: {request}");
        verdict(if n == 2 { "fail" } else { "pass" }, if n == 2 { 1 } else { 5 })
    });
    let folder = folder(&url, "1");
    collect(&folder, 3, &["--judge", "grader"], "bardo_eval_traces_judged_total 3\n");
    let (verdict, cost) = gate(&folder, &[]);
    assert_eq!((verdict.as_str(), &cost["judged"]), ("missed", &json!(3)));
    assert!(cost["spent_usd"].as_f64().unwrap() > 0.0, "{cost}");
    // A restart and `watch --judge` find the stored answers.
    collect(&folder, 3, &["--judge", "grader"], "bardo_eval_judge_spent_usd_today");
    assert_eq!(gate(&folder, &["--judge", "grader"]).0, "missed");
    let file = rusqlite::Connection::open(folder.path(".bardo-eval/production.sqlite")).unwrap();
    let (question, answer): (String, String) =
        file.query_row("SELECT question, answer FROM judgements LIMIT 1", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert!(question.contains("The answer names an amount.") && question.contains("About 0.1 WETH."), "{question}");
    assert!(answer.contains("As the rubric says."), "{answer}");
}

#[test]
fn watch_judges_what_a_collector_without_a_judge_kept() {
    let url = chat::serve_chat(|_, _| verdict("pass", 5));
    let folder = folder(&url, "1");
    collect(&folder, 2, &[], "bardo_eval_traces_kept_total 2");
    assert_eq!(gate(&folder, &[]).0, "no_evidence");
    assert_eq!(gate(&folder, &["--judge", "grader"]).0, "met");
}

#[test]
fn an_answer_without_one_verdict_blocks_the_gate() {
    let both = json!({ "role": "assistant", "content": null, "tool_calls": [
        { "id": "a", "type": "function", "function": { "name": "verdict", "arguments": "{\"verdict\":\"pass\",\"score\":5,\"reason\":\"x\"}" } },
        { "id": "b", "type": "function", "function": { "name": "verdict", "arguments": "{\"verdict\":\"fail\",\"score\":1,\"reason\":\"x\"}" } },
    ] });
    for reply in [chat::text_reply("It passes."), chat::completion(&both, "tool_calls"), verdict("pass", 1)] {
        let url = chat::serve_chat(move |_, n| if n < 2 { verdict("pass", 5) } else { reply.clone() });
        let folder = folder(&url, "1");
        collect(&folder, 3, &["--judge", "grader"], "bardo_eval_traces_misjudged_total 1\n");
        assert_eq!(gate(&folder, &[]).0, "no_evidence");
    }
}

#[test]
fn the_money_of_a_day_is_never_exceeded() {
    // At a dollar per million tokens an answer costs 0.0041 USD.
    let url = chat::serve_chat(|_, _| {
        let mut reply = verdict("pass", 5);
        reply["usage"] = chat::usage(4_000, 100);
        reply
    });
    let folder = folder(&url, "0.02");
    collect(&folder, 12, &["--judge", "grader"], "bardo_eval_judge_unfunded_total 1\n");
    let spent = gate(&folder, &[]).1;
    assert!(spent["spent_usd"].as_f64().unwrap() <= 0.02, "{spent}");
    assert!((1..12).contains(&spent["judged"].as_u64().unwrap()), "{spent}");
    // A process that died with an open call left it at its ceiling, and a restart spends nothing more.
    let file = rusqlite::Connection::open(folder.path(".bardo-eval/production.sqlite")).unwrap();
    file.execute("UPDATE judge_calls SET cost = NULL, ceiling = 20000000 WHERE n = 1", []).unwrap();
    drop(file);
    collect(&folder, 12, &["--judge", "grader"], "bardo_eval_judge_unfunded_total 2\n");
    assert_eq!(gate(&folder, &[]).1["judged"], spent["judged"]);
}

#[test]
fn a_judge_needs_settings_a_price_and_a_subject() {
    let folder = TestFolder::with_reference();
    let refused = |args: &[&str]| folder.run(&[&["collect", "--listen", "127.0.0.1:0"], args].concat()).assert_exit(2);
    refused(&["--judge", "unlisted"]).assert_stderr("unlisted");
    folder.write("evals/subjects/grader.yaml", chat::subject_file("grader", "http://127.0.0.1:9"));
    refused(&["--judge", "grader"]).assert_stderr("does not say what is judged");
    folder.write("evals/production.yaml", "judge: { share: 1, usd_per_day: 1, rubric: x }\n");
    let file = chat::subject_file("grader", "http://127.0.0.1:9");
    let priced = file.lines().filter(|line| !line.starts_with("price")).collect::<Vec<_>>().join("\n");
    folder.write("evals/subjects/grader.yaml", priced + "\n");
    refused(&["--judge", "grader"]).assert_stderr("price");
}

/// A collector that is killed while its judge answers. What was paid for, or may have been, counts; each trace has one answer.
#[test]
fn judging_survives_kills_within_the_money_of_the_day() {
    let url = chat::serve_chat(|_, _| {
        std::thread::sleep(std::time::Duration::from_millis(60));
        let mut reply = verdict("pass", 5);
        reply["usage"] = chat::usage(4_000, 100);
        reply
    });
    let folder = folder(&url, "0.5");
    collect(&folder, 8, &[], "bardo_eval_traces_kept_total 8\n");
    for kill in 0..6 {
        let mut collector = CollectProcess::start(&folder, &["--judge", "grader"]);
        std::thread::sleep(std::time::Duration::from_millis(20 + kill * 35));
        collector.kill();
    }
    collect(&folder, 8, &["--judge", "grader"], "bardo_eval_traces_judged_total 8\n");
    let (verdict, cost) = gate(&folder, &[]);
    assert_eq!((verdict.as_str(), &cost["judged"]), ("met", &json!(8)), "{cost}");
    let file = rusqlite::Connection::open(folder.path(".bardo-eval/production.sqlite")).unwrap();
    let number = |sql: &str| -> u64 { file.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(number("SELECT count(*) FROM judgements"), 8);
    assert_eq!(number("SELECT count(DISTINCT trace) FROM judgements"), 8);
    assert!(cost["spent_usd"].as_f64().unwrap() >= 8.0 * 0.0041, "answers and open calls are paid for: {cost}");
}
