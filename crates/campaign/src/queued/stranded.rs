//! Trials that no worker can play.

use crate::summary::StrandedTrials;
use store::postgres::queue::SubjectBacklog;

/// Returns the trials that are left if no worker has or can claim any of them.
pub(super) fn find_stranded(backlog: &[SubjectBacklog], subjects: &[String]) -> Option<StrandedTrials> {
    if backlog.is_empty() || backlog.iter().any(|left| left.workers > 0 || left.claimed > 0) {
        return None;
    }
    let name = |left: &SubjectBacklog| subjects.get(usize::try_from(left.subject).ok()?).cloned();
    let trials = backlog.iter().map(|left| left.trials).sum();
    Some(StrandedTrials { subjects: backlog.iter().filter_map(name).collect(), trials, ..StrandedTrials::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(subject: u64, workers: u64, claimed: u64) -> SubjectBacklog {
        SubjectBacklog { subject, trials: 5, workers, claimed }
    }

    #[test]
    fn trials_are_stranded_when_no_worker_has_or_can_claim_them() {
        let subjects = ["echo".to_owned(), "claude".to_owned()];
        let find = |backlog: &[SubjectBacklog]| find_stranded(backlog, &subjects);
        assert_eq!(find(&[]), None, "nothing is left");
        assert_eq!(find(&[left(0, 1, 0), left(1, 0, 0)]), None, "the others are played first");
        assert_eq!(find(&[left(1, 0, 2)]), None, "a worker still has trials");
        let stranded = find(&[left(0, 0, 0), left(1, 0, 0)]).unwrap();
        assert_eq!((stranded.subjects.len(), stranded.trials), (2, 10));
    }
}
