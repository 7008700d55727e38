//! Message of a run that did not run all its trials by its own decision.

use super::service_remedy::service_remedy;
use crate::io::CliOutput;
use crate::report::{agent_remedy, escape_control, output_hint, output_lines};
use campaign::{EarlyStop, RunSummary, StrandedTrials};
use model::SubjectFile;

/// Returns what happened and what to do, if the run stopped early.
pub(super) fn stop_message(io: &CliOutput, summary: &RunSummary, subjects: &[SubjectFile], resume: Option<&str>) -> Option<String> {
    let not_run = || model::count(summary.outcomes.planned() - summary.outcomes.ended(), "trial");
    Some(match summary.stop.as_ref()? {
        EarlyStop::MaxFail { failed } => {
            let failed = model::count(*failed, "trial");
            format!("stopped by --max-fail: {failed} failed, {} not run; run without --max-fail to see them all", not_run())
        }
        EarlyStop::Decided => {
            let (ended, planned) = (summary.outcomes.ended(), model::count(summary.outcomes.planned(), "trial"));
            format!("stopped by --stop-when-decided: every gate is decided after {ended} of {planned}")
        }
        EarlyStop::NoWorker(stranded) => stranded_message(stranded, resume),
        EarlyStop::Preflight { case, subject, ending, output } => {
            let agent = subjects.iter().find(|agent| *agent.name == *subject);
            let (subject, case, ended) = (escape_control(subject), escape_control(case), escape_control(&ending.to_string()));
            let mut lines =
                vec![format!("stopped after the first trial of {subject}: {} not run", not_run()), format!("case {case} {ended}")];
            if let Some(output) = output {
                lines.extend(output_hint(ending, output));
                lines.extend(output_lines(io, output));
            }
            let stderr = output.as_ref().map_or("", |output| output.stderr.as_str());
            let service = agent.and_then(|agent| service_remedy(agent, ending)).map(|remedy| escape_control(&remedy));
            lines.push(format!("to do: {}", service.unwrap_or_else(|| agent_remedy(ending, stderr))));
            lines.push(match resume {
                Some(resume) => format!("or run the other trials all the same: {resume}"),
                None => "or run the other trials all the same: --no-preflight".to_owned(),
            });
            lines.join("\n")
        }
    })
}

/// Says which trials no worker can play, and why.
fn stranded_message(stranded: &StrandedTrials, resume: Option<&str>) -> String {
    let (trials, subjects) = (model::count(stranded.trials, "trial"), escape_control(&stranded.subjects.join(", ")));
    let mut lines = vec![format!("no worker could play {trials} of {subjects} within {} seconds", stranded.waited_s)];
    if stranded.reasons.is_empty() {
        lines.push("no worker is connected; start one with `bardo-eval work` and the same --store".to_owned());
    }
    lines.extend(stranded.reasons.iter().map(|reason| format!("worker {}", escape_control(reason))));
    lines.extend(resume.map(|resume| format!("resume with: {resume} --workers 0")));
    lines.join("\n")
}
