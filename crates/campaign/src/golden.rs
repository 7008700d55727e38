//! Golden baselines of a workspace: created from a run, compared with one, and checked for staleness.

use model::suite::Case;
use model::{CaseOutcome, Score, SubjectFile, Transcript, Workspace};
use score::golden::{GoldenAnswers, GoldenEntry, GoldenFile, GoldenPath, GoldenStamp, RewordedText, compare};
use score::outcome::case_outcome;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use store::{Store, StoreError, StoredRun};

/// Baselines of a workspace, or those that a run would create.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GoldenSet {
    pub baselines: BTreeMap<GoldenPath, GoldenFile>,
}

impl GoldenSet {
    /// Creates baselines from the first scorable trial of each case by this subject. Answers of failed trials are known failures.
    /// Reads the run row by row; events of further trials are not parsed.
    pub fn from_stored(
        workspace: &Workspace,
        store: &Store,
        run: &StoredRun,
        subject: &SubjectFile,
        date: &str,
    ) -> Result<Self, StoreError> {
        store.check_format(run)?;
        let mut golden = Self::default();
        let mut seen = HashSet::new();
        store.for_each_unread(run.run, |unread| {
            if unread.trial.subject != *subject.name || seen.contains(&unread.trial.case) {
                return Ok(());
            }
            let Some(case) = workspace.case(&unread.trial.case) else { return Ok(()) };
            let transcript = unread.transcript()?;
            if !transcript.ending.is_scorable() {
                return Ok(());
            }
            seen.insert(unread.trial.case.clone());
            let path = GoldenPath::of(&subject.name, case, answers_of(&transcript, &unread.scores()?));
            let stamp = || GoldenStamp::of(workspace, &path, subject, date);
            let baseline = golden.baselines.entry(path.clone()).or_insert_with(|| GoldenFile { stamp: stamp(), entries: vec![] });
            baseline.entries.push(GoldenEntry::of(workspace, case, &transcript));
            Ok(())
        })?;
        Ok(golden)
    }

    /// Returns the subjects that have baselines.
    pub fn subjects(&self) -> BTreeSet<&str> {
        self.baselines.keys().map(|path| path.subject.as_str()).collect()
    }

    /// Returns the baselines of one subject. Runs are compared with baselines of the same subject only.
    #[must_use]
    pub fn of_subject(&self, subject: &str) -> Self {
        let own = self.baselines.iter().filter(|(path, _)| path.subject == subject);
        Self { baselines: own.map(|(path, baseline)| (path.clone(), baseline.clone())).collect() }
    }

    /// Returns the cases of a baseline file that have no entry, neither there nor among the known failures.
    pub fn missing_cases<'w>(&self, workspace: &'w Workspace, path: &GoldenPath) -> Vec<&'w Case> {
        let right = path.with_answers(GoldenAnswers::Right);
        let sides = [GoldenAnswers::Right, GoldenAnswers::KnownFailures].map(|answers| self.entries_by_case(&right.with_answers(answers)));
        let known = |case: &Case| sides.iter().any(|side| side.contains_key(case.id.as_str()));
        workspace.cases().filter(|case| GoldenPath::of(&path.subject, case, GoldenAnswers::Right) == right && !known(case)).collect()
    }

    /// Returns the entries of a file by case; the first one, if a case occurs twice.
    fn entries_by_case(&self, path: &GoldenPath) -> HashMap<&str, &GoldenEntry> {
        let entries = self.baselines.get(path).map_or(&[][..], |file| &file.entries);
        entries.iter().rev().map(|entry| (entry.case.as_str(), entry)).collect()
    }

    /// Returns the status of every baseline, including those that a subject with others lacks.
    pub fn status(&self, workspace: &Workspace, default_subject: &str) -> Vec<BaselineStatus> {
        let mut found: Vec<BaselineStatus> = self
            .baselines
            .iter()
            .map(|(path, baseline)| {
                let subject = workspace.subject(&baseline.stamp.subject);
                let now = subject.map(|subject| GoldenStamp::of(workspace, path, subject, ""));
                let mut stale = match now {
                    Some(now) => baseline.stamp.stale_reasons(&now),
                    None => vec![format!("subject {} no longer exists", baseline.stamp.subject)],
                };
                stale.extend(case_changes(workspace, path, baseline, self));
                BaselineStatus { path: path.clone(), stamp: Some(baseline.stamp.clone()), cases: baseline.entries.len(), stale }
            })
            .collect();
        let subjects = if self.baselines.is_empty() { BTreeSet::from([default_subject]) } else { self.subjects() };
        let all =
            subjects.into_iter().flat_map(|subject| workspace.cases().map(|case| GoldenPath::of(subject, case, GoldenAnswers::Right)));
        let is_absent = |path: &GoldenPath| {
            !self.baselines.contains_key(path) && !self.baselines.contains_key(&path.with_answers(GoldenAnswers::KnownFailures))
        };
        let without: BTreeSet<GoldenPath> = all.filter(is_absent).collect();
        found.extend(without.into_iter().map(|path| BaselineStatus {
            path,
            stamp: None,
            cases: 0,
            stale: vec!["there is no baseline".into()],
        }));
        found
    }

    /// Compares a run with the baselines, which are of the same subject. Cases that the run planned and has no evidence of are missing.
    pub fn diff(&self, workspace: &Workspace, (run, planned): (&GoldenSet, &HashSet<&str>), tolerance: f64) -> GoldenDiff {
        let mut diff = GoldenDiff::default();
        for (path, baseline) in &self.baselines {
            let sides = [GoldenAnswers::Right, GoldenAnswers::KnownFailures].map(|answers| path.with_answers(answers));
            let Some(new_stamp) = sides.iter().find_map(|side| run.baselines.get(side)).map(|file| &file.stamp) else {
                let before = diff.missing.len();
                let unplayed = baseline.entries.iter().filter(|entry| planned.contains(entry.case.as_str()));
                diff.missing.extend(unplayed.map(|entry| entry.case.clone()));
                if diff.missing.len() == before {
                    diff.not_run.push(path.clone());
                }
                continue;
            };
            diff.notes.extend(baseline.stamp.stale_reasons(new_stamp).into_iter().map(|why| (path.clone(), why)));
            let after = sides.each_ref().map(|side| (side, run.entries_by_case(side)));
            for before in &baseline.entries {
                let Some(case) = workspace.case(&before.case) else {
                    diff.removed += 1;
                    diff.notes.push((path.clone(), format!("case {} no longer exists", before.case)));
                    continue;
                };
                let Some((side, after)) = after.iter().find_map(|(side, entries)| Some((*side, *entries.get(before.case.as_str())?)))
                else {
                    diff.missing.push(before.case.clone());
                    continue;
                };
                if case.hash != before.hash {
                    diff.edited += 1;
                    diff.notes.push((path.clone(), format!("case {} changed; not compared", before.case)));
                    continue;
                }
                match path.answers {
                    GoldenAnswers::Right => diff.compare_right(workspace, case, path, [before, after], tolerance),
                    GoldenAnswers::KnownFailures => diff.compare_failure(path, side, &before.case),
                }
            }
        }
        let known = self.cases();
        diff.without_baseline = run.cases().difference(&known).map(|case| (*case).to_owned()).collect();
        diff
    }

    /// Returns the cases with an entry.
    pub fn cases(&self) -> BTreeSet<&str> {
        self.baselines.values().flat_map(|file| &file.entries).map(|entry| entry.case.as_str()).collect()
    }
}

/// Returns the file of an answer. A rubric that was not judged leaves the answer right as far as the other expectations go.
fn answers_of(transcript: &Transcript, scores: &[Score]) -> GoldenAnswers {
    match case_outcome(&transcript.ending, scores) {
        CaseOutcome::Passed | CaseOutcome::Unjudged => GoldenAnswers::Right,
        CaseOutcome::Failed | CaseOutcome::Aborted { .. } => GoldenAnswers::KnownFailures,
    }
}

fn case_changes(workspace: &Workspace, path: &GoldenPath, baseline: &GoldenFile, golden: &GoldenSet) -> Vec<String> {
    let mut changes = vec![];
    // The file of right answers, if there is one, reports the missing cases.
    let reports_missing = path.answers == GoldenAnswers::Right || !golden.baselines.contains_key(&path.with_answers(GoldenAnswers::Right));
    let lacking = if reports_missing { golden.missing_cases(workspace, path).len() } else { 0 };
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
    pub path: GoldenPath,
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
    /// Cases of the run without a baseline, so that nothing tells whether they changed.
    pub without_baseline: Vec<String>,
    /// Number of cases that were edited since their baseline was made. They are not compared.
    pub edited: usize,
    /// Number of cases of the baselines that are no longer in the workspace.
    pub removed: usize,
    /// Baselines without any case in the run.
    pub not_run: Vec<GoldenPath>,
    /// Known failures of the baselines that the run still fails, and those that it no longer fails.
    pub known_failures: usize,
    pub mended: Vec<(GoldenPath, String)>,
    /// Changes of the configuration, which may explain changed cases.
    pub notes: Vec<(GoldenPath, String)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ChangedCase {
    pub path: GoldenPath,
    pub case: String,
    pub changes: Vec<String>,
}

/// Text with the same facts but different wording, and the verdict about its meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordingChange {
    pub path: GoldenPath,
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
    fn compare_right(&mut self, workspace: &Workspace, case: &Case, path: &GoldenPath, [before, after]: [&GoldenEntry; 2], tolerance: f64) {
        let compared = compare(workspace, case, before, after, tolerance);
        self.compared += 1;
        let wording = |text| WordingChange { path: path.clone(), case: before.case.clone(), text, verdict: WordingVerdict::NotAsked };
        self.reworded.extend(compared.reworded.into_iter().map(wording));
        if !compared.changes.is_empty() {
            self.changed.push(ChangedCase { path: path.clone(), case: before.case.clone(), changes: compared.changes });
        }
    }

    /// Counts a known failure. Another wrong answer is no change.
    fn compare_failure(&mut self, path: &GoldenPath, now: &GoldenPath, case: &str) {
        self.compared += 1;
        match now.answers {
            GoldenAnswers::Right => self.mended.push((path.clone(), case.to_owned())),
            GoldenAnswers::KnownFailures => self.known_failures += 1,
        }
    }

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
