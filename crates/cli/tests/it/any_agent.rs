//! Agents given on the command line: their logs, a first trial that is tried alone, limits of a run, and agents that misbehave.

use crate::harness::{ProgramOutput, TestFolder};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

const SWAP_CASE: &str = "sell_usdc_for_ether";
const SELECTION: [&str; 2] = ["--suite", "tool_selection"];

/// Agent that answers every message with the same words.
const TALKER: &str = "while read -r line; do echo '{\"say\":\"hm\"}'; done\n";

/// Remedy of an agent that made no move in time.
const FLUSH: &str = "flush each move, or give the agent more time with --timeout SECONDS";

fn run(folder: &TestFolder, script: &str, args: &[&str]) -> ProgramOutput {
    folder.write("agent.sh", script);
    folder.run(&[&["run", "--subject", "process:bash agent.sh"], args].concat())
}

fn json(ran: &ProgramOutput) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn show(folder: &TestFolder, case: &str) -> Value {
    folder.json(&["show", case], 0)
}

/// Returns true if a process with this text in its arguments is alive.
fn is_alive(text: &str) -> bool {
    let line = |pid: &str| fs::read(format!("/proc/{pid}/cmdline")).map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    let is_zombie = |pid: &str| {
        fs::read_to_string(format!("/proc/{pid}/stat"))
            .is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')))
    };
    fs::read_dir("/proc").unwrap().any(|entry| {
        let pid = entry.unwrap().file_name().to_string_lossy().into_owned();
        line(&pid).is_ok_and(|line| line.contains(text)) && !is_zombie(&pid)
    })
}

#[test]
fn stderr_is_kept_with_the_trial() {
    let folder = TestFolder::with_minimal();
    let script = format!("for i in $(seq 1 40); do echo \"line $i\" >&2; done\n{TALKER}");
    let first = json(&run(&folder, &script, &["--case", SWAP_CASE, "--format", "json"]));
    let shown = show(&folder, SWAP_CASE);
    assert!(shown["output"]["stderr"].as_str().unwrap().starts_with("line 1\nline 2\n"), "{shown:#}");
    assert_ne!(shown["output"]["stdout_bytes"], 0);
    let text = folder.run(&["show", SWAP_CASE]).assert_exit(0).assert_stdout("stderr of the agent, last 10 lines; 30 lines before them");
    assert!(text.stdout.contains("  line 40\n") && !text.stdout.contains("  line 30\n"), "{}", text.stdout);
    folder.run(&["show", SWAP_CASE, "--verbose"]).assert_exit(0).assert_stdout("  line 1\n");
    // Other words on stderr are not another behaviour.
    let script = script.replace("line $i", "$RANDOM $$ $i");
    let second = json(&run(&folder, &script, &["--case", SWAP_CASE, "--format", "json"]));
    assert_eq!(first["record"], second["record"]);
    assert_ne!(show(&folder, SWAP_CASE)["output"]["stderr"], shown["output"]["stderr"]);
}

#[test]
fn kept_stderr_is_bounded_and_has_no_secrets() {
    let folder = TestFolder::with_minimal();
    folder.write("leaks.sh", format!("for i in $(seq 1 9000); do echo \"key $MY_KEY in line $i\" >&2; done\n{TALKER}"));
    folder.write(
        "evals/subjects/leaks.yaml",
        "subject: leaks\nprovider: process\ncommand: [bash, leaks.sh]\nenv: [MY_KEY]\nabout: A test.\n",
    );
    folder.run_with_variable(&["run", "--subject", "leaks", "--case", SWAP_CASE], "MY_KEY", "sk-live-0123456789abcdef");
    let shown = show(&folder, SWAP_CASE);
    let stderr = shown["output"]["stderr"].as_str().unwrap();
    assert!(stderr.len() <= 64 * 1024 && stderr.len() > 32 * 1024, "{}", stderr.len());
    assert!(stderr.ends_with("key [secret] in line 9000\n"), "{}", &stderr[stderr.len() - 100..]);
    for name in [".bardo-eval/store.sqlite", ".bardo-eval/store.sqlite-wal"] {
        let bytes = fs::read(folder.path(name)).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains("0123456789abcdef"), "{name}");
    }
}

/// With one case there is no trial to try first, so the screen itself names the ending and the case.
#[test]
fn ending_and_case_are_named_on_the_screen() {
    let folder = TestFolder::with_minimal();
    for (script, ending) in
        [("exit 4\n", "1 failed (of them 1 crashed)"), ("read -r line; echo '{\"dance\":1}'\n", "1 failed (of them 1 malformed move)")]
    {
        let ran = run(&folder, script, &["--case", SWAP_CASE]);
        assert!(ran.stdout.contains(ending) && ran.stdout.contains(&format!("failed: {SWAP_CASE}\n")), "{ending}: {}", ran.stdout);
    }
}

#[test]
fn broken_agent_is_found_by_its_first_trial() {
    let folder = TestFolder::with_minimal();
    for (script, seconds, ending, hints) in [
        ("echo 'ValueError: no model' >&2; exit 1", "20", "crashed", &["it exited with code 1: ValueError: no model", "--resume"][..]),
        ("echo starting >&2; sleep 600", "2", "hung", &["printed nothing to stdout", "flush", "its stderr says: starting", "--timeout"]),
        ("read -r line; echo 'I would sell'; cat", "20", "malformed_move", &["I would sell", "logs go to stderr"]),
        // A move that was printed before the message that it would answer. The builtin printf would write it apart.
        (
            "read -r line; env printf '{\"ask\":\"which?\"}\\n{\"say\":\"T-7 stale\"}\\n'; cat >/dev/null",
            "20",
            "malformed_move",
            &["T-7 stale", "before the message that it would answer"],
        ),
    ] {
        let ran = run(&folder, script, &["--timeout", seconds, "--trials", "5"]).assert_exit(3);
        for hint in hints.iter().chain(&["stopped after the first trial", "24 trials not run"]) {
            assert!(ran.stderr.contains(hint), "{hint}: {}", ran.stderr);
        }
        let runs = folder.json(&["runs", "show"], 0);
        assert_eq!((&runs["run"]["trials"]["ended"], &runs["run"]["state"]), (&1.into(), &"unfinished".into()), "{runs:#}");
        assert_eq!(show(&folder, SWAP_CASE)["ending"]["ending"], ending);
    }
    // The trial that was tried is one of the run: the others run by --resume, and it is not run again.
    run(&folder, "exit 1", &["--trials", "2"]).assert_exit(3);
    let resumed = json(&folder.run(&["run", "--resume", "--format", "json"]));
    assert_eq!((&resumed["trials"]["planned"], &resumed["trials"]["finished"]), (&10.into(), &10.into()), "{resumed:#}");
    let all = run(&folder, "exit 1", &["--trials", "2", "--no-preflight", "--format", "json"]);
    assert_eq!(json(&all)["trials"]["finished"], 10, "{all:?}");
    assert_eq!(json(&all)["record"], resumed["record"], "a preflight changes no result");
    let works = json(&run(&folder, TALKER, &["--trials", "2", "--format", "json"]));
    assert_eq!(works["trials"]["finished"], 10, "an agent that works badly is not broken");
    let plain = json(&run(&folder, TALKER, &["--trials", "2", "--no-preflight", "--format", "json"]));
    assert_eq!(works["record"], plain["record"]);
}

#[test]
fn agent_that_cannot_be_started_or_reached_is_found_by_its_first_trial() {
    let folder = TestFolder::with_minimal();
    let ran = folder.run(&["run", "--subject", "process:no-such-program-anywhere"]).assert_exit(3);
    assert!(
        ran.stderr.contains("stopped after the first trial") && ran.stderr.contains("can be started from this folder"),
        "{}",
        ran.stderr
    );
    for subject in ["http://127.0.0.1:9/", "chat:http://127.0.0.1:9/v1", "a2a:http://127.0.0.1:9"] {
        let ran = folder.run(&["run", "--subject", subject]).assert_exit(3);
        assert!(ran.stderr.contains("cannot connect to the agent") && ran.stderr.contains("check its URL"), "{subject}: {}", ran.stderr);
    }
}

#[test]
fn max_fail_stops_at_the_same_trial_at_any_concurrency() {
    let folder = TestFolder::with_minimal();
    let mut records = vec![];
    for concurrency in ["1", "3", "16"] {
        let args = ["--trials", "6", "--max-fail", "4", "--concurrency", concurrency, "--format", "json"];
        let ran = run(&folder, TALKER, &args);
        let document = json(&ran);
        assert!(ran.stderr.contains("stopped by --max-fail: 4 trials failed, 26 trials not run"), "{}", ran.stderr);
        assert_eq!((&document["trials"]["planned"], &document["trials"]["finished"]), (&30.into(), &4.into()), "{document:#}");
        let stored = folder.json(&["runs", "show"], 0);
        assert_eq!(stored["run"]["trials"]["ended"], 4, "trials beyond the stop are not kept: {stored:#}");
        let id = document["run"].as_str().unwrap();
        // Commands that show a trial name the run.
        let verdicts = document["verdicts"].to_string().replace(&id[..12], "RUN");
        records.push((document["record"].clone(), verdicts, ran.code));
        folder.run(&["run", "--resume", id]).assert_exit(2).assert_stderr("there is nothing to resume");
    }
    assert!(records.iter().all(|one| *one == records[0]), "{records:?}");
    assert_eq!(records[0].2, Some(1), "a gate is missed by then");
    run(&folder, TALKER, &["--trials", "6", "--max-fail", "4"]).assert_stdout("4 failed, 0 unjudged, 26 aborted (of them 26 not run)");
    let all = json(&run(&folder, TALKER, &["--max-fail", "5", "--format", "json"]));
    assert_eq!(all["trials"]["finished"], 5, "the last failure is the last trial");
}

#[test]
fn limits_are_part_of_the_stored_run() {
    let folder = TestFolder::with_minimal();
    let args = ["--limit", "2", "--timeout", "17", "--max-fail", "9", "--trials", "2", "--format", "json"];
    let calm = json(&run(&folder, "exit 1", &[&args[..], &["--no-preflight"]].concat()));
    assert_eq!((&calm["trials"]["planned"], &calm["trials"]["finished"]), (&4.into(), &4.into()), "{calm:#}");
    // Stopped after its first trial, so that there is something to resume.
    let stopped = run(&folder, "exit 1", &args).assert_exit(3);
    let settings = folder.run(&["runs", "show", "--format", "json"]).assert_exit(0).stdout;
    for part in ["\"max_fail\": 9", "\"timeout\": 17", "\"limit\": 2"] {
        assert!(settings.contains(part), "{part}: {settings}");
    }
    let id = json(&stopped)["run"].as_str().unwrap().to_owned();
    let id = id.as_str();
    for flag in ["--limit", "--timeout", "--max-fail"] {
        folder.run(&["run", "--resume", id, flag, "1"]).assert_exit(2);
    }
    let again = json(&folder.run(&["run", "--resume", id, "--format", "json"]));
    assert_eq!((&again["record"], &again["trials"]), (&calm["record"], &calm["trials"]), "resumed without flags it is the same run");
    // Another time limit is another subject.
    let other = ["--limit", "2", "--timeout", "18", "--max-fail", "9", "--trials", "2", "--format", "json"];
    assert_ne!(json(&run(&folder, "exit 1", &[&other[..], &["--no-preflight"]].concat()))["record"], calm["record"]);
    folder.run(&["run", "--subject", "reference", "--timeout", "5"]).assert_exit(2).assert_stderr("limits: { seconds");
}

#[test]
fn time_limit_of_the_command_line_holds() {
    let folder = TestFolder::with_minimal();
    let started = std::time::Instant::now();
    run(&folder, "sleep 600", &["--case", SWAP_CASE, "--timeout", "1"]).assert_exit(1);
    assert!(started.elapsed().as_secs() < 30);
    assert_eq!(show(&folder, SWAP_CASE)["ending"]["ending"], "hung");
    folder.run(&["show", SWAP_CASE]).assert_exit(0).assert_stdout("it has printed nothing to stdout");
}

/// Agents that never flush, print a gigabyte of logs, ignore SIGTERM, exit between turns, and make moves that do not exist.
#[test]
fn hostile_agents_end_with_named_endings_and_leave_nothing() {
    let folder = TestFolder::with_minimal();
    let buffered = "import sys, os, json\nout = os.fdopen(1, 'w', buffering=1 << 20)\nfor line in sys.stdin:\n    out.write(json.dumps({'say': 'hm'}) + '\\n')\n";
    folder.write("buffered.py", buffered);
    let unflushed = "import sys, json\nfor line in sys.stdin:\n    print(json.dumps({'say': 'hm'}))\n";
    folder.write("unflushed.py", unflushed);
    // The remedy of an ending; none if the agent worked.
    let end = |subject: &str, timeout: &str, remedy: Option<&str>| {
        let ran = folder.run(&["run", "--subject", subject, "--case", SWAP_CASE, "--timeout", timeout, "--format", "json"]);
        assert_eq!(ran.code, Some(1), "{subject}: {ran:?}");
        assert!(ran.peak_mb.is_none_or(|peak| peak < 200), "{subject}: {:?} MB", ran.peak_mb);
        let text = folder.run(&["show", SWAP_CASE]).assert_exit(0).stdout;
        let to_do = text.lines().find_map(|line| line.strip_prefix("to do: "));
        assert!(to_do.is_some() == remedy.is_some() && to_do.unwrap_or_default().contains(remedy.unwrap_or_default()), "{subject}: {text}");
        show(&folder, SWAP_CASE)
    };
    let shown = end("process:python3 buffered.py", "2", Some(FLUSH));
    assert_eq!((&shown["ending"]["ending"], &shown["output"]["stdout_bytes"]), (&"hung".into(), &0.into()));
    assert_eq!(end("process:python3 unflushed.py", "30", None)["ending"]["ending"], "finished", "PYTHONUNBUFFERED is set");
    folder.write("noisy.sh", format!("head -c 1073741824 /dev/zero | tr '\\0' 'x' >&2\n{TALKER}"));
    let shown = end("process:bash noisy.sh", "50", None);
    assert_eq!(shown["ending"]["ending"], "finished", "{}", shown["ending"]);
    assert_eq!(shown["output"]["stderr"].as_str().unwrap().len(), 64 * 1024);
    folder.write("stubborn.sh", "trap '' TERM INT HUP\nwhile true; do sleep 98771; done\n");
    assert_eq!(end("process:bash stubborn.sh", "2", Some(FLUSH))["ending"]["ending"], "hung");
    folder.write("forks.sh", "trap '' TERM\n(setsid bash -c \"trap '' TERM; sleep 98772\" &)\nsleep 98773\n");
    assert_eq!(end("process:bash forks.sh", "2", Some(FLUSH))["ending"]["ending"], "hung");
    folder.write(
        "leaves.sh",
        "read -r line\necho '{\"call\":{\"tool\":\"wallet_get_balance\",\"args\":{\"token\":\"USDC\",\"chain\":\"base\"}}}'\nexit 0\n",
    );
    let shown = end("process:bash leaves.sh", "20", Some("answers every line that it reads, and ends when its stdin closes"));
    assert_eq!((&shown["ending"]["ending"], &shown["ending"]["why"]), (&"crashed".into(), &"it exited with code 0".into()));
    folder.write("inventive.sh", "read -r line\necho '{\"think\":\"deeply\"}'\ncat\n");
    let shown = end("process:bash inventive.sh", "20", Some("answer with one of the moves above"));
    assert_eq!(shown["ending"]["ending"], "malformed_move");
    assert!(shown["ending"]["why"].as_str().unwrap().contains("the moves are"), "{}", shown["ending"]);
    for text in ["sleep 98771", "sleep 98772", "sleep 98773", "stubborn.sh"] {
        assert!(!is_alive(text), "{text} is still there");
    }
}

/// The first trial of each hostile agent ends the run with what to do, in a message that a gigabyte of logs does not flood.
#[test]
fn hostile_agents_are_stopped_with_a_remedy() {
    let folder = TestFolder::with_minimal();
    let leaves =
        "read -r line\necho '{\"call\":{\"tool\":\"wallet_get_balance\",\"args\":{\"token\":\"USDC\",\"chain\":\"base\"}}}'\nexit 0\n";
    for (name, script, timeout, hints) in [
        (
            "stubborn",
            "trap '' TERM INT HUP\nwhile true; do sleep 98774; done\n",
            "2",
            &["hung", "it has printed nothing to stdout", FLUSH][..],
        ),
        ("forks", "trap '' TERM\n(setsid bash -c \"trap '' TERM; sleep 98775\" &)\nsleep 98776\n", "2", &["hung", FLUSH]),
        ("leaves", leaves, "20", &["crashed: it exited with code 0", "ends when its stdin closes"]),
        (
            "inventive",
            "read -r line\necho '{\"think\":\"deeply\"}'\ncat\n",
            "20",
            &["malformed move", "the moves are {\"say\"", "one of the moves above"],
        ),
        (
            "noisy",
            "head -c 1073741824 /dev/zero | tr '\\0' 'x' >&2\nexit 3\n",
            "50",
            &["crashed: it exited with code 3: xxx", "read the last lines above; an agent over process: stays until its stdin closes"],
        ),
    ] {
        folder.write(&format!("{name}.sh"), script);
        let subject = format!("process:bash {name}.sh");
        let ran = folder.run(&["run", "--subject", &subject, "--case", SWAP_CASE, "--trials", "2", "--timeout", timeout]).assert_exit(3);
        for hint in hints.iter().chain(&["stopped after the first trial", "\nto do: ", "--resume"]) {
            assert!(ran.stderr.contains(hint), "{name} lacks {hint}: {}", ran.stderr);
        }
        assert!(ran.stderr.len() < 4000, "{name}: {} bytes", ran.stderr.len());
    }
    let shown = folder.run(&["show", SWAP_CASE]).assert_exit(0).stdout;
    assert!(shown.lines().all(|line| line.chars().count() < 1000), "one line of stderr is all that is kept: {} bytes", shown.len());
    assert!(folder.run(&["show", SWAP_CASE, "--verbose"]).assert_exit(0).stdout.len() > 64 * 1024);
    for text in ["sleep 98774", "sleep 98775", "sleep 98776"] {
        assert!(!is_alive(text), "{text} is still there");
    }
}

/// The helpers in three languages play the same trade.
#[test]
fn helpers_play_the_minimal_workspace() {
    let folder = TestFolder::with_minimal();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/agents");
    for name in ["bardo_agent.py", "python-agent.py", "bardo-agent.mjs", "node-agent.mjs", "bardo_agent.rs", "rust-agent.rs"] {
        let text = fs::read_to_string(examples.join(name)).unwrap();
        assert!(text.lines().count() <= if name.starts_with("bardo") { 125 } else { 30 }, "{name}");
        folder.write(&format!("agents/{name}"), text);
    }
    let built =
        Command::new("rustc").args(["--edition", "2021", "-o", "rust-agent", "rust-agent.rs"]).current_dir(folder.path("agents")).status();
    assert!(built.unwrap().success());
    for subject in ["process:python3 agents/python-agent.py", "process:node agents/node-agent.mjs", "process:agents/rust-agent"] {
        for case in ["how_much_usdc", "price_before_trading", SWAP_CASE] {
            let document = json(&folder.run(&["run", "--subject", subject, "--case", case, "--format", "json"]));
            assert_eq!(document["passed"], 1, "{subject} {case}: {:#}", show(&folder, case));
        }
    }
}

/// Mistakes of a handler are crashes that name the mistake.
#[test]
fn helpers_name_the_mistake_of_a_handler() {
    let folder = TestFolder::with_minimal();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/agents");
    for name in ["bardo_agent.py", "bardo-agent.mjs"] {
        folder.write(name, fs::read_to_string(examples.join(name)).unwrap());
    }
    folder.write("bad.py", "from bardo_agent import run\nprint('a log')\nrun(lambda news, trial: print('a log too'))\n");
    folder.write("bad.mjs", "import { run } from './bardo-agent.mjs';\nrun((news) => console.log('a log too'));\n");
    for subject in ["process:node bad.mjs", "process:python3 bad.py"] {
        folder.run(&["run", "--subject", subject, "--suite", SELECTION[1], "--case", "how_much_usdc"]);
        let shown = show(&folder, "how_much_usdc");
        if subject.contains("node") {
            let why = shown["ending"]["why"].as_str().unwrap();
            assert!(why.contains("the handler must return a move"), "{why}");
            assert!(shown["output"]["stderr"].as_str().unwrap().contains("a log too"), "{shown:#}");
        } else {
            assert_eq!(shown["ending"]["ending"], "malformed_move", "printed before run() took stdout: {shown:#}");
        }
    }
}
