//! Golden baselines of a workspace: created from a run, compared with one, and checked for staleness.

use model::suite::Case;
use model::{RunRecord, SubjectFile, Workspace};
use score::golden::{GoldenEntry, GoldenFile, GoldenPath, GoldenStamp, RewordedText, compare};
use std::collections::BTreeMap;

/// Baselines of a workspace, or those that a run would create.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GoldenSet {
    pub shelves: BTreeMap<GoldenPath, GoldenFile>,
}

impl GoldenSet {
    /// Creates baselines from the first scorable trial of each case by this subject.
    pub fn from_record(workspace: &Workspace, record: &RunRecord, subject: &SubjectFile, date: &str) -> Self {
        let mut golden = Self::default();
        for transcript in record.transcripts.iter().filter(|one| one.subject == *subject.name && one.ending.is_scorable()) {
            let Some(case) = workspace.case(&transcript.case) else { continue };
            let shelf = GoldenPath::of(case);
            let stamp = || GoldenStamp::of(workspace, &shelf, subject, date);
            let baseline = golden.shelves.entry(shelf.clone()).or_insert_with(|| GoldenFile { stamp: stamp(), entries: vec![] });
            if !baseline.entries.iter().any(|entry| entry.case == transcript.case) {
                baseline.entries.push(GoldenEntry::of(workspace, case, transcript));
            }
        }
        golden
    }

    /// Returns the cases of a baseline file that have no entry.
    pub fn missing_cases<'w>(&self, workspace: &'w Workspace, shelf: &GoldenPath) -> Vec<&'w Case> {
        let known =
            |case: &Case| self.shelves.get(shelf).is_some_and(|baseline| baseline.entries.iter().any(|entry| entry.case == *case.id));
        workspace.cases().filter(|case| GoldenPath::of(case) == *shelf && !known(case)).collect()
    }

    /// Returns the status of every baseline, including missing ones.
    pub fn status(&self, workspace: &Workspace) -> Vec<BaselineStatus> {
        let mut found: Vec<BaselineStatus> = self
            .shelves
            .iter()
            .map(|(shelf, baseline)| {
                let subject = workspace.subject(&baseline.stamp.subject);
                let now = subject.map(|subject| GoldenStamp::of(workspace, shelf, subject, ""));
                let mut stale = match now {
                    Some(now) => baseline.stamp.stale_reasons(&now),
                    None => vec![format!("subject {} no longer exists", baseline.stamp.subject)],
                };
                stale.extend(case_changes(workspace, shelf, baseline, self));
                BaselineStatus { shelf: shelf.clone(), stamp: Some(baseline.stamp.clone()), cases: baseline.entries.len(), stale }
            })
            .collect();
        let mut without: Vec<GoldenPath> =
            workspace.cases().map(GoldenPath::of).filter(|shelf| !self.shelves.contains_key(shelf)).collect();
        without.sort();
        without.dedup();
        found.extend(without.into_iter().map(|shelf| BaselineStatus {
            shelf,
            stamp: None,
            cases: 0,
            stale: vec!["there is no baseline".into()],
        }));
        found
    }

    /// Compares a run with the baselines.
    pub fn diff(&self, workspace: &Workspace, run: &GoldenSet, tolerance: f64) -> GoldenDiff {
        let mut diff = GoldenDiff::default();
        for (shelf, baseline) in &self.shelves {
            let Some(new) = run.shelves.get(shelf) else {
                diff.not_run.push(shelf.clone());
                continue;
            };
            diff.notes.extend(baseline.stamp.stale_reasons(&new.stamp).into_iter().map(|why| (shelf.clone(), why)));
            for before in &baseline.entries {
                let Some(case) = workspace.case(&before.case) else {
                    diff.notes.push((shelf.clone(), format!("case {} no longer exists", before.case)));
                    continue;
                };
                let Some(after) = new.entries.iter().find(|entry| entry.case == before.case) else {
                    diff.missing.push(before.case.clone());
                    continue;
                };
                if case.hash != before.hash {
                    diff.notes.push((shelf.clone(), format!("case {} changed; not compared", before.case)));
                    continue;
                }
                let compared = compare(workspace, case, before, after, tolerance);
                diff.compared += 1;
                let wording =
                    |text| WordingChange { shelf: shelf.clone(), case: before.case.clone(), text, verdict: WordingVerdict::NotAsked };
                diff.reworded.extend(compared.reworded.into_iter().map(wording));
                if !compared.changes.is_empty() {
                    diff.changed.push(ChangedCase { shelf: shelf.clone(), case: before.case.clone(), changes: compared.changes });
                }
            }
        }
        diff
    }
}

fn case_changes(workspace: &Workspace, shelf: &GoldenPath, baseline: &GoldenFile, golden: &GoldenSet) -> Vec<String> {
    let mut changes = vec![];
    let lacking = golden.missing_cases(workspace, shelf).len();
    if lacking > 0 {
        changes.push(format!("{} added", model::count(lacking, "case")));
    }
    let changed = baseline.entries.iter().filter(|entry| workspace.case(&entry.case).is_some_and(|case| case.hash != entry.hash)).count();
    if changed > 0 {
        changes.push(format!("{} changed", model::count(changed, "case")));
    }
    let removed = baseline.entries.iter().filter(|entry| workspace.case(&entry.case).is_none()).count();
    if removed > 0 {
        changes.push(format!("{} removed", model::count(removed, "case")));
    }
    changes
}

/// Baseline file with the reasons why it is stale.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineStatus {
    pub shelf: GoldenPath,
    pub stamp: Option<GoldenStamp>,
    pub cases: usize,
    pub stale: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct GoldenDiff {
    pub compared: usize,
    pub changed: Vec<ChangedCase>,
    /// Texts with the same facts but different wording.
    pub reworded: Vec<WordingChange>,
    /// Cases of a baseline without evidence in the run.
    pub missing: Vec<String>,
    /// Baselines without any case in the run.
    pub not_run: Vec<GoldenPath>,
    /// Changes of the configuration, which may explain changed cases.
    pub notes: Vec<(GoldenPath, String)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ChangedCase {
    pub shelf: GoldenPath,
    pub case: String,
    pub changes: Vec<String>,
}

/// Text with the same facts but different wording, and the verdict about its meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordingChange {
    pub shelf: GoldenPath,
    pub case: String,
    pub text: RewordedText,
    pub verdict: WordingVerdict,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordingVerdict {
    /// No judge was asked.
    NotAsked,
    Same,
    Different {
        reason: String,
    },
    /// A judge was asked and gave no verdict.
    NoVerdict {
        why: String,
    },
}

/// Number of reworded texts by verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WordingCounts {
    pub same: usize,
    pub different: usize,
    /// Texts without a verdict, with or without a judge.
    pub unjudged: usize,
}

impl GoldenDiff {
    pub fn wording_counts(&self) -> WordingCounts {
        let mut all = WordingCounts::default();
        for wording in &self.reworded {
            match wording.verdict {
                WordingVerdict::Same => all.same += 1,
                WordingVerdict::Different { .. } => all.different += 1,
                WordingVerdict::NotAsked | WordingVerdict::NoVerdict { .. } => all.unjudged += 1,
            }
        }
        all
    }
}
