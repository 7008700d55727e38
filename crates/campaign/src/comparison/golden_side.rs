//! Golden baselines as one side of a comparison, and what changed since they were made.

use super::side_facts::{ComparedSide, SideFacts, SideSource};
use crate::golden::GoldenSet;
use model::{Money, SubjectFile, Workspace};
use score::golden::{GoldenAnswers, GoldenStamp};
use score::pairing::{RunNoise, RunSide, SideCase};
use score::workspace_changes::{WorkspaceChanges, differing};
use std::collections::BTreeMap;
use std::time::Duration;

/// Returns the baselines of one subject: which cases were right, and which were known failures.
pub fn golden_side<'w>(workspace: &Workspace, golden: &GoldenSet, subject: &SubjectFile) -> ComparedSide<'w> {
    let mut cases = BTreeMap::new();
    for (shelf, file) in &golden.of_subject(&subject.name).shelves {
        let passed = match shelf.answers {
            GoldenAnswers::Right => 1,
            GoldenAnswers::KnownFailures => 0,
        };
        for entry in &file.entries {
            // The hash tells whether the case changed. A plan has another hash of the same case if a subject plays its peers.
            let is_same = workspace.case(&entry.case).is_some_and(|case| case.hash == entry.hash);
            let hash = (!is_same).then(|| entry.hash.clone());
            cases.insert(entry.case.clone(), SideCase { passed, judged: 1, hash, ..SideCase::default() });
        }
    }
    let noise = if subject.provider.is_deterministic() { RunNoise::None } else { RunNoise::Sampled };
    let facts = SideFacts {
        source: SideSource::Golden,
        subject: subject.name.value.clone(),
        noise,
        trials: cases.len() as u64,
        gone: 0,
        spent: Money::ZERO,
        wall: Duration::ZERO,
    };
    ComparedSide { facts, readings: RunSide::from_cases(cases) }
}

/// Returns the tools, agents, skills and cases that changed since the baselines of a subject were made.
pub fn golden_changes(workspace: &Workspace, golden: &GoldenSet, subject: &SubjectFile) -> WorkspaceChanges {
    let mut changes = WorkspaceChanges::default();
    for (shelf, file) in &golden.of_subject(&subject.name).shelves {
        let now = GoldenStamp::of(workspace, shelf, subject, "");
        changes.tools.extend(differing(&file.stamp.tools, &now.tools));
        changes.agents.extend(differing(&file.stamp.agents, &now.agents));
        changes.skills.extend(differing(&file.stamp.skills, &now.skills));
        let changed = file.entries.iter().filter(|entry| workspace.case(&entry.case).is_some_and(|case| case.hash != entry.hash));
        changes.cases.extend(changed.map(|entry| entry.case.clone()));
    }
    changes
}
