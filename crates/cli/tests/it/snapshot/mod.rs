//! Reports, listings and help texts, whole: a change of layout shows as a changed file in `snapshots/`.
//!
//! `INSTA_UPDATE=always cargo test -p bardo-eval --test it snapshot` updates them; review the difference before committing.

mod catalogue;
mod help;
mod problems;
mod runs;
mod screen;
mod stored;
mod world;

use crate::harness::{ProgramOutput, TestFolder};

/// Replacements for values that depend on the machine, the date or the content of a workspace.
const FILTERS: &[(&str, &str)] = &[
    (r"\b0x[0-9a-f]{64}\b", "[hash]"),
    (r"\b[0-9a-f]{64}\b", "[hash]"),
    // As wide as the original, so that columns stay aligned.
    (r"\b[0-9a-f]{12}\b", "[short hash]"),
    (r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z", "[date and time, UTC]"),
    (r"\b20\d{2}-\d{2}-\d{2}\b", "[the date]"),
    (r"took\s+[0-9.]+ s", "took [seconds] s"),
    (r"time per trial [0-9.]+ → [0-9.]+ s", "time per trial [seconds] s"),
    (r#"time="[0-9.]+""#, "time=\"[seconds]\""),
    (r"calldata [0-9a-f]{8}\b", "calldata [8 hex]"),
    // Gas, and the rest of one ether after paying it.
    (r#"(\bgas"?:? ?)\d+"#, "${1}[gas]"),
    (r#""gas_used": ?\d+"#, "\"gas_used\": [gas]"),
    (r"\b0\.999\d+", "[1 less gas]"),
    (r"−0\.000\d+", "−[gas]"),
    (r"\b999\d{15}\b", "[1 less gas]"),
    (
        concat!(
            r"\b",
            env!("CARGO_PKG_VERSION_MAJOR"),
            r"\.",
            env!("CARGO_PKG_VERSION_MINOR"),
            r"\.",
            env!("CARGO_PKG_VERSION_PATCH"),
            r"\b"
        ),
        "[version]",
    ),
];

/// Runs a command and compares its exit code and output with the stored text.
#[track_caller]
fn snapshot(name: &str, folder: &TestFolder, args: &[&str]) {
    let ran = folder.run(args);
    compare(name, &args.join(" "), &shown(folder, &ran));
}

/// Like [`snapshot`], in every format a report has.
#[track_caller]
fn snapshot_formats(name: &str, folder: &TestFolder, args: &[&str]) {
    for format in ["text", "json", "markdown", "junit", "github", "sarif"] {
        snapshot(&format!("{name}_{format}"), folder, &[args, &["--format", format]].concat());
    }
}

fn shown(folder: &TestFolder, ran: &ProgramOutput) -> String {
    let mut text = format!("exit {}\n", ran.code.map_or("by a signal".to_owned(), |code| code.to_string()));
    let stderr: String = ran.stderr.split_inclusive('\n').filter(|line| !is_progress(line)).collect();
    for (stream, printed) in [("stdout", &ran.stdout), ("stderr", &stderr)] {
        if !printed.is_empty() {
            text.push_str(&format!("--- {stream}\n{printed}"));
        }
    }
    text.replace(&folder.path("").display().to_string(), "[folder]/")
}

/// Returns whether a line is printed only if a run takes long.
fn is_progress(line: &str) -> bool {
    line.contains(" trials, ") && line.contains(" per second, ") || line.ends_with(" trials done\n")
}

#[track_caller]
fn compare(name: &str, command: &str, text: &str) {
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_description(format!("bardo-eval {command}"));
    for (pattern, to) in FILTERS {
        settings.add_filter(pattern, *to);
    }
    settings.bind(|| insta::assert_snapshot!(name, text));
}
