//! Baselines from result files of promptfoo: which test passed with which provider.

use super::super::plain_results::read_plain_results;
use crate::args::{GoldenRunArgs, ReportFormat};
use crate::exit::ExitKind;
use crate::files;
use crate::io::CliOutput;
use crate::report::{self, FORMAT, columns, escape_control};
use crate::workspace_source::WorkspaceSource;
use campaign::PlainResult;
use model::UserError;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// File of the baseline, below the workspace or the current folder.
pub(super) const RESULT_BASELINE: &str = "golden/promptfoo.json";
/// Format of the file.
const BASELINE_FORMAT: u32 = 1;

/// Baseline as it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultBaseline {
    format: u32,
    tests: Vec<BaselineTest>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BaselineTest {
    test: String,
    provider: String,
    /// Trials that passed, and those with a result.
    passed: u64,
    of: u64,
}

/// Test and provider.
type TestKey = (String, String);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct TestTally {
    passed: u64,
    of: u64,
}

fn tallies(results: &[PlainResult]) -> BTreeMap<TestKey, TestTally> {
    let mut found: BTreeMap<TestKey, TestTally> = BTreeMap::new();
    for result in results {
        let tally = found.entry((result.case.clone(), result.subject.clone())).or_default();
        if let Some(passed) = result.passed {
            *tally = TestTally { passed: tally.passed + u64::from(passed), of: tally.of + 1 };
        }
    }
    found
}

fn baseline_path(source: &WorkspaceSource) -> PathBuf {
    match source {
        WorkspaceSource::Folder(folder) => folder.join(RESULT_BASELINE),
        WorkspaceSource::Embedded => PathBuf::from(RESULT_BASELINE),
    }
}

/// Writes the results as the baseline. Tests in error have no result, and none is written.
pub(super) fn update_results(io: &CliOutput, source: &WorkspaceSource, args: &GoldenRunArgs) -> ExitKind {
    let refuse = |why: UserError| report::print_refusal(io, "golden update", &[why]);
    let results = match read_plain_results(Path::new(args.run.as_deref().unwrap_or_default())) {
        Ok(results) => tallies(&results),
        Err(why) => return refuse(why),
    };
    let errors = results.values().filter(|tally| tally.of == 0).count();
    if errors > 0 {
        let what = format!("{} without a result", model::count(errors, "test"));
        io.print_message(&UserError::new(what, "run them again; nothing was written").to_string());
        return ExitKind::Incomplete;
    }
    let tests =
        results.into_iter().map(|((test, provider), tally)| BaselineTest { test, provider, passed: tally.passed, of: tally.of }).collect();
    let baseline = ResultBaseline { format: BASELINE_FORMAT, tests };
    let path = baseline_path(source);
    let text = match serde_json::to_string_pretty(&baseline) {
        Ok(text) => format!("{text}\n"),
        Err(why) => return refuse(UserError::without_remedy(why.to_string())),
    };
    if let Err(why) = files::write(&path, &text) {
        return refuse(UserError::without_remedy(format!("{} could not be written: {why}", path.display())));
    }
    io.print_result(&format!("{}  {}\n", path.display(), model::count(baseline.tests.len(), "test")), ExitKind::Clean)
}

/// Compares results with the baseline: exit 1 if a test got worse, exit 3 if one is missing or has no result.
pub(super) fn diff_results(io: &CliOutput, source: &WorkspaceSource, args: &GoldenRunArgs) -> ExitKind {
    let (before, after) = match read_both(source, args) {
        Ok(both) => both,
        Err(why) => return report::print_refusal(io, "golden diff", &[why]),
    };
    let (mut worse, mut better, mut missing) = (vec![], vec![], vec![]);
    for (key, earlier) in &before {
        match after.get(key).filter(|later| later.of > 0) {
            None => missing.push(key),
            // Shares of trials, without rounding.
            Some(later) if later.passed * earlier.of < earlier.passed * later.of => worse.push(key),
            Some(later) if later.passed * earlier.of > earlier.passed * later.of => better.push(key),
            Some(_) => {}
        }
    }
    let new: Vec<&TestKey> = after.keys().filter(|key| !before.contains_key(*key)).collect();
    let exit = match (worse.is_empty(), missing.is_empty() && !before.is_empty()) {
        (false, _) => ExitKind::Missed,
        (true, false) => ExitKind::Incomplete,
        (true, true) => ExitKind::Clean,
    };
    if io.format == ReportFormat::Json {
        let listed =
            |keys: &[&TestKey]| keys.iter().map(|(test, provider)| json!({ "test": test, "provider": provider })).collect::<Vec<_>>();
        let document = json!({ "format": FORMAT, "command": "golden diff", "compared": before.len() - missing.len(), "worse": listed(&worse),
            "better": listed(&better), "missing": listed(&missing), "new": listed(&new), "exit": exit.code() });
        return io.print_result(&format!("{document:#}\n"), exit);
    }
    let word = match exit {
        ExitKind::Clean => io.paint.good("UNCHANGED"),
        ExitKind::Missed | ExitKind::Usage => io.paint.bad("CHANGED"),
        ExitKind::Incomplete => io.paint.unsure("INCOMPLETE"),
    };
    let compared = model::count(before.len() - missing.len(), "test");
    let mut text = format!(
        "{word}  {compared} compared: {} worse, {} better, {} missing, {} new\n",
        worse.len(),
        better.len(),
        missing.len(),
        new.len()
    );
    for (label, keys) in [("worse", &worse), ("missing", &missing), ("better", &better)] {
        for (test, provider) in keys {
            text.push_str(&columns([label, &escape_control(test), &format!("{}\n", escape_control(provider))]));
        }
    }
    io.print_result(&text, exit)
}

type BothTallies = (BTreeMap<TestKey, TestTally>, BTreeMap<TestKey, TestTally>);

fn read_both(source: &WorkspaceSource, args: &GoldenRunArgs) -> Result<BothTallies, UserError> {
    let path = baseline_path(source);
    let missing = |why: std::io::Error| {
        UserError::new(format!("{}: {why}", path.display()), "create it with `bardo-eval golden update RESULTS.json`")
    };
    let text = files::read_results(&path).map_err(missing)?;
    let wrong = |why: String| UserError::new(format!("{}: {why}", path.display()), "write it again with `bardo-eval golden update`");
    let baseline: ResultBaseline = serde_json::from_str(&text).map_err(|why| wrong(why.to_string()))?;
    if baseline.format != BASELINE_FORMAT {
        return Err(wrong(format!("it has format {}", baseline.format)));
    }
    let before = baseline.tests.into_iter().map(|one| ((one.test, one.provider), TestTally { passed: one.passed, of: one.of })).collect();
    let after = tallies(&read_plain_results(Path::new(args.run.as_deref().unwrap_or_default()))?);
    Ok((before, after))
}
