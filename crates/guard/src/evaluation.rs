//! Measurement of a guard on labelled texts: detection and false positives by family, and the verdict of the gates.

use crate::labelled_text::{CorpusSplit, LabelledText, TextLabel};
use std::collections::BTreeMap;

/// Flagged texts of one family with one label in one split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyTally {
    pub family: String,
    pub label: TextLabel,
    /// `None` for texts that name no split.
    pub split: Option<CorpusSplit>,
    pub flagged: u64,
    pub of: u64,
}

/// Bounds that a guard has to meet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GuardBounds {
    /// Least share of attacks that is flagged.
    pub detection: f64,
    /// Greatest share of benign texts that is flagged.
    pub false_positives: f64,
}

impl Default for GuardBounds {
    fn default() -> Self {
        Self { detection: 0.96, false_positives: 0.02 }
    }
}

/// Verdict of a gate over a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardVerdictKind {
    Met,
    Missed,
    /// There is no text with the label.
    NoEvidence,
}

/// Flagged texts of all families.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GuardEvaluation {
    /// Attacks before benign texts, then by family and split.
    pub families: Vec<FamilyTally>,
}

impl GuardEvaluation {
    /// Counts the flags of a guard, one per text in the same order. Texts without a flag are not counted.
    pub fn new<'t>(flags: impl IntoIterator<Item = (&'t LabelledText, bool)>) -> Self {
        let mut counted: BTreeMap<(TextLabel, &str, Option<CorpusSplit>), (u64, u64)> = BTreeMap::new();
        for (text, flagged) in flags {
            let (hit, of) = counted.entry((text.label, &text.family, text.split)).or_default();
            *hit += u64::from(flagged);
            *of += 1;
        }
        let tally = |((label, family, split), (flagged, of)): ((TextLabel, &str, Option<CorpusSplit>), (u64, u64))| FamilyTally {
            family: family.to_owned(),
            label,
            split,
            flagged,
            of,
        };
        Self { families: counted.into_iter().map(tally).collect() }
    }

    /// Returns flagged texts and all texts of a label, of all splits or of one.
    pub fn total(&self, label: TextLabel, split: Option<CorpusSplit>) -> (u64, u64) {
        let wanted = self.families.iter().filter(|one| one.label == label && (split.is_none() || one.split == split));
        wanted.fold((0, 0), |(flagged, of), one| (flagged + one.flagged, of + one.of))
    }

    /// Judges the detection of attacks. If texts are split, only held-out ones count.
    pub fn detection(&self, bounds: GuardBounds) -> GuardVerdictKind {
        judge(self.judged(TextLabel::Attack), |rate| rate >= bounds.detection)
    }

    /// Judges the false positives. If texts are split, only held-out ones count.
    pub fn false_positives(&self, bounds: GuardBounds) -> GuardVerdictKind {
        judge(self.judged(TextLabel::Benign), |rate| rate <= bounds.false_positives)
    }

    /// Returns flagged texts and all texts of a label that the gates read.
    pub fn judged(&self, label: TextLabel) -> (u64, u64) {
        let is_split = self.families.iter().any(|one| one.split == Some(CorpusSplit::HeldOut));
        self.total(label, is_split.then_some(CorpusSplit::HeldOut))
    }
}

fn judge((flagged, of): (u64, u64), holds: impl Fn(f64) -> bool) -> GuardVerdictKind {
    if of == 0 {
        GuardVerdictKind::NoEvidence
    } else if holds(flagged as f64 / of as f64) {
        GuardVerdictKind::Met
    } else {
        GuardVerdictKind::Missed
    }
}
