//! Subjects of a plan that a worker can play on its machine.

use crate::plan::RunPlan;
use crate::prepare::RunEnvironment;
use crate::spec::ChainChoice;
use model::{AgentEndpoint, SubjectFile};
use run::subjects::SubjectUnavailable;
use std::collections::BTreeMap;
use std::path::Path;

/// Subjects of a plan that a worker can play, and the reasons for the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkerAbilities {
    /// Indices in the plan.
    pub subjects: Vec<u64>,
    pub unable: Vec<String>,
}

impl WorkerAbilities {
    /// Returns abilities without any subject.
    pub fn none(why: impl Into<String>) -> Self {
        Self { subjects: vec![], unable: vec![why.into()] }
    }

    /// Returns the abilities of this machine. `missing` are the subjects that could not be built.
    pub(super) fn find(plan: &RunPlan, environment: &RunEnvironment, missing: &[SubjectUnavailable]) -> Self {
        if plan.spec().settings.chain == ChainChoice::Anvil && environment.anvil.is_none() && !Path::new(".tools").is_dir() {
            return Self::none("Anvil is not installed here");
        }
        let mut reasons: BTreeMap<&str, String> = missing.iter().map(|missing| (missing.subject.as_str(), missing.why.clone())).collect();
        for file in plan.acting_subjects() {
            if let Some(program) = missing_program(file, environment) {
                reasons.entry(&file.name).or_insert_with(|| format!("there is no program \"{program}\" here"));
            }
        }
        Self::from_reasons(&plan.subjects().iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), &reasons)
    }

    /// Returns the abilities for subjects in plan order. A subject that plays peers can be part of any trial, so all depend on it.
    fn from_reasons(subjects: &[&str], reasons: &BTreeMap<&str, String>) -> Self {
        let unable = reasons.iter().map(|(name, why)| format!("{name}: {why}")).collect();
        let lacks_peer = reasons.keys().any(|name| !subjects.contains(name));
        let able = (0..).zip(subjects).filter(|(_, name)| !lacks_peer && !reasons.contains_key(**name)).map(|(at, _)| at).collect();
        Self { subjects: able, unable }
    }
}

/// Returns the program of an external agent that this machine does not have.
fn missing_program<'f>(file: &'f SubjectFile, environment: &RunEnvironment) -> Option<&'f str> {
    let Some(AgentEndpoint::Command(words)) = file.external.as_ref().map(|agent| &agent.endpoint) else { return None };
    let program = words.first()?;
    let is_there = if program.contains('/') {
        environment.surroundings.folder.join(program).is_file()
    } else {
        let path = (environment.surroundings.variable)("PATH").unwrap_or_default();
        path.split(':').any(|folder| Path::new(folder).join(program).is_file())
    };
    (!is_there).then_some(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn abilities(missing: &[&'static str]) -> WorkerAbilities {
        let reasons = missing.iter().map(|name| (*name, "no key".to_owned())).collect();
        WorkerAbilities::from_reasons(&["echo", "claude", "local"], &reasons)
    }

    #[test]
    fn subjects_without_a_reason_can_be_played() {
        assert_eq!(abilities(&[]).subjects, [0, 1, 2]);
        let some = abilities(&["claude"]);
        assert_eq!((some.subjects, some.unable), (vec![0, 2], vec!["claude: no key".to_owned()]));
        assert!(abilities(&["echo", "claude", "local"]).subjects.is_empty());
    }

    #[test]
    fn missing_peer_makes_every_subject_impossible() {
        assert_eq!(abilities(&["peer"]).subjects, Vec::<u64>::new());
    }
}
