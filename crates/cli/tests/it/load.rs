//! Stores of many trials, sums at the end of their range, and minor findings of the attack on runner, store and providers.

use crate::harness::TestFolder;
use rusqlite::Connection;

/// More memory that a command may need for ten times as many trials.
const MORE_MB: u64 = 15;

/// A model at an address where nothing listens.
const ABSENT_MODEL: &str = "subject: absent\nprovider: openai-compatible\nmodel: m\nbase_url: http://127.0.0.1:1/v1\nabout: A model that is not there.\n\
    price: { input_per_mtok: 0, output_per_mtok: 0, cache_read_per_mtok: 0, cache_write_per_mtok: 0, as_of: \"2026-11-15\" }\n";

/// All trials of a store together have tens of megabytes; a command that reads them one after the other needs those of one.
#[test]
fn commands_read_20000_trials_within_the_memory_of_2000() {
    let folder = TestFolder::with_minimal();
    let commands: [&[&str]; 6] =
        [&["score"], &["show", "how_much_usdc"], &["golden", "update"], &["golden", "diff"], &["cost"], &["runs", "list"]];
    let peaks = [400, 4000].map(|trials| {
        let store = format!("{trials}.sqlite");
        folder.run(&["run", "--subject", "echo", "--trials", &trials.to_string(), "--store", &store]).assert_exit(1);
        commands.map(|command| {
            let ran = folder.run(&[command, &["--store", &store]].concat());
            assert!(matches!(ran.code, Some(0 | 1)), "{command:?}: {}{}", ran.stdout, ran.stderr);
            ran.peak_mb
        })
    });
    let bytes = std::fs::metadata(folder.path("4000.sqlite")).unwrap().len();
    assert!(bytes > (2 * MORE_MB) << 20, "the store has only {bytes} bytes, so that reading all of it would not be noticed");
    for ((command, few), many) in commands.iter().zip(peaks[0]).zip(peaks[1]) {
        let (Some(few), Some(many)) = (few, many) else { continue };
        assert!(many < few + MORE_MB, "{command:?}: {few} MB for 2,000 trials, {many} MB for 20,000");
    }
}

#[test]
fn two_calls_at_the_largest_cost_leave_every_command_usable() {
    let folder = TestFolder::with_minimal();
    folder.run(&["run", "--subject", "echo"]).assert_exit(1);
    let connection = Connection::open(folder.path(".bardo-eval/store.sqlite")).unwrap();
    let trial: String = connection.query_row("SELECT trial FROM trials LIMIT 1", [], |row| row.get(0)).unwrap();
    for n in 0..2 {
        let sql = "INSERT INTO calls (run, trial, role, n, state, attempts, ceiling, cost, lost, waited_us, why, reply)
            VALUES (1, ?1, 'subject', ?2, 'settled', 1, ?3, ?3, ?3, 0, NULL, NULL)";
        connection.execute(sql, rusqlite::params![trial, n, i64::MAX]).unwrap();
    }
    drop(connection);
    let commands: [(&[&str], i32); 7] = [
        (&["runs", "list"], 0),
        (&["runs", "show"], 0),
        (&["show", "how_much_usdc"], 0),
        (&["score"], 1),
        (&["cost"], 0),
        (&["run", "--subject", "echo", "--last-failed"], 1),
        (&["golden", "update"], 0),
    ];
    for (command, code) in commands {
        folder.run(command).assert_exit(code);
    }
}

/// Each finding was accepted in silence, hung or broke a file.
#[test]
fn minor_findings_of_the_attack_stay_mended() {
    let folder = TestFolder::with_minimal();
    folder.write("evals/subjects/absent.yaml", ABSENT_MODEL);
    let one = ["run", "--subject", "absent", "--case", "how_much_usdc"];
    // A lifetime of cached replies that is no number of seconds.
    for wrong in ["abc", "-5", "1e9"] {
        let refused = folder.run_with_variable(&one, "PROMPTFOO_CACHE_TTL", wrong);
        refused.assert_exit(2).assert_stderr("set it to whole seconds");
    }
    // The hint names the store that has the run.
    let hint = folder.run(&[&one[..], &["--store", "other.sqlite"]].concat());
    assert!(hint.stderr.lines().any(|line| line.contains("--resume") && line.contains("--store other.sqlite")), "{}", hint.stderr);
    // A byte order mark before front matter.
    let agent = folder.read("evals/agents/trader.md");
    folder.write("evals/agents/trader.md", format!("\u{feff}{agent}"));
    folder.run(&["smoke"]).assert_exit(0);
    // Removed runs free their space.
    folder.run(&["run", "--subject", "echo", "--trials", "200", "--store", "full.sqlite", "--run-id-file", "id"]).assert_exit(1);
    let size = || std::fs::metadata(folder.path("full.sqlite")).unwrap().len();
    let full = size();
    folder.run(&["runs", "rm", folder.read("id").trim(), "--store", "full.sqlite"]).assert_exit(0);
    assert!(size() < full / 4, "{} of {full} bytes are left", size());
}

/// A pipe without a writer would be waited for without end.
#[test]
#[cfg(unix)]
fn pipe_in_place_of_a_recording_is_refused() {
    let folder = TestFolder::with_minimal();
    folder.write("evals/subjects/absent.yaml", ABSENT_MODEL);
    std::fs::create_dir_all(folder.path("evals/cassettes/absent")).unwrap();
    let pipe = folder.path("evals/cassettes/absent/replies.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    folder.run(&["run", "--subject", "absent", "--replay"]).assert_exit(2).assert_stderr("not a regular file");
}

/// The name of a tool stands in a comment of the first suite.
#[test]
#[cfg(unix)]
fn line_break_in_a_tool_name_stays_in_its_comment() {
    let folder = TestFolder::new();
    let server = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  [ -n "$id" ] || continue
  case $line in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"desk","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"bad\nname","description":"Looks up a ticket of the desk.","inputSchema":{"type":"object","properties":{}}}]}' ;;
    *) result='{}' ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;
    folder.write("server.sh", server);
    folder.run(&["init", "--from-mcp", "/bin/sh server.sh", "own"]).assert_exit(0);
    let suites: Vec<String> = folder.files().into_iter().filter(|name| name.starts_with("own/suites/")).collect();
    assert_eq!(suites.len(), 1);
    assert!(folder.read(&suites[0]).contains("tool: bad_name,"));
    // The name itself is a mistake of the tool and the profile; the suite has none.
    let smoke = folder.run(&["smoke", "-w", "own"]).assert_exit(2);
    assert!(!format!("{}{}", smoke.stdout, smoke.stderr).contains("suites/"), "{}{}", smoke.stdout, smoke.stderr);
}
