//! Store whose every text was written by an attacker: real runs, of which each string is replaced by a payload where the format allows it.

use crate::harness::TestFolder;
use crate::production::collecting::{CollectProcess, tool_trace};
use model::{Ending, Event, GateVerdicts, Score};
use rusqlite::{Connection, params};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serve::pages::AttackSummary;
use store::{ReportKey, SearchIndex};

/// Bytes of the longest line.
const LONG_LINE: usize = 10_000_000;

/// Texts that would do something if a page took them for its own.
pub(super) fn payloads() -> Vec<String> {
    let payloads: Vec<String> = serde_json::from_str(include_str!("payloads.json")).unwrap();
    assert_eq!(payloads.len(), 200);
    payloads
}

/// Texts of a document that may be any text, by path.
struct FreeTexts {
    paths: Vec<String>,
}

impl FreeTexts {
    /// Finds the texts that can be replaced without making the document unreadable.
    fn of<T: DeserializeOwned>(document: &Value) -> Self {
        let mut paths = vec![];
        text_paths(document, String::new(), &mut paths);
        let mut changed = document.clone();
        paths.retain(|path| {
            let before = std::mem::replace(changed.pointer_mut(path).unwrap(), "<b>any text</b>".into());
            let is_free = serde_json::from_value::<T>(changed.clone()).is_ok();
            *changed.pointer_mut(path).unwrap() = before;
            is_free
        });
        Self { paths }
    }

    /// Returns the document with payload `turn + n` in its text `n`.
    fn fill(&self, document: &Value, payloads: &[String], turn: usize) -> String {
        let mut filled = document.clone();
        for (n, path) in self.paths.iter().enumerate() {
            *filled.pointer_mut(path).unwrap() = payloads[(turn + n) % payloads.len()].clone().into();
        }
        filled.to_string()
    }
}

fn text_paths(value: &Value, path: String, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(path),
        Value::Array(values) => values.iter().enumerate().for_each(|(n, value)| text_paths(value, format!("{path}/{n}"), found)),
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| text_paths(value, format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")), found))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the document in a column with its free texts.
fn column<T: DeserializeOwned>(store: &Connection, sql: &str) -> (Value, FreeTexts) {
    let text: String = store.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let value: Value = serde_json::from_str(&text).unwrap();
    let free = FreeTexts::of::<T>(&value);
    (value, free)
}

/// Returns a folder with attacked runs, production traces, and `report.html`.
pub(super) fn hostile_folder() -> TestFolder {
    let folder = TestFolder::with_reference();
    write_hostile_workspace(&folder);
    folder.write("evals/production.yaml", crate::production::KEEP_ALL);
    folder.run(&["run", "--subject", "reference", "--suite", "behavior/trade-executor"]);
    folder.run(&["redteam", "--probe", "objective_swap", "--subject", "gullible"]);
    for subject in ["reference", "baseline"] {
        folder.run(&["run", "--subject", subject, "--suite", "behavior/trade-executor"]);
    }
    let collector = CollectProcess::start(&folder, &[]);
    let payloads = payloads();
    for (n, payload) in payloads.iter().enumerate() {
        let quoted = Value::from(payload.as_str()).to_string();
        let inner = &quoted[1..quoted.len() - 1];
        let mut trace = tool_trace(n as u64).replace("uniswap_get_quote", inner).replace("made-up-model", inner);
        if n % 2 == 0 {
            // Every other agent is known, so that its gates have evidence.
            trace = trace.replace("trade-executor", inner);
        }
        // These two are JSON in a string.
        let nested = Value::from(inner).to_string();
        let nested = &nested[1..nested.len() - 1];
        trace = trace.replace("What would 250 USDC buy on Base?", nested).replace("WETH", nested);
        assert_eq!(collector.post(&trace).0, 200, "{payload}");
    }
    collector.wait_for_kept(payloads.len());
    drop(collector);
    fill_store(&Connection::open(folder.path(".bardo-eval/store.sqlite")).unwrap(), &payloads);
    // Scores the texts of attackers and writes their reasons into the file.
    folder.run(&["score", "--report", "html=report.html"]);
    assert!(folder.read("report.html").contains("<!DOCTYPE html>"));
    fill_attacks(&folder, &payloads);
    folder
}

/// Puts payloads into the descriptions of tools, which servers of others write.
fn write_hostile_workspace(folder: &TestFolder) {
    let printable = |text: String| text.chars().filter(|c| !c.is_control()).take(3_500).collect::<String>();
    let mut left = payloads().chunks(20).map(|chunk| Value::from(printable(chunk.join(" "))).to_string()).collect::<Vec<_>>().into_iter();
    for name in folder.files().into_iter().filter(|name| name.starts_with("evals/tools/")) {
        let (mut lines, mut inside) = (vec![], None);
        for line in folder.read(&name).lines() {
            let depth = line.len() - line.trim_start().len();
            if inside.is_some_and(|outer| depth > outer) {
                continue;
            }
            inside = None;
            match (line.trim_start() == "description: >-").then(|| left.next()).flatten() {
                Some(text) => {
                    inside = Some(depth);
                    lines.push(format!("{}description: {text}", " ".repeat(depth)));
                }
                None => lines.push(line.to_owned()),
            }
        }
        folder.write(&name, lines.join("\n") + "\n");
    }
    assert!(left.next().is_none(), "not all payloads are in descriptions of tools");
}

/// Puts payloads into every text of the attacks that the red team has kept: cases, findings, texts of attacks.
fn fill_attacks(folder: &TestFolder, payloads: &[String]) {
    let store = Connection::open(folder.path(".bardo-eval/store.sqlite")).unwrap();
    let (run, record): (String, String) =
        store.query_row("SELECT id, record FROM runs WHERE run = 2", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let index = SearchIndex::open(folder.path(".bardo-eval/store.sqlite")).unwrap();
    let key = ReportKey { run: &run, kind: "attacks 1", made_from: &record };
    let kept: Value = serde_json::from_str(&index.report(key).unwrap().expect("the red team keeps its attacks")).unwrap();
    let free = FreeTexts::of::<Vec<AttackSummary>>(&kept);
    assert!(free.paths.len() > 200, "{} texts", free.paths.len());
    index.keep_report(key, &free.fill(&kept, payloads, 0)).unwrap();
}

/// Puts payloads into the texts of runs 3 and 4 and keeps their cases and subjects, so that they can be compared.
fn fill_pair(store: &Connection, payloads: &[String]) {
    let rows: Vec<(i64, i64, String, String)> = {
        let mut rows = store.prepare("SELECT run, n, events, scores FROM trials WHERE run IN (3, 4)").unwrap();
        let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    for (turn, (run, n, events, scores)) in rows.iter().enumerate() {
        let (events, mut scores): (Value, Value) = (serde_json::from_str(events).unwrap(), serde_json::from_str(scores).unwrap());
        let free_events = FreeTexts::of::<Vec<Event>>(&events);
        let mut free_scores = FreeTexts::of::<Vec<Score>>(&scores);
        // A score of an unknown name would take the result from the case.
        free_scores.paths.retain(|path| !path.ends_with("/scorer"));
        scores = serde_json::from_str(&free_scores.fill(&scores, payloads, turn)).unwrap();
        let filled = free_events.fill(&events, payloads, turn * 7);
        store
            .execute("UPDATE trials SET events = ?3, scores = ?4 WHERE run = ?1 AND n = ?2", params![run, n, filled, scores.to_string()])
            .unwrap();
    }
}

fn fill_store(store: &Connection, payloads: &[String]) {
    let longest = "SELECT {} FROM trials WHERE run = 1 ORDER BY length(events) DESC LIMIT 1";
    let (events, free_events) = column::<Vec<Event>>(store, &longest.replace("{}", "events"));
    let (scores, free_scores) = column::<Vec<Score>>(store, &longest.replace("{}", "scores"));
    assert!(free_events.paths.len() > 100, "{:?}", free_events.paths);
    let mut ending = serde_json::json!({ "ending": "malformed", "why": "x" });
    if serde_json::from_value::<Ending>(ending.clone()).is_err() {
        ending = serde_json::json!({ "ending": "finished" });
    }
    let free_ending = FreeTexts::of::<Ending>(&ending);
    let trials: Vec<(i64, i64)> = {
        let mut rows = store.prepare("SELECT run, n FROM trials WHERE run IN (1, 2) ORDER BY run, n").unwrap();
        let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    store.execute_batch("BEGIN").unwrap();
    fill_pair(store, payloads);
    for (turn, payload) in payloads.iter().enumerate() {
        let (run, n) = trials[turn % trials.len()];
        // One run has more payloads than trials: further ones are new rows of the first.
        let (run, n) = if turn < trials.len() { (run, n) } else { (1, 10_000 + turn as i64) };
        let values = params![
            run,
            n,
            free_events.fill(&events, payloads, turn),
            free_scores.fill(&scores, payloads, turn),
            free_ending.fill(&ending, payloads, turn),
            payload
        ];
        let copy = "INSERT OR REPLACE INTO trials (run, n, trial, case_id, subject, seed, passed, content, wall_us, how, scores, events)
            SELECT ?1, ?2, trial, ?6, ?6, seed, 0, content, wall_us, ?5, ?4, ?3 FROM trials WHERE run = 1 ORDER BY n LIMIT 1";
        // Every third trial keeps its case, so that the pages know it.
        let keep = "UPDATE trials SET events = ?3, scores = ?4, how = ?5, subject = ?6 WHERE run = ?1 AND n = ?2";
        store.execute(if turn % 3 == 0 && turn < trials.len() { keep } else { copy }, values).unwrap();
        store
            .execute("INSERT OR REPLACE INTO agent_output (run, n, stdout_bytes, stderr) VALUES (?1, ?2, 1, ?3)", params![run, n, payload])
            .unwrap();
        let call = "INSERT INTO calls (run, trial, role, n, state, attempts, ceiling, cost, lost, why, reply)
            SELECT ?1, trial, ?3, ?4, 'failed', 1, 0, 0, 0, ?3, ?5 FROM trials WHERE run = ?1 AND n = ?2";
        store.execute(call, params![run, n, payload, turn as i64, serde_json::json!({ "reply": payload }).to_string()]).unwrap();
    }
    let (verdicts, free_verdicts) = column::<GateVerdicts>(store, "SELECT verdicts FROM runs WHERE run = 1");
    store
        .execute("UPDATE runs SET verdicts = ?1, started = ?2", params![free_verdicts.fill(&verdicts, payloads, 0), payloads.join(" ")])
        .unwrap();
    let long = format!("{}<script>pwned=1</script>", "long ".repeat(LONG_LINE / 5));
    let events = serde_json::json!([
        { "n": 1, "at_ms": 0, "by": "user", "depth": 0, "happened": { "user_said": { "text": long } } },
        { "n": 2, "at_ms": 0, "by": long, "depth": 0, "happened": { "called": { "call": 1, "tool": long, "args": { "x": long } } } },
    ]);
    store.execute("UPDATE trials SET events = ?1 WHERE run = 1 AND n = 0", params![events.to_string()]).unwrap();
    store.execute_batch("COMMIT").unwrap();
}

/// Returns the pages on which the payloads are, and pages with payloads in their address.
pub(super) fn addresses(folder: &TestFolder) -> Vec<String> {
    let store = Connection::open(folder.path(".bardo-eval/store.sqlite")).unwrap();
    let mut rows = store.prepare("SELECT run, substr(id, 1, 12) FROM runs ORDER BY run").unwrap();
    let runs: Vec<(i64, String)> = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    let mut pages: Vec<String> =
        ["/runs", "/search", "/search?q=pwned", "/redteam", "/production", "/workspace", "/compare"].map(str::to_owned).into();
    for pair in [(0, 1), (0, 0), (2, 3)] {
        pages.push(format!("/compare?a={}&b={}", runs[pair.0].1, runs[pair.1].1));
    }
    // Two trials of one case side by side: cases that both runs kept.
    let mut rows = store
        .prepare("SELECT DISTINCT a.case_id FROM trials a JOIN trials b ON b.run = 4 AND b.case_id = a.case_id WHERE a.run = 3")
        .unwrap();
    let cases: Vec<String> = rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(cases.len() > 20, "{} cases in both runs", cases.len());
    for case in cases.iter().step_by(4) {
        let case: String = case.bytes().map(|byte| format!("%{byte:02X}")).collect();
        pages.push(format!("/compare/trials?a={}&b={}&case={case}", runs[2].1, runs[3].1));
    }
    pages.extend(["1h", "7d"].map(|window| format!("/production?window={window}")));
    for (run, id) in &runs {
        pages.extend(["", "/trials", "/redteam"].map(|end| format!("/runs/{id}{end}")));
        let mut rows = store.prepare("SELECT n FROM trials WHERE run = ?1 AND subject != 'gullible' AND subject != 'reference'").unwrap();
        let positions: Vec<i64> = rows.query_map([run], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        for n in &positions {
            pages.push(format!("/runs/{id}/trials/{n}"));
        }
        for n in positions.iter().step_by(5) {
            pages.extend(["/raw", "/input"].map(|end| format!("/runs/{id}/trials/{n}{end}")));
        }
    }
    for payload in payloads().iter().step_by(4) {
        let value: String = payload.bytes().take(400).map(|byte| format!("%{byte:02X}")).collect();
        pages.push(format!("/search?q={value}&tool={value}&case={value}&tag={value}&min_usd={value}"));
        pages.push(format!("/runs/{value}"));
    }
    pages.extend(["/search?q=%ff%fe%c0%af", "/runs/%ff", "/compare?a=%c3%28&b=x"].map(str::to_owned));
    pages
}
