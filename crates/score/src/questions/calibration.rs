//! How far a judge can be trusted, measured on examples that people have labelled.

use super::answer::Misread;
use super::question::{Material, Question, QuestionKind};
use model::transcript::Grade;
use serde::{Deserialize, Serialize};

/// An example with the verdict a person gave.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Labelled {
    pub id: String,
    pub rubric: String,
    pub material: Vec<Told>,
    pub label: Grade,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    pub who: String,
    pub text: String,
}

/// Mistake in a file of labelled examples.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExampleError {
    #[error("line {line}: {why}")]
    Unreadable { line: usize, why: String },
    #[error("line {line}: {id} stands twice")]
    Repeated { line: usize, id: String },
    #[error("line {line}: {id} has no material")]
    NoMaterial { line: usize, id: String },
    #[error("there is no example in it")]
    Empty,
}

/// In which order the verdicts are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    PassFirst,
    FailFirst,
}

impl Labelled {
    /// One JSON object a line. All mistakes come back together.
    pub fn read_all(text: &str) -> Result<Vec<Self>, Vec<ExampleError>> {
        let mut found: Vec<Self> = vec![];
        let mut wrong = vec![];
        for (n, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            match serde_json::from_str::<Self>(line) {
                Err(error) => wrong.push(ExampleError::Unreadable { line: n, why: error.to_string() }),
                Ok(example) if found.iter().any(|other| other.id == example.id) => {
                    wrong.push(ExampleError::Repeated { line: n, id: example.id })
                }
                Ok(example) if example.material.is_empty() => wrong.push(ExampleError::NoMaterial { line: n, id: example.id }),
                Ok(example) => found.push(example),
            }
        }
        if found.is_empty() && wrong.is_empty() {
            wrong.push(ExampleError::Empty);
        }
        if wrong.is_empty() { Ok(found) } else { Err(wrong) }
    }

    /// The label is no part of it.
    pub fn question(&self, offered: Offered) -> Question {
        let material = (1..).zip(&self.material).map(|(event, told)| Material { event, who: told.who.clone(), text: told.text.clone() });
        let question = Question::new(String::new(), QuestionKind::Rubric, self.rubric.clone(), material.collect());
        match offered {
            Offered::PassFirst => question,
            Offered::FailFirst => question.offering(&["fail", "pass"]),
        }
    }

    fn length(&self) -> usize {
        self.material.iter().map(|told| told.text.chars().count()).sum()
    }
}

/// What the judge said to one example, asked both ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graded<'e> {
    pub example: &'e Labelled,
    pub pass_first: Result<Grade, Misread>,
    pub fail_first: Result<Grade, Misread>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    pub examples: usize,
    /// Answers that were no verdict; each counts as a disagreement.
    pub unread: usize,
    /// Share of examples with the verdict of the label.
    pub agreement: f64,
    /// Cohen's: 0 is what chance would bring, 1 is full agreement.
    pub kappa: f64,
    /// Fails that the judge passed, of all fails.
    pub false_pass: f64,
    /// Passes that the judge failed, of all passes.
    pub false_fail: f64,
    /// Examples whose verdict changed with the order in which verdicts were offered.
    pub order_flips: f64,
    /// How much more often it passes when "pass" is offered first.
    pub order_bias: f64,
    /// How much more than the labels it favours the longer half over the shorter.
    pub length_bias: f64,
}

/// `None` where there is nothing to measure on: both labels must occur.
pub fn calibrate(graded: &[Graded<'_>]) -> Option<Calibration> {
    let n = graded.len();
    let labels = |label: Grade| graded.iter().filter(move |one| one.example.label == label);
    if labels(Grade::Pass).next().is_none() || labels(Grade::Fail).next().is_none() {
        return None;
    }
    let said = |one: &Graded<'_>, verdict: Grade| one.pass_first == Ok(verdict);
    let agreement = share(graded.iter(), |one| said(one, one.example.label));
    let by_chance: f64 = [Grade::Pass, Grade::Fail]
        .map(|verdict| share(graded.iter(), |one| one.example.label == verdict) * share(graded.iter(), |one| said(one, verdict)))
        .iter()
        .sum();
    let mut by_length: Vec<&Graded<'_>> = graded.iter().collect();
    by_length.sort_by_key(|one| (one.example.length(), one.example.id.as_str()));
    let (short, long) = by_length.split_at(n / 2);
    let excess = |half: &[&Graded<'_>]| {
        share(half.iter(), |one| said(one, Grade::Pass)) - share(half.iter(), |one| one.example.label == Grade::Pass)
    };
    Some(Calibration {
        examples: n,
        unread: graded.iter().filter(|one| one.pass_first.is_err()).count(),
        agreement,
        // The labels are never all alike, so chance alone never agrees always.
        kappa: (agreement - by_chance) / (1.0 - by_chance),
        false_pass: share(labels(Grade::Fail), |one| said(one, Grade::Pass)),
        false_fail: share(labels(Grade::Pass), |one| said(one, Grade::Fail)),
        order_flips: share(graded.iter(), |one| one.pass_first.as_ref().ok() != one.fail_first.as_ref().ok()),
        order_bias: share(graded.iter(), |one| said(one, Grade::Pass)) - share(graded.iter(), |one| one.fail_first == Ok(Grade::Pass)),
        length_bias: excess(long) - excess(short),
    })
}

fn share<T>(of: impl Iterator<Item = T>, holds: impl Fn(&T) -> bool) -> f64 {
    let (mut hit, mut all) = (0u32, 0u32);
    for one in of {
        hit += u32::from(holds(&one));
        all += 1;
    }
    if all == 0 { 0.0 } else { f64::from(hit) / f64::from(all) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half passes, half fails; every second one is long.
    fn examples() -> Vec<Labelled> {
        let one = |n: usize| Labelled {
            id: format!("e{n:02}"),
            rubric: "It is kind.".into(),
            material: vec![Told { who: "assistant".into(), text: "word ".repeat(if n.is_multiple_of(2) { 50 } else { 1 }) }],
            label: if n % 4 < 2 { Grade::Pass } else { Grade::Fail },
        };
        (0..40).map(one).collect()
    }

    fn judged(judge: impl Fn(&Labelled, Offered) -> Result<Grade, Misread>) -> Calibration {
        let examples = examples();
        let graded: Vec<Graded<'_>> = examples
            .iter()
            .map(|example| Graded {
                example,
                pass_first: judge(example, Offered::PassFirst),
                fail_first: judge(example, Offered::FailFirst),
            })
            .collect();
        calibrate(&graded).expect("a calibration")
    }

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    #[test]
    fn a_perfect_judge_agrees_and_has_no_bias() {
        let found = judged(|example, _| Ok(example.label));
        assert!(close(found.agreement, 1.0) && close(found.kappa, 1.0) && close(found.order_flips, 0.0) && close(found.length_bias, 0.0));
        assert_eq!((found.examples, found.unread), (40, 0));
    }

    #[test]
    fn a_judge_that_always_passes_is_no_better_than_chance() {
        let found = judged(|_, _| Ok(Grade::Pass));
        assert!(close(found.agreement, 0.5) && close(found.kappa, 0.0) && close(found.false_pass, 1.0) && close(found.false_fail, 0.0));
    }

    #[test]
    fn a_judge_that_likes_length_or_the_first_word_is_found_out() {
        let long = judged(|example, _| Ok(if example.length() > 100 { Grade::Pass } else { Grade::Fail }));
        assert!(close(long.length_bias, 1.0), "{long:?}");
        let first = judged(|_, offered| Ok(if offered == Offered::PassFirst { Grade::Pass } else { Grade::Fail }));
        assert!(close(first.order_flips, 1.0) && close(first.order_bias, 1.0), "{first:?}");
    }

    #[test]
    fn no_verdict_counts_against_the_judge() {
        let found = judged(|example, _| if example.label == Grade::Pass { Err(Misread::NoReason) } else { Ok(Grade::Fail) });
        assert!(close(found.agreement, 0.5) && found.unread == 20 && found.kappa < 0.5, "{found:?}");
    }

    #[test]
    fn examples_with_one_label_measure_nothing() {
        let examples: Vec<Labelled> = examples().into_iter().filter(|example| example.label == Grade::Pass).collect();
        let graded: Vec<Graded<'_>> =
            examples.iter().map(|example| Graded { example, pass_first: Ok(Grade::Pass), fail_first: Ok(Grade::Pass) }).collect();
        assert_eq!(calibrate(&graded), None);
        assert_eq!(calibrate(&[]), None);
    }

    #[test]
    fn bad_files_are_refused_with_every_mistake() {
        let good = r#"{"id":"a","rubric":"r","material":[{"who":"user","text":"t"}],"label":"pass"}"#;
        assert_eq!(Labelled::read_all(good).map(|found| found.len()), Ok(1));
        let bad = format!("{good}\n{good}\n{{\n{}", good.replace("pass", "maybe").replace("\"a\"", "\"b\""));
        assert_eq!(Labelled::read_all(&bad).map_err(|wrong| wrong.len()), Err(3));
        assert!(Labelled::read_all("").is_err());
    }
}
