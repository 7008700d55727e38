//! `ci plan`: tiers that an event runs.

use crate::args::{CiPlanArgs, ReportFormat};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{self, FORMAT, table};
use crate::workspace_source::WorkspaceSource;
use crate::{env, git};
use campaign::{CiEvent, TierPlan, ci_plan, plain_path};
use model::UserError;
use serde_json::json;
use std::io::Read;
use std::path::Path;

/// Most bytes read from standard input. Of a longer list nothing is known.
const MAX_LIST_BYTES: u64 = 8 << 20;

pub(super) fn plan(io: &CliOutput, source: &WorkspaceSource, args: &CiPlanArgs) -> ExitKind {
    let workspace = match super::super::open_workspace(io, source, "ci plan") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let changed = match args.changed.as_deref().map(changed_files).transpose() {
        Ok(changed) => changed.flatten(),
        Err(why) => return report::print_refusal(io, "ci plan", &[why]),
    };
    let roots = match source {
        WorkspaceSource::Embedded => Some(vec![]),
        WorkspaceSource::Folder(folder) => workspace_roots(folder, &env::current_dir()),
    };
    // Without a place of the workspace no path tells if it is part of it.
    let (changed, roots) = changed.zip(roots).unzip();
    let ci_event = CiEvent { event: args.event.clone(), changed, roots: roots.unwrap_or_default(), requested_tiers: args.tier.clone() };
    let tiers = match ci_plan(&workspace, &ci_event) {
        Ok(tiers) => tiers,
        Err(unknown) => return report::print_refusal(io, "ci plan", &unknown.into_iter().map(UserError::from).collect::<Vec<_>>()),
    };
    let runs: Vec<u64> = tiers.iter().filter(|tier| tier.runs).map(|tier| tier.tier).collect();
    let text = match io.format {
        ReportFormat::Json => format!("{:#}\n", document(&ci_event, &tiers, &runs)),
        // Format of a step output in GitHub Actions.
        ReportFormat::Github => format!("tiers={}\n", json!(runs)),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Sarif => text(&ci_event, tiers, &runs),
    };
    io.print_result(&text, ExitKind::Clean)
}

fn document(ci_event: &CiEvent, tiers: &[TierPlan], runs: &[u64]) -> serde_json::Value {
    let rows: Vec<_> =
        tiers.iter().map(|tier| json!({ "tier": tier.tier, "name": tier.name, "runs": tier.runs, "why": tier.why })).collect();
    json!({ "format": FORMAT, "command": "ci plan", "event": ci_event.event, "tiers": runs, "plan": rows, "exit": 0 })
}

fn text(ci_event: &CiEvent, tiers: Vec<TierPlan>, runs: &[u64]) -> String {
    let rows = tiers
        .into_iter()
        .map(|tier| vec![tier.tier.to_string(), tier.name, if tier.runs { "runs" } else { "skipped" }.to_owned(), tier.why])
        .collect();
    let runs: Vec<String> = runs.iter().map(ToString::to_string).collect();
    format!("{}\n{}: tiers {}\n", table(&["tier", "name", "", "why"], rows), ci_event.event, runs.join(", "))
}

/// Returns the workspace folder as a prefix of changed paths, from the repository and from the working directory; `None` if neither is known.
fn workspace_roots(folder: &Path, working: &Path) -> Option<Vec<String>> {
    let inside = working.join(folder);
    let from_working = inside.strip_prefix(working).ok().and_then(|inside| plain_path(&inside.to_str()?.replace('\\', "/")));
    match git::repository_prefix(folder, working) {
        Ok(Some(from_repository)) => Some([from_repository].into_iter().chain(from_working).collect()),
        Ok(None) => from_working.map(|root| vec![root]),
        Err(_) => None,
    }
}

/// Returns the changed files; `-` reads them from standard input, one path per line. `None` if they cannot be told.
fn changed_files(given: &[String]) -> Result<Option<Vec<String>>, UserError> {
    if given != ["-"] {
        return Ok(plain_paths(given.iter().map(String::as_str)));
    }
    let read = read_list(std::io::stdin().lock());
    read.map_err(|error| UserError::without_remedy(format!("cannot read the list of changed files: {error}")))
}

/// Reads paths, one per line; `None` if they are too many, not text, or none: a git that failed prints an empty list.
fn read_list(source: impl Read) -> std::io::Result<Option<Vec<String>>> {
    let mut bytes = vec![];
    source.take(MAX_LIST_BYTES + 1).read_to_end(&mut bytes)?;
    let text = if bytes.len() as u64 > MAX_LIST_BYTES { None } else { String::from_utf8(bytes).ok() };
    let paths = text.and_then(|text| plain_paths(text.lines().map(str::trim).filter(|line| !line.is_empty())));
    Ok(paths.filter(|paths| !paths.is_empty()))
}

/// Returns paths in one notation; `None` if one of them is absolute, leads upwards, or begins with a quotation mark and is not quoted as git
/// quotes odd names.
fn plain_paths<'p>(paths: impl Iterator<Item = &'p str>) -> Option<Vec<String>> {
    paths.map(|path| if path.starts_with('"') { plain_path(&git::unquote_path(path)?) } else { plain_path(path) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_cannot_be_told_are_unknown() {
        assert_eq!(read_list("./a.yaml\n\n b/c.yaml \n".as_bytes()).unwrap(), Some(vec!["a.yaml".to_owned(), "b/c.yaml".to_owned()]));
        assert_eq!(read_list("\n".as_bytes()).unwrap(), None, "a git that failed lists nothing");
        assert_eq!(read_list(std::io::repeat(b'a')).unwrap(), None, "too long");
        let longest = format!("{}\n", "a".repeat(MAX_LIST_BYTES as usize - 1));
        assert!(read_list(longest.as_bytes()).unwrap().is_some());
        let quoted = read_list("\"evals/suites/a\\\"b.yaml\"\n\"evals/tools/\\303\\266.yaml\"\n".as_bytes()).unwrap();
        assert_eq!(quoted, Some(vec!["evals/suites/a\"b.yaml".to_owned(), "evals/tools/ö.yaml".to_owned()]));
        for list in ["a.yaml\n../b.yaml", "/a.yaml", "\"evals/t\\303ools.yaml\"", "\"evals/a.yaml"] {
            assert_eq!(read_list(list.as_bytes()).unwrap(), None, "{list}");
        }
        assert_eq!(read_list(&b"\xff.yaml"[..]).unwrap(), None, "not text");
    }

    #[test]
    fn workspace_outside_of_a_repository_is_found_from_the_working_directory() {
        let working = tempfile::tempdir().unwrap();
        let working = working.path();
        let folder = working.join("services/evals");
        std::fs::create_dir_all(&folder).unwrap();
        let roots = |folder: &Path| workspace_roots(folder, working);
        assert_eq!(roots(&folder), Some(vec!["services/evals".to_owned()]), "absolute");
        assert_eq!(roots(&working.join("./services//evals/")), Some(vec!["services/evals".to_owned()]));
        assert_eq!(workspace_roots(working, &folder), None, "above the working directory");
    }
}
