//! `ci github`: a workflow of GitHub Actions that runs the tiers of each event.

use super::install::{InstallMethod, archive_commands};
use super::pipeline::{CiPipeline, quote, quote_yaml};
use crate::args::CiPipelineArgs;

const WORKFLOW: &str = include_str!("workflow.yml");
pub(super) const WORKFLOW_PATH: &str = ".github/workflows/bardo-eval.yml";

/// Returns the text of the workflow.
pub(super) fn workflow(pipeline: &CiPipeline, args: &CiPipelineArgs) -> String {
    let recorded = pipeline.recorded_tiers();
    let folder = pipeline.folder.as_deref();
    let env = |keys: &[String]| keys.iter().map(|key| format!("{key}: ${{{{ secrets.{key} }}}}")).collect::<Vec<_>>().join("\n");
    let (url, sha256, note) = archive_values(&pipeline.install);
    // Only a manual run has inputs.
    let first = |input: &str| if pipeline.runs_on("manual") { format!("inputs.{input} || ") } else { String::new() };
    let inputs = if pipeline.runs_on("manual") { "the inputs of a manual run, else " } else { "" };
    pipeline
        .template(args, "pull request")
        .set("COMMAND", pipeline.own_command("github", args))
        .set("KEY_ENV", env(&pipeline.keys))
        .set("SUBJECT_KEY_ENV", env(&pipeline.subject_keys))
        .set("INSTALL_NOTE", format!("{inputs}{note}"))
        .set("URL", format!("{}{url}", first("install_url")))
        .set("SHA256", format!("{}{sha256}", first("install_sha256")))
        .set("INSTALL", install_commands(&pipeline.install))
        .set("WORKSPACE", escape_expressions(&pipeline.workspace_flag()))
        .set("SUBJECT", escape_expressions(&quote(&pipeline.subject)))
        .set("CASSETTES", quote_yaml(&escape_expressions(&pipeline.cassettes())))
        .set("RECORD_IF", record_condition(pipeline, &recorded))
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
