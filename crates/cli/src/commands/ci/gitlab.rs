//! `ci gitlab`: a pipeline of GitLab that runs the tiers of each event.

use super::install::{InstallMethod, archive_commands};
use super::pipeline::{CiPipeline, quote, quote_yaml};
use crate::args::CiGitlabArgs;
use crate::workspace_source::DEFAULTS_FILE;
use campaign::DECIDING_PARTS;
use model::CiRow;

const PIPELINE: &str = include_str!("gitlab.yml");
pub(super) const PIPELINE_PATH: &str = ".gitlab-ci.yml";

/// Returns the text of the pipeline.
pub(super) fn pipeline_file(pipeline: &CiPipeline, args: &CiGitlabArgs) -> String {
    let options = &args.pipeline;
    let recorded = pipeline.recorded_tiers();
    let (url, sha256) = match &pipeline.install {
        InstallMethod::Archive { url, sha256 } => (quote_yaml(url), quote_yaml(sha256)),
        InstallMethod::Variables | InstallMethod::Command(_) => (String::new(), String::new()),
    };
    let mut command = pipeline.own_command("gitlab", options);
    if args.image != DEFAULT_IMAGE {
        command.push_str(&format!(" --image {}", quote(&args.image)));
    }
    pipeline
        .template(options, "merge request")
        .section("fixed_archive", !url.is_empty())
        .set("COMMAND", command)
        .set("UNSET_KEYS", pipeline.keys.join(" "))
        .set(
            "INSTALL_NOTE",
            if url.is_empty() { "the variables BARDO_EVAL_URL and BARDO_EVAL_SHA256 of the project" } else { "the URL and hash below" },
        )
        .set("URL", url)
        .set("SHA256", sha256)
        .set("IMAGE", quote_yaml(&args.image))
        .set("INSTALL", install_commands(&pipeline.install))
        .set("WORKSPACE", pipeline.workspace_flag())
        .set("SUBJECT", quote(&pipeline.subject))
        .set("CASSETTES", quote_yaml(&pipeline.cassettes()))
        .set("CASSETTES_TEXT", pipeline.cassettes())
        .set("HAS_GOLDEN", has_golden(pipeline))
        .set("RECORD_RULES", record_rules(pipeline, &options.branch, &recorded))
        .set("TIER_JOBS", tier_jobs(pipeline, &options.branch))
        .render(PIPELINE)
}

const DEFAULT_IMAGE: &str = "buildpack-deps:bookworm-scm";

fn install_commands(install: &InstallMethod) -> String {
    match install {
        InstallMethod::Command(command) => command.clone(),
        InstallMethod::Archive { .. } | InstallMethod::Variables => {
            format!("temp=$(mktemp -d)\n{}cp \"$program\" \"$BARDO_EVAL_BIN/bardo-eval\"", archive_commands("$temp"))
        }
    }
}

fn has_golden(pipeline: &CiPipeline) -> String {
    match pipeline.folder.as_deref() {
        None => "true".to_owned(),
        Some(folder) => format!("[ -d {} ]", quote(&format!("{folder}/golden"))),
    }
}

/// Returns the rule of one event for a tier; `None` for an event that GitLab does not have.
fn event_rule(pipeline: &CiPipeline, row: &CiRow, branch: &str, tier: u64) -> Option<String> {
    let (condition, sees_changes) = match row.event.as_str() {
        "pull_request" => ("$CI_PIPELINE_SOURCE == \"merge_request_event\"".to_owned(), true),
        "merge" => (format!("$CI_PIPELINE_SOURCE == \"push\" && $CI_COMMIT_BRANCH == {}", quote_yaml(branch)), true),
        "nightly" => ("$CI_PIPELINE_SOURCE == \"schedule\"".to_owned(), false),
        "manual" => (format!("$CI_PIPELINE_SOURCE == \"web\" && $TIERS =~ /\\b{tier}\\b/"), false),
        _ => return None,
    };
    let mut rule = format!("- if: {condition}\n");
    if sees_changes && !row.when_changed.is_empty() {
        rule.push_str("  changes:\n");
        let listed = row.when_changed.iter().map(String::as_str);
        let unlisted = DECIDING_PARTS.into_iter().filter(|part| !row.when_changed.iter().any(|listed| listed == part));
        for path in listed.chain(unlisted).flat_map(|part| changed_paths(pipeline.folder.as_deref(), part)) {
            rule.push_str(&format!("    - {}\n", quote_yaml(&path)));
        }
    }
    Some(rule)
}

/// Returns the patterns of the files of a part of the workspace, or below a path of the repository.
fn changed_paths(folder: Option<&str>, part: &str) -> Vec<String> {
    match part.strip_prefix('/') {
        Some(path) => vec![path.to_owned(), format!("{path}/**/*")],
        None => {
            let root = folder.filter(|folder| *folder != ".").map_or_else(String::new, |folder| format!("{folder}/"));
            let own = if part.ends_with(".yaml") { format!("{root}{part}") } else { format!("{root}{part}/**/*") };
            // The defaults are also read from the folder of the job, the root of the repository.
            let beside = (part == DEFAULTS_FILE && !root.is_empty()).then(|| part.to_owned());
            std::iter::once(own).chain(beside).collect()
        }
    }
}

fn tier_rules(pipeline: &CiPipeline, branch: &str, tier: u64, is_included: impl Fn(&CiRow) -> bool) -> String {
    let rows = pipeline.ci.iter().filter(|row| row.tiers.contains(&tier) && is_included(row));
    rows.filter_map(|row| event_rule(pipeline, row, branch, tier)).collect()
}

/// Returns the rules of the recording job; in merge requests it runs only if the subject's replies must be recorded.
fn record_rules(pipeline: &CiPipeline, branch: &str, recorded: &[u64]) -> String {
    let is_included = |row: &CiRow| pipeline.records_subject() || row.event != "pull_request";
    recorded.iter().map(|tier| tier_rules(pipeline, branch, *tier, is_included)).collect()
}

/// Returns one job for each tier.
fn tier_jobs(pipeline: &CiPipeline, branch: &str) -> String {
    let job = |tier: u64| {
        let rules = tier_rules(pipeline, branch, tier, |_| true);
        let rules: String = rules.lines().map(|line| format!("    {line}\n")).collect();
        format!("\ntier-{tier}:\n  extends: .tier\n  variables: {{ TIER: \"{tier}\" }}\n  rules:\n{rules}")
    };
    let jobs = pipeline.tiers.iter().filter(|tier| pipeline.ci.iter().any(|row| row.tiers.contains(&tier.tier)));
    jobs.map(|tier| job(tier.tier)).collect()
}
