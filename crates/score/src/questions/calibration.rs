//! Calibration of the LLM judge on human-labelled examples.

use super::answer::JudgeAnswerError;
use super::question::{JudgeQuestion, QuestionKind, QuestionMaterial};
use crate::statistics::JudgeErrorRates;
use model::transcript::JudgeGrade;
use serde::{Deserialize, Serialize};

/// Example with a human verdict.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelledExample {
    pub id: String,
    pub rubric: String,
    pub material: Vec<ExampleMessage>,
    pub label: JudgeGrade,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExampleMessage {
    pub who: String,
    pub text: String,
}

/// Mistake in a file of labelled examples.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExampleError {
    #[error("line {line}: {why}")]
    Unreadable { line: usize, why: String },
    #[error("line {line}: duplicate id {id}")]
    Repeated { line: usize, id: String },
    #[error("line {line}: {id} has no material")]
    NoMaterial { line: usize, id: String },
    #[error("the file has no examples")]
    Empty,
}

/// Order in which the verdicts are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictOrder {
    PassFirst,
    FailFirst,
}

impl LabelledExample {
    /// Parses JSON Lines.
    ///
    /// # Errors
    /// Returns all mistakes of the file.
    pub fn parse_lines(text: &str) -> Result<Vec<Self>, Vec<ExampleError>> {
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

    /// Returns the question for the judge, without the label.
    pub fn question(&self, offered: VerdictOrder) -> JudgeQuestion {
        let material =
            (1..).zip(&self.material).map(|(event, said)| QuestionMaterial { event, who: said.who.clone(), text: said.text.clone() });
        let question = JudgeQuestion::new(String::new(), QuestionKind::Rubric, self.rubric.clone(), material.collect());
        match offered {
            VerdictOrder::PassFirst => question,
            VerdictOrder::FailFirst => question.with_allowed(&["fail", "pass"]),
        }
    }

    fn length(&self) -> usize {
        self.material.iter().map(|message| message.text.chars().count()).sum()
    }
}

/// Verdicts of the judge on one example, in both orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GradedExample<'e> {
    pub example: &'e LabelledExample,
    pub pass_first: Result<JudgeGrade, JudgeAnswerError>,
    pub fail_first: Result<JudgeGrade, JudgeAnswerError>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeCalibration {
    pub examples: usize,
    /// Examples labelled as passing. Absent in calibrations of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passing: Option<usize>,
    /// Answers without a valid verdict; each counts as a disagreement.
    pub unread: usize,
    /// Fraction of examples on which judge and label agree.
    pub agreement: f64,
    /// Cohen's kappa: 0 is chance agreement, 1 is full agreement.
    pub kappa: f64,
    /// Fraction of failing examples that the judge passed.
    pub false_pass: f64,
    /// Fraction of passing examples that the judge failed.
    pub false_fail: f64,
    /// Fraction of examples whose verdict depends on the order of the offered verdicts.
    pub order_flips: f64,
    /// Pass rate with "pass" offered first minus the pass rate with "fail" first.
    pub order_bias: f64,
    /// Excess pass rate over the labels in the longer half, minus that in the shorter half.
    pub length_bias: f64,
}

/// Least agreement and kappa of a judge that may decide gates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgreementBounds {
    pub agreement: f64,
    pub kappa: f64,
}

impl AgreementBounds {
    /// On labels of which half pass, both bounds mean the same: four of five examples judged as labelled.
    pub const DEFAULT: Self = Self { agreement: 0.8, kappa: 0.6 };
}

/// Conclusion about a judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalibrationVerdict {
    Reliable,
    BelowBounds,
    /// No verdict could be read, so nothing was measured.
    NothingRead,
}

impl JudgeCalibration {
    /// Returns the errors of the judge, for the correction of rates; `None` for calibrations of earlier versions.
    pub fn error_rates(&self) -> Option<JudgeErrorRates> {
        let passing = self.passing?;
        Some(JudgeErrorRates {
            passing: passing as f64,
            sensitivity: 1.0 - self.false_fail,
            failing: self.examples.saturating_sub(passing) as f64,
            specificity: 1.0 - self.false_pass,
        })
    }

    pub fn verdict(&self, bounds: AgreementBounds) -> CalibrationVerdict {
        if self.unread == self.examples {
            CalibrationVerdict::NothingRead
        } else if self.agreement < bounds.agreement || self.kappa < bounds.kappa {
            CalibrationVerdict::BelowBounds
        } else {
            CalibrationVerdict::Reliable
        }
    }
}

/// Measures the judge on graded examples. Returns `None` unless both labels occur.
pub fn calibrate(graded: &[GradedExample<'_>]) -> Option<JudgeCalibration> {
    let n = graded.len();
    let labels = |label: JudgeGrade| graded.iter().filter(move |one| one.example.label == label);
    if labels(JudgeGrade::Pass).next().is_none() || labels(JudgeGrade::Fail).next().is_none() {
        return None;
    }
    let said = |one: &GradedExample<'_>, verdict: JudgeGrade| one.pass_first == Ok(verdict);
    let agreement = share_where(graded.iter(), |one| said(one, one.example.label));
    let by_chance: f64 = [JudgeGrade::Pass, JudgeGrade::Fail]
        .map(|verdict| {
            share_where(graded.iter(), |one| one.example.label == verdict) * share_where(graded.iter(), |one| said(one, verdict))
        })
        .iter()
        .sum();
    let mut by_length: Vec<&GradedExample<'_>> = graded.iter().collect();
    by_length.sort_by_key(|one| (one.example.length(), one.example.id.as_str()));
    let (short, long) = by_length.split_at(n / 2);
    let excess = |half: &[&GradedExample<'_>]| {
        share_where(half.iter(), |one| said(one, JudgeGrade::Pass)) - share_where(half.iter(), |one| one.example.label == JudgeGrade::Pass)
    };
    Some(JudgeCalibration {
        examples: n,
        passing: Some(labels(JudgeGrade::Pass).count()),
        unread: graded.iter().filter(|one| one.pass_first.is_err()).count(),
        agreement,
        // Both labels occur, so `by_chance` is below 1.
        kappa: (agreement - by_chance) / (1.0 - by_chance),
        false_pass: share_where(labels(JudgeGrade::Fail), |one| said(one, JudgeGrade::Pass)),
        false_fail: share_where(labels(JudgeGrade::Pass), |one| said(one, JudgeGrade::Fail)),
        order_flips: share_where(graded.iter(), |one| one.pass_first.as_ref().ok() != one.fail_first.as_ref().ok()),
        order_bias: share_where(graded.iter(), |one| said(one, JudgeGrade::Pass))
            - share_where(graded.iter(), |one| one.fail_first == Ok(JudgeGrade::Pass)),
        length_bias: excess(long) - excess(short),
    })
}

fn share_where<T>(of: impl Iterator<Item = T>, holds: impl Fn(&T) -> bool) -> f64 {
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

    /// 40 examples, half of them passing; every second one is long.
    fn examples() -> Vec<LabelledExample> {
        let one = |n: usize| LabelledExample {
            id: format!("e{n:02}"),
            rubric: "It is kind.".into(),
            material: vec![ExampleMessage { who: "assistant".into(), text: "word ".repeat(if n.is_multiple_of(2) { 50 } else { 1 }) }],
            label: if n % 4 < 2 { JudgeGrade::Pass } else { JudgeGrade::Fail },
        };
        (0..40).map(one).collect()
    }

    fn calibrate_with(judge: impl Fn(&LabelledExample, VerdictOrder) -> Result<JudgeGrade, JudgeAnswerError>) -> JudgeCalibration {
        let examples = examples();
        let graded: Vec<GradedExample<'_>> = examples
            .iter()
            .map(|example| GradedExample {
                example,
                pass_first: judge(example, VerdictOrder::PassFirst),
                fail_first: judge(example, VerdictOrder::FailFirst),
            })
            .collect();
        calibrate(&graded).expect("a calibration")
    }

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    #[test]
    fn perfect_judge_agrees_without_bias() {
        let found = calibrate_with(|example, _| Ok(example.label));
        assert!(close(found.agreement, 1.0) && close(found.kappa, 1.0) && close(found.order_flips, 0.0) && close(found.length_bias, 0.0));
        assert_eq!((found.examples, found.unread), (40, 0));
    }

    #[test]
    fn always_passing_judge_has_kappa_zero() {
        let found = calibrate_with(|_, _| Ok(JudgeGrade::Pass));
        assert!(close(found.agreement, 0.5) && close(found.kappa, 0.0) && close(found.false_pass, 1.0) && close(found.false_fail, 0.0));
    }

    #[test]
    fn length_and_order_bias_are_measured() {
        let long = calibrate_with(|example, _| Ok(if example.length() > 100 { JudgeGrade::Pass } else { JudgeGrade::Fail }));
        assert!(close(long.length_bias, 1.0), "{long:?}");
        let first = calibrate_with(|_, offered| Ok(if offered == VerdictOrder::PassFirst { JudgeGrade::Pass } else { JudgeGrade::Fail }));
        assert!(close(first.order_flips, 1.0) && close(first.order_bias, 1.0), "{first:?}");
    }

    #[test]
    fn missing_verdict_counts_as_disagreement() {
        let found = calibrate_with(
            |example, _| if example.label == JudgeGrade::Pass { Err(JudgeAnswerError::NoReason) } else { Ok(JudgeGrade::Fail) },
        );
        assert!(close(found.agreement, 0.5) && found.unread == 20 && found.kappa < 0.5, "{found:?}");
    }

    #[test]
    fn calibrate_is_none_with_one_label() {
        let examples: Vec<LabelledExample> = examples().into_iter().filter(|example| example.label == JudgeGrade::Pass).collect();
        let graded: Vec<GradedExample<'_>> = examples
            .iter()
            .map(|example| GradedExample { example, pass_first: Ok(JudgeGrade::Pass), fail_first: Ok(JudgeGrade::Pass) })
            .collect();
        assert_eq!(calibrate(&graded), None);
        assert_eq!(calibrate(&[]), None);
    }

    #[test]
    fn parse_lines_reports_every_mistake() {
        let good = r#"{"id":"a","rubric":"r","material":[{"who":"user","text":"t"}],"label":"pass"}"#;
        assert_eq!(LabelledExample::parse_lines(good).map(|found| found.len()), Ok(1));
        let bad = format!("{good}\n{good}\n{{\n{}", good.replace("pass", "maybe").replace("\"a\"", "\"b\""));
        assert_eq!(LabelledExample::parse_lines(&bad).map_err(|wrong| wrong.len()), Err(3));
        assert!(LabelledExample::parse_lines("").is_err());
    }
}
