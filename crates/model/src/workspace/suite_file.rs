//! Reads a suite that is not a file of the workspace, such as a reproducer.

use super::{Workspace, built_in};
use crate::problem::{Problem, ProblemReport, WorkspaceTraits};
use crate::suite::{Suite, SuiteKind, read_suite};
use crate::yaml::{self, YamlFields, YamlLimits, one_of};

impl Workspace {
    /// Reads a suite with the rules of this workspace. Its name is its kind and the name of its file.
    ///
    /// # Errors
    /// All problems of the file.
    pub fn read_suite_file(&self, file: &str, text: &str) -> Result<Suite, Vec<Problem>> {
        let report =
            ProblemReport::new(file).in_workspace(WorkspaceTraits { has_policy: self.policy.is_some(), ..WorkspaceTraits::default() });
        let suite = yaml::load(text, YamlLimits::default(), &report).and_then(|node| {
            let quiet = ProblemReport::new(file);
            let kind = YamlFields::open(&node, "a suite", &quiet).and_then(|fields| fields.optional("suite", one_of(SuiteKind::ALL)));
            let stem = file.rsplit(['/', '\\']).next().unwrap_or(file).trim_end_matches(".yaml").trim_end_matches(".yml");
            let folder = kind.map_or("red_team", SuiteKind::word);
            read_suite(&format!("suites/{folder}/{stem}.yaml"), &node, &report)
        });
        let mut problems = report.into_problems();
        let mut suite = match suite {
            Some(suite) if problems.is_empty() => suite,
            Some(_) | None => return Err(problems),
        };
        for case in suite.cases.iter_mut().filter(|case| case.brief.world.is_empty()) {
            match built_in::default_world(&self.worlds) {
                Ok(name) => case.brief.world.value = name,
                Err(problem) => problems.push(Problem { at: case.brief.world.at.clone(), ..problem }),
            }
        }
        if problems.is_empty() { Ok(suite) } else { Err(problems) }
    }
}
