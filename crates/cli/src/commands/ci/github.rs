//! `ci github`: a workflow of GitHub Actions that runs the tiers of each event.

use super::install::{InstallMethod, archive_commands};
use super::pipeline::{CiPipeline, quote, quote_yaml};
use super::template::TemplateValues;
use crate::args::CiPipelineArgs;

const WORKFLOW: &str = include_str!("workflow.yml");
pub(super) const WORKFLOW_PATH: &str = ".github/workflows/bardo-eval.yml";

/// Returns the text of the workflow.
pub(super) fn workflow(pipeline: &CiPipeline, args: &CiPipelineArgs) -> String {
    let recorded = pipeline.recorded_tiers();
    let folder = pipeline.folder.as_deref();
    let tiers: Vec<String> = [1].into_iter().chain(pipeline.tiers.iter().map(|tier| tier.tier)).map(|tier| tier.to_string()).collect();
    let key_env: Vec<String> = pipeline.keys.iter().map(|key| format!("{key}: ${{{{ secrets.{key} }}}}")).collect();
    let (url, sha256, note) = archive_values(&pipeline.install);
    TemplateValues::default()
        .section("pull_request", pipeline.runs_on("pull_request"))
        .section("merge", pipeline.runs_on("merge"))
        .section("nightly", pipeline.runs_on("nightly"))
        .section("manual", pipeline.runs_on("manual"))
        .section("keys", !pipeline.keys.is_empty())
        .section("archive", pipeline.install.is_archive())
        .section("record", !recorded.is_empty())
        .section("setup", args.setup.is_some())
        .set("COMMAND", pipeline.own_command("github", args))
        .set(
            "TIERS_FILE",
            folder.map_or_else(|| "tiers.yaml of the embedded workspace".to_owned(), |folder| format!("{folder}/tiers.yaml")),
        )
        .set("JUDGE", pipeline.judge_note())
        .set("KEY_NAMES", pipeline.keys.join(", "))
        .set("KEY_ENV", key_env.join("\n"))
        .set("HAS_KEYS", pipeline.has_keys())
        .set("INSTALL_NOTE", note)
        .set("URL", url)
        .set("SHA256", sha256)
        .set("BRANCH", quote_yaml(&args.branch))
        .set("ALL_TIERS", tiers.join(" "))
        .set("INSTALL", install_commands(&pipeline.install))
        .set("SETUP", args.setup.clone().unwrap_or_default())
        .set("WORKSPACE", escape_expressions(&pipeline.workspace_flag()))
        .set("SUBJECT", escape_expressions(&quote(&pipeline.subject)))
        .set("CASSETTES", quote_yaml(&escape_expressions(&pipeline.cassettes())))
        .set("RECORD_IF", record_condition(pipeline, &recorded))
        .set("RECORDED_TIERS", recorded.iter().map(u64::to_string).collect::<Vec<_>>().join(" "))
        .set("RECORDING_BUDGET", pipeline.recording_budget())
        .set("EVALUATE_NEEDS", if recorded.is_empty() { "smoke" } else { "[smoke, record]" })
        .set("IF_GOLDEN", folder.map_or_else(String::new, |folder| format!(" && hashFiles({}) != ''", literal(&golden_files(folder)))))
        .render(WORKFLOW)
}

/// Returns URL and hash of the archive as parts of an expression, and where they come from.
fn archive_values(install: &InstallMethod) -> (String, String, &'static str) {
    match install {
        InstallMethod::Archive { url, sha256 } => (literal(url), literal(sha256), "the URL and hash below"),
        InstallMethod::Variables | InstallMethod::Command(_) => (
            "vars.BARDO_EVAL_URL".into(),
            "vars.BARDO_EVAL_SHA256".into(),
            "the variables BARDO_EVAL_URL and BARDO_EVAL_SHA256 of the repository",
        ),
    }
}

fn install_commands(install: &InstallMethod) -> String {
    match install {
        InstallMethod::Command(command) => command.clone(),
        InstallMethod::Archive { .. } | InstallMethod::Variables => {
            format!("{}dirname \"$program\" >> \"$GITHUB_PATH\"", archive_commands("$RUNNER_TEMP"))
        }
    }
}

/// Returns the condition of the recording job: a recorded tier runs; in pull requests only if the subject's replies must be recorded.
fn record_condition(pipeline: &CiPipeline, recorded: &[u64]) -> String {
    let planned: Vec<String> = recorded.iter().map(|tier| format!("contains(fromJSON(needs.smoke.outputs.tiers), {tier})")).collect();
    let planned = if planned.len() == 1 { planned.concat() } else { format!("({})", planned.join(" || ")) };
    if pipeline.records_subject() { planned } else { format!("github.event_name != 'pull_request' && {planned}") }
}

fn golden_files(folder: &str) -> String {
    if folder == "." { "golden/**".to_owned() } else { format!("{folder}/golden/**") }
}

/// Quotes a text for an expression.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Keeps GitHub from reading an expression in a text.
fn escape_expressions(text: &str) -> String {
    text.replace("${{", "${{ '${{' }}")
}
