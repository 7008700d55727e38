//! Golden baselines as one side of a comparison, and what changed since they were made.

use super::side_facts::{ComparedSide, SideFacts, SideSource};
use crate::golden::GoldenSet;
use model::{Money, SubjectFile, Workspace};
use score::golden::{GoldenAnswers, GoldenStamp};
use score::pairing::{RunNoise, RunSide};
use score::workspace_changes::{WorkspaceChanges, differing};
use std::time::Duration;

/// Returns the baselines of one subject: which cases were right, and which were known failures.
pub fn golden_side<'w>(workspace: &'w Workspace, golden: &GoldenSet, subject: &SubjectFile) -> ComparedSide<'w> {
    let mut readings = RunSide::new(workspace);
    for (path, file) in &golden.of_subject(&subject.name).baselines {
        let passed = match path.answers {
            GoldenAnswers::Right => true,
            GoldenAnswers::KnownFailures => false,
        };
        for entry in &file.entries {
            // The hash tells whether the case changed. A plan has another hash of the same case if a subject plays its peers.
            let same = workspace.case(&entry.case).filter(|case| case.hash == entry.hash);
            let hash = same.is_none().then(|| entry.hash.clone());
            readings.add_result(&entry.case, same, passed, hash);
        }
    }
    let noise = if subject.provider.is_deterministic() { RunNoise::None } else { RunNoise::Sampled };
    let facts = SideFacts {
        source: SideSource::Golden,
        subject: subject.name.value.clone(),
        noise,
        trials: readings.cases().len() as u64,
        gone: 0,
        unplayed: 0,
        spent: Money::ZERO,
        wall: Duration::ZERO,
    };
    ComparedSide { facts, readings }
}

/// Returns the tools, agents, skills and cases that changed since the baselines of a subject were made. A case without a baseline is new.
pub fn golden_changes(workspace: &Workspace, golden: &GoldenSet, subject: &SubjectFile) -> WorkspaceChanges {
    let mut changes = WorkspaceChanges::default();
    let known = golden.of_subject(&subject.name);
    let known = known.cases();
    changes.cases.extend(workspace.cases().map(|case| case.id.value.clone()).filter(|case| !known.contains(case.as_str())));
    for (path, file) in &golden.of_subject(&subject.name).baselines {
        let now = GoldenStamp::of(workspace, path, subject, "");
        changes.tools.extend(differing(&file.stamp.tools, &now.tools));
        changes.agents.extend(differing(&file.stamp.agents, &now.agents));
        changes.skills.extend(differing(&file.stamp.skills, &now.skills));
        let changed = file.entries.iter().filter(|entry| workspace.case(&entry.case).is_some_and(|case| case.hash != entry.hash));
        changes.cases.extend(changed.map(|entry| entry.case.clone()));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use score::example::ExampleWorkspace;
    use score::golden::{GoldenEntry, GoldenFile, GoldenPath};

    #[test]
    fn case_without_a_baseline_is_a_change() {
        let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        let subject = workspace.subject("reference").expect("a subject");
        let mut golden = GoldenSet::default();
        for (n, case) in workspace.cases().enumerate() {
            let path = GoldenPath::of(&subject.name, case, if n == 1 { GoldenAnswers::KnownFailures } else { GoldenAnswers::Right });
            let stamp = GoldenStamp::of(&workspace, &path, subject, "");
            let file = golden.baselines.entry(path).or_insert_with(|| GoldenFile { stamp, entries: vec![] });
            file.entries.push(GoldenEntry {
                case: case.id.value.clone(),
                hash: case.hash.clone(),
                ending: "finished".into(),
                steps: vec![],
            });
        }
        let changed = |golden: &GoldenSet| golden_changes(&workspace, golden, subject).cases;
        assert!(changed(&golden).is_empty(), "a known failure is a baseline");
        let file = golden.baselines.values_mut().next().expect("a file");
        let new = file.entries.remove(0).case;
        assert_eq!(changed(&golden).into_iter().collect::<Vec<_>>(), [new]);
    }
}
