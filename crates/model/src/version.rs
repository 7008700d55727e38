//! Version and changelog of a workspace, read from `version.yaml`.

use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, list, text, unsigned};

/// Version of the cases, gates and worlds. Scores of different versions measure different things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceVersion {
    pub version: u64,
    /// Changelog, newest version first.
    pub changes: Vec<VersionChanges>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionChanges {
    pub version: u64,
    /// One sentence per change.
    pub what: Vec<String>,
}

pub(crate) fn read_version(node: &YamlNode, report: &ProblemReport) -> Option<WorkspaceVersion> {
    let fields = YamlFields::open(node, "version.yaml", report)?;
    let version = fields.required("version", unsigned);
    let changes = fields.required("changes", list(read_changes));
    fields.close();
    let (version, changes) = (version?, changes?);
    if changes.first().map(|newest| newest.version) != Some(version) {
        report.add(node.line, format!("the changelog does not begin with version {version}"), "add its changes at the top of `changes`");
        return None;
    }
    if !changes.is_sorted_by(|newer, older| newer.version > older.version) {
        report.add(node.line, "the versions of the changelog do not fall", "list the newest version first, each once");
        return None;
    }
    Some(WorkspaceVersion { version, changes })
}

fn read_changes(node: &YamlNode, report: &ProblemReport) -> Option<VersionChanges> {
    let fields = YamlFields::open(node, "an entry of the changelog", report)?;
    let version = fields.required("version", unsigned);
    let what = fields.required("what", list(text));
    fields.close();
    let what = what?;
    if what.is_empty() {
        report.add(node.line, "a version without a change", "say what changed, one sentence each");
        return None;
    }
    Some(VersionChanges { version: version?, what })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::test_support::{assert_problems, read_ok};

    const FILE: &str = "version: 2\nchanges:\n  - { version: 2, what: [More cases.] }\n  - { version: 1, what: [First.] }\n";

    #[test]
    fn a_version_is_read_with_its_changes() {
        let read = read_ok(FILE, read_version);
        assert_eq!((read.version, read.changes.len(), read.changes[0].what[0].as_str()), (2, 2, "More cases."));
    }

    #[test]
    fn a_version_without_its_changes_is_refused() {
        assert_problems(
            FILE,
            read_version,
            &[
                (
                    "version: 2\n",
                    "version: 3\n",
                    "1: the changelog does not begin with version 3 | add its changes at the top of `changes`",
                ),
                ("[More cases.]", "[]", "3: a version without a change | say what changed, one sentence each"),
                ("version: 1,", "version: 2,", "1: the versions of the changelog do not fall | list the newest version first, each once"),
            ],
        );
    }
}
