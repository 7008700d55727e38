//! `compare`: two runs, or a run and the golden baselines, paired by case.

mod named_side;

pub(super) use named_side::{NamedSide, SubjectChoice, pair_subjects};

use crate::args::{CompareArgs, FailOn};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{self, ComparisonReport};
use crate::workspace_source::WorkspaceSource;
use campaign::{SubjectComparison, compare_subjects, stored_run_workspace};
use model::{UserError, Workspace};

pub(crate) fn compare(io: &CliOutput, source: &WorkspaceSource, args: &CompareArgs) -> ExitKind {
    let workspace = match super::open_checked_workspace(io, source, "compare") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let problems = super::report_files::report_file_problems(io, &args.reports);
    if !problems.is_empty() {
        return report::print_refusal(io, "compare", &problems);
    }
    match compared(io, source, workspace, args) {
        Err(errors) => report::print_refusal(io, "compare", &errors),
        Ok(comparisons) => {
            let exit = comparison_exit(&comparisons, args.fail_on);
            let store_flag = args.store.store_flag();
            let shown = ComparisonReport { comparisons: &comparisons, store_flag, exit, fail_on: Some(args.fail_on), left_out_showing: 0 };
            report::print_comparison(io, &args.reports, &shown)
        }
    }
}

fn compared(
    io: &CliOutput,
    source: &WorkspaceSource,
    workspace: Workspace,
    args: &CompareArgs,
) -> Result<Vec<SubjectComparison>, Vec<UserError>> {
    let open = |name: Option<&str>| NamedSide::open(source, &args.store.store, name);
    let (before, after) = (open(Some(&args.before))?, open(args.after.as_deref())?);
    for side in [&before, &after] {
        side.print_unfinished(io, &args.store.store_flag());
    }
    let workspace = match after.stored_run().or(before.stored_run()) {
        Some(run) => stored_run_workspace(workspace, run),
        None => workspace,
    };
    let unjudged = before.unjudged().max(after.unjudged());
    let pairs = pair_subjects(&before.choice(), &after.choice()).map_err(|why| vec![why])?;
    let compare = |(one, other): &(String, String)| {
        Ok(compare_subjects(&before.read(&workspace, one, unjudged)?, &after.read(&workspace, other, unjudged)?))
    };
    pairs.iter().map(compare).collect::<Result<_, UserError>>().map_err(|why| vec![why])
}

/// Returns the exit of comparisons: missed on a regression, incomplete without enough evidence. Whether a case or a gate got worse is seen in any number
/// of cases; whether the rate did needs many.
pub(super) fn comparison_exit(comparisons: &[SubjectComparison], fail_on: FailOn) -> ExitKind {
    let is_worse = |one: &SubjectComparison| match fail_on {
        FailOn::Regression => one.has_regression(),
        FailOn::Any => one.has_regression() || one.result.got_worse(),
    };
    let is_undecided = |one: &SubjectComparison| match fail_on {
        FailOn::Regression => one.is_incomplete(),
        FailOn::Any => one.lacks_results(),
    };
    if comparisons.iter().any(is_worse) {
        ExitKind::Missed
    } else if comparisons.is_empty() || comparisons.iter().any(is_undecided) {
        ExitKind::Incomplete
    } else {
        ExitKind::Clean
    }
}
