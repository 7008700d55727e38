//! `ci`: tiers of an event, files for CI systems that run them, and the verdict of a job.

mod github;
mod gitlab;
mod install;
mod pipeline;
mod plan;
mod template;
mod verdict;

use crate::args::{CiCommand, CiPipelineArgs};
use crate::exit::ExitKind;
use crate::files;
use crate::io::CliOutput;
use crate::report;
use crate::workspace_source::WorkspaceSource;
use model::UserError;
use pipeline::CiPipeline;
use std::path::Path;

/// `asked_embedded` is true if the user named the embedded workspace, false if it is only the default.
pub(crate) fn ci(io: &CliOutput, source: &WorkspaceSource, command: &CiCommand, asked_embedded: bool) -> ExitKind {
    match command {
        CiCommand::Plan(args) => plan::plan(io, source, args),
        CiCommand::Github(args) => match open_pipeline(io, source, ("ci github", args), asked_embedded) {
            Ok(pipeline) => write_file(io, args, "ci github", github::WORKFLOW_PATH, &github::workflow(&pipeline, args)),
            Err(exit) => exit,
        },
        CiCommand::Gitlab(args) => match open_pipeline(io, source, ("ci gitlab", &args.pipeline), asked_embedded) {
            Ok(pipeline) => write_file(io, &args.pipeline, "ci gitlab", gitlab::PIPELINE_PATH, &gitlab::pipeline_file(&pipeline, args)),
            Err(exit) => exit,
        },
        CiCommand::Verdict(args) => verdict::verdict(io, source, args),
    }
}

/// Opens the workspace and checks the options, or reports their mistakes and returns the exit.
fn open_pipeline(
    io: &CliOutput,
    source: &WorkspaceSource,
    (command, args): (&str, &CiPipelineArgs),
    asked_embedded: bool,
) -> Result<CiPipeline, ExitKind> {
    if *source == WorkspaceSource::Embedded && !asked_embedded {
        let remedy = "create one with `bardo-eval init`, name one with --workspace, or evaluate the embedded one with --embedded";
        return Err(report::print_refusal(io, command, &[UserError::new("there is no workspace in ./evals", remedy)]));
    }
    let workspace = super::open_workspace(io, source, command)?;
    let pipeline = CiPipeline::resolve(&workspace, source, args).map_err(|errors| report::print_refusal(io, command, &errors))?;
    for note in pipeline.notes() {
        io.print_message(&note);
    }
    Ok(pipeline)
}

fn write_file(io: &CliOutput, args: &CiPipelineArgs, command: &str, path: &str, text: &str) -> ExitKind {
    if args.print {
        return io.print_result(text, ExitKind::Clean);
    }
    if files::exists(Path::new(path)) && !args.force {
        let why = UserError::new(format!("{path} exists"), "overwrite it with --force or show the new one with --print");
        return report::print_refusal(io, command, &[why]);
    }
    match files::write(Path::new(path), text) {
        Ok(()) => io.print_result(&format!("{path} written\n"), ExitKind::Clean),
        Err(error) => {
            io.print_message(&format!("{path} could not be written: {error}"));
            ExitKind::Incomplete
        }
    }
}
