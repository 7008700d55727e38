//! Commands that show a flipped case on both sides.

use super::ComparisonReport;
use super::gate_changes::gate_changes;
use crate::io::CliOutput;
use crate::shell::shell_quoted;
use campaign::{SideSource, SubjectComparison};
use score::pairing::{FlipDirection, FlippedCase};

/// Returns the command that shows the first case that got worse: a flipped one, else one that is worse for a gate.
pub(in crate::report) fn first_worse_command(io: &CliOutput, shown: &ComparisonReport<'_>) -> Option<String> {
    shown.comparisons.iter().find_map(|compared| {
        let flipped = compared.result.flips.iter().filter(|group| group.direction == FlipDirection::Worse).flat_map(|group| &group.cases);
        let of_gates = gate_changes(&compared.result.slices).into_iter().flat_map(|gate| &gate.worst.worse);
        let worse = flipped.chain(of_gates).next()?;
        Some(show_command(io, compared, &shown.store_flag, worse))
    })
}

/// Returns the command that shows what a case did before and after.
pub(super) fn show_command(io: &CliOutput, compared: &SubjectComparison, store_flag: &str, case: &FlippedCase) -> String {
    let (flags, name) = (format!("{store_flag}{}", io.workspace_flag()), shell_quoted(&case.case));
    match (&compared.before.source, &compared.after.source, &case.trials) {
        (SideSource::Run(Some(one)), SideSource::Run(Some(other)), [Some(left), Some(right)]) if one == other => {
            format!("bardo-eval show --diff {left} {right} --run {one}{flags}")
        }
        (SideSource::Run(Some(one)), SideSource::Run(Some(other)), _) => format!("bardo-eval show {name} --diff {one} {other}{flags}"),
        (_, SideSource::Run(Some(run)), _) | (SideSource::Run(Some(run)), SideSource::Golden, _) => {
            format!("bardo-eval show {name} --run {run}{flags}")
        }
        (
            SideSource::Run(_) | SideSource::Golden | SideSource::File(_),
            SideSource::Run(_) | SideSource::Golden | SideSource::File(_),
            _,
        ) => {
            format!("bardo-eval run --case {name} --subject {}{}", shell_quoted(&compared.after.subject), io.workspace_flag())
        }
    }
}
