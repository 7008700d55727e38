//! Ended trials in the order of the plan: pooled, counted and hashed one by one, then let go.

use crate::request::Request;
use crate::summary::{Counts, Summary};
use model::suite::Case;
use model::{Claim, Outline, RecordHash, Workspace};
use score::gates::{Demands, Judging, Measured, Scope};
use std::collections::HashMap;
use store::Ended;

pub(crate) struct Reckoning<'w> {
    workspace: &'w Workspace,
    outline: &'w Outline,
    claim: Claim,
    cases: HashMap<&'w str, &'w Case>,
    judging: Judging<'w>,
    hash: RecordHash,
    counts: Counts,
    /// The place in the plan that comes next.
    next: u64,
}

impl<'w> Reckoning<'w> {
    pub(crate) fn new(request: &'w Request) -> Self {
        let Request { workspace, outline, claim, .. } = request;
        let scope = claim.tier.map_or(Scope::Selection, Scope::Tier);
        let demands = Demands { confidence: claim.confidence, rule_out: claim.rule_out };
        let subjects: Vec<&str> = outline.subjects.iter().map(|seated| seated.subject.as_str()).collect();
        let mut cases = HashMap::new();
        for case in workspace.cases() {
            cases.entry(case.id.as_str()).or_insert(case);
        }
        Self {
            workspace,
            outline,
            claim: *claim,
            cases,
            judging: Judging::new(workspace, scope, demands).in_order(&subjects),
            hash: RecordHash::new(claim, &workspace.hash),
            counts: Counts::default(),
            next: 0,
        }
    }

    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Trials may be left out, but none may come after a later one.
    pub(crate) fn take(&mut self, ended: &Ended) {
        while self.next < ended.n {
            self.leave_out();
        }
        self.next = ended.n + 1;
        let Ended { trial, passed, content, ending, scores, scores_hash, .. } = ended;
        self.hash.digest(trial, content, scores_hash);
        self.counts.add((&trial.case, &trial.subject), ending, scores, *passed);
        if let Some(case) = self.cases.get(trial.case.as_str()) {
            let (aborted, content) = (!ending.is_scorable(), Some(content));
            self.judging.add(&Measured { trial: &trial.id, subject: &trial.subject, case, scores, aborted, content });
        }
    }

    fn leave_out(&mut self) {
        self.hash.not_run(&self.outline.trial(self.next));
        self.next += 1;
    }

    pub(crate) fn finish(mut self) -> Summary {
        while self.next < self.outline.len() {
            self.leave_out();
        }
        let judged = self.judging.finish();
        let record = self.hash.finish(&judged.judgements, &judged.out_of_scope);
        let subjects = self.outline.subjects.iter().map(|seated| seated.subject.clone()).collect();
        let plan = (self.workspace.hash.clone(), subjects, self.outline.len());
        self.counts.summary(self.claim, plan, (judged.judgements, judged.out_of_scope), record)
    }
}
