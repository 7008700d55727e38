//! Names in `when_changed`: parts of a workspace, or paths of the repository.

use crate::problem::{ProblemReport, did_you_mean};
use crate::yaml::{YamlNode, text};

/// Folders and files that a workspace can have.
pub(crate) const WORKSPACE_PARTS: &[&str] = &[
    "agents",
    "bardo-eval.yaml",
    "cassettes",
    "contracts",
    "coverage.yaml",
    "gates.yaml",
    "golden",
    "judge",
    "outputs",
    "policy.yaml",
    "probes",
    "production.yaml",
    "profiles",
    "registry",
    "scorers",
    "scorers.yaml",
    "skills",
    "subjects",
    "suites",
    "tiers.yaml",
    "tools",
    "version.yaml",
    "worlds",
];

/// Reads a name in `when_changed` and returns the folder and the file that it stands for: `policy` is `policy.yaml`, and `scorers` is
/// the folder and `scorers.yaml`. A name that begins with `/` is a path of the repository.
pub(super) fn read_change_trigger(node: &YamlNode, report: &ProblemReport) -> Option<Vec<String>> {
    let word = text(node, report)?;
    let bare = word.trim_end_matches('/');
    if bare.starts_with('/') {
        return Some(vec![bare.to_owned()]);
    }
    let stands_for = |part: &&&str| **part == bare || part.strip_suffix(".yaml") == Some(bare);
    let found: Vec<String> = WORKSPACE_PARTS.iter().filter(stands_for).map(|part| (*part).to_owned()).collect();
    if found.is_empty() {
        let known = WORKSPACE_PARTS.iter().flat_map(|part| [*part, part.trim_end_matches(".yaml")]);
        let near = did_you_mean(bare, known);
        let any = "name a folder or file of the workspace, such as tools or policy.yaml; a path of the repository begins with /".to_owned();
        report.add(
            node.line,
            format!("a workspace has no part \"{word}\", so this never changes"),
            if near.is_empty() { any } else { near },
        );
    }
    Some(found).filter(|found| !found.is_empty())
}
