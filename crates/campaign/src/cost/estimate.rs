//! Expected number of model calls, their duration and their likely cost.

use super::quote::{AT_ONCE, CALL_S, Quote};
use model::Money;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Calls to a model that leave the machine, and those of them that go to a judge.
    pub calls: u64,
    pub judged: u64,
    /// At eight calls at once of three seconds each.
    pub seconds: u64,
    /// At the prices of the subject files; nothing where a price is not known.
    pub likely: Option<Money>,
}

/// All quotes of a run, each case tried so often.
pub fn estimate(quotes: &[Quote], trials: u64) -> Estimate {
    let sum = |of: fn(&Quote) -> u64| quotes.iter().map(of).sum::<u64>() * trials;
    let calls = sum(|quote| quote.calls);
    let likely: Money = (0..trials).flat_map(|_| quotes).map(|quote| quote.likely).sum();
    Estimate {
        calls,
        judged: sum(|quote| quote.judged),
        seconds: calls.div_ceil(AT_ONCE) * CALL_S,
        likely: (!quotes.iter().any(|quote| quote.unpriced)).then_some(likely),
    }
}

#[cfg(test)]
mod tests {
    use super::super::quote::{LiveModels, quotes};
    use super::*;
    use model::suite::Case;
    use model::{ProviderKind, SubjectFile};
    use score::example::Example;

    #[test]
    fn scripted_subjects_ask_nobody_and_recordings_ask_only_the_judge() {
        let workspace = Example::minimal().load().expect("a workspace");
        let cases: Vec<&Case> = workspace.cases().collect();
        let reference = workspace.subject("reference").expect("a subject");
        let estimated =
            |subject: &SubjectFile, asking: &LiveModels<'_>| estimate(&quotes(&workspace, &cases, &[subject], asking), asking.trials);
        let live = LiveModels { subjects: true, judge: None, trials: 2 };
        assert_eq!(estimated(reference, &live), Estimate { likely: Some(Money::ZERO), ..Estimate::default() });
        let model = SubjectFile { provider: ProviderKind::Ollama, ..reference.clone() };
        let found = estimated(&model, &live);
        assert!(found.calls > 2 * cases.len() as u64 && found.likely.is_none(), "{found:?}");
        assert_eq!(found.seconds, found.calls.div_ceil(8) * 3);
        let replayed = LiveModels { subjects: false, judge: Some(&model), trials: 2 };
        assert_eq!(estimated(&model, &replayed).calls, 0, "no case has a rubric");
    }
}
