//! Baselines of a workspace, read from its files.

use super::DEFAULT_SUBJECT;
use super::results::RESULT_BASELINE;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use campaign::GoldenSet;
use model::{Location, UserError};
use score::golden::{GoldenFile, GoldenPath};

/// Returns the file of a baseline as a path from the working directory.
pub(super) fn baseline_file(io: &CliOutput, golden_path: &GoldenPath) -> String {
    io.file_path(&Location::new(golden_path.path(), 0))
}

/// Reads the baselines of a workspace.
///
/// # Errors
/// All files below `golden/` that are not valid baselines.
pub(in crate::commands) fn read_baselines(source: &WorkspaceSource) -> Result<GoldenSet, Vec<UserError>> {
    let files = source.files().map_err(|problems| problems.into_iter().map(UserError::from).collect::<Vec<_>>())?;
    let (mut golden, mut errors) = (GoldenSet::default(), vec![]);
    for (path, text) in
        files.iter().filter(|(path, _)| path.starts_with("golden/") && !path.ends_with("README.md") && *path != RESULT_BASELINE)
    {
        let baseline = GoldenFile::parse(text);
        let stamped = baseline.as_ref().ok().map(|baseline| baseline.stamp.subject.as_str());
        match (GoldenPath::parse(path, stamped.or(Some(DEFAULT_SUBJECT))), baseline) {
            (None, _) => {
                let remedy = "baselines are golden/<subject>/<profile>/<kind of suite>.jsonl";
                errors.push(UserError::new("not a baseline file", remedy).with_location(Location::new(path, 0)));
            }
            (Some(_), Err(error)) => {
                let place = Location::new(path, u32::try_from(error.line).unwrap_or(0));
                errors.push(UserError::new(error.why, "write it again with `bardo-eval golden update`").with_location(place));
            }
            (Some(golden_path), Ok(baseline)) if golden_path.subject != baseline.stamp.subject => {
                let what = format!("the baseline is of subject {}, its folder of {}", baseline.stamp.subject, golden_path.subject);
                errors.push(UserError::new(what, "move the file, or write it again").with_location(Location::new(path, 1)));
            }
            (Some(golden_path), Ok(baseline)) => {
                // A file of an earlier version gives way to one in the subject's folder.
                let is_legacy = golden_path.legacy_path() == path;
                if !is_legacy || !golden.baselines.contains_key(&golden_path) {
                    golden.baselines.insert(golden_path, baseline);
                }
            }
        }
    }
    if errors.is_empty() { Ok(golden) } else { Err(errors) }
}
