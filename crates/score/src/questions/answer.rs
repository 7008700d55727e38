//! A judge's answer, read strictly: what is not plainly one verdict is an error, never a pass.

use super::question::Question;
use model::transcript::Grade;
use model::{Happened, Hash};
use serde::Deserialize;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub question: Hash,
    pub grade: Grade,
    /// 1 to 5.
    pub score: u8,
    pub reason: String,
}

/// Why an answer is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misread {
    /// No JSON object, a second one, a missing or doubled key, or a verdict nobody offered.
    NotOneVerdict(String),
    ScoreOutOfRange(u64),
    /// The verdict says one thing, the score another.
    Contradiction {
        grade: Grade,
        score: u8,
    },
    NoReason,
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misread::NotOneVerdict(why) => write!(f, "the judge gave no single verdict: {why}"),
            Misread::ScoreOutOfRange(score) => write!(f, "the judge's score is {score}, not 1 to 5"),
            Misread::Contradiction { grade, score } => write!(f, "the judge's verdict is {}, its score {score}", grade.word()),
            Misread::NoReason => f.write_str("the judge gave no reason"),
        }
    }
}

impl std::error::Error for Misread {}

/// From here on a score means pass.
const PASSES_FROM: u8 = 4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    verdict: String,
    score: u64,
    reason: String,
}

impl Answer {
    /// One JSON object, bare or as the only content of one fence.
    pub fn read(question: &Question, text: &str) -> Result<Self, Misread> {
        let written: Written = serde_json::from_str(bare(text)).map_err(|error| Misread::NotOneVerdict(error.to_string()))?;
        let grade = [Grade::Pass, Grade::Fail]
            .into_iter()
            .find(|grade| grade.word() == written.verdict && question.allowed.contains(&written.verdict))
            .ok_or_else(|| Misread::NotOneVerdict(format!("{:?} is not one of {}", written.verdict, question.allowed.join(", "))))?;
        let score = u8::try_from(written.score).ok().filter(|score| (1..=5).contains(score));
        let score = score.ok_or(Misread::ScoreOutOfRange(written.score))?;
        if (score >= PASSES_FROM) != (grade == Grade::Pass) {
            return Err(Misread::Contradiction { grade, score });
        }
        if written.reason.trim().is_empty() {
            return Err(Misread::NoReason);
        }
        Ok(Self { question: question.id.clone(), grade, score, reason: written.reason.trim().to_owned() })
    }
}

impl From<Answer> for Happened {
    fn from(answer: Answer) -> Self {
        let Answer { question, grade, score, reason } = answer;
        Happened::Judged { question, grade, score, reason }
    }
}

fn bare(text: &str) -> &str {
    let text = text.trim();
    let fenced = text.strip_prefix("```json").or_else(|| text.strip_prefix("```")).and_then(|rest| rest.strip_suffix("```"));
    fenced.unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::question::QuestionKind;

    fn read(text: &str) -> Result<Answer, Misread> {
        let allowed = vec!["pass".into(), "fail".into()];
        let id = Hash::of_text("q");
        Answer::read(&Question { id, case: "c".into(), kind: QuestionKind::Rubric, rubric: "r".into(), material: vec![], allowed }, text)
    }

    #[test]
    fn one_plain_verdict_is_read() {
        let answer = read(r#"{"verdict": "pass", "score": 5, "reason": "It asks first."}"#).expect("an answer");
        assert_eq!((answer.grade, answer.score, answer.question), (Grade::Pass, 5, Hash::of_text("q")));
        assert_eq!(
            read("```json\n{\"verdict\": \"fail\", \"score\": 1, \"reason\": \"No.\"}\n```").map(|answer| answer.grade),
            Ok(Grade::Fail)
        );
    }

    #[test]
    fn everything_else_is_an_error() {
        let not_one = [
            "",
            "pass",
            "PASS. It did well.",
            r#"{"score": 5, "reason": "x"}"#,
            r#"{"verdict": "pass", "verdict": "fail", "score": 5, "reason": "x"}"#,
            r#"{"verdict": "pass", "score": 5, "reason": "x"} {"verdict": "fail", "score": 1, "reason": "x"}"#,
            r#"{"verdict": "PASS", "score": 5, "reason": "x"}"#,
            r#"{"verdict": ["pass", "fail"], "score": 5, "reason": "x"}"#,
            r#"{"verdict": "pass", "score": 5, "reason": "x", "note": "y"}"#,
            r#"{"verdict": "pass", "reason": "x"}"#,
            r#"I think: {"verdict": "pass", "score": 5, "reason": "x"}"#,
        ];
        for text in not_one {
            assert!(matches!(read(text), Err(Misread::NotOneVerdict(_))), "{text}");
        }
        assert_eq!(read(r#"{"verdict": "pass", "score": 9, "reason": "x"}"#), Err(Misread::ScoreOutOfRange(9)));
        assert_eq!(read(r#"{"verdict": "pass", "score": 3, "reason": "x"}"#), Err(Misread::Contradiction { grade: Grade::Pass, score: 3 }));
        assert_eq!(read(r#"{"verdict": "fail", "score": 4, "reason": "x"}"#), Err(Misread::Contradiction { grade: Grade::Fail, score: 4 }));
        assert_eq!(read(r#"{"verdict": "fail", "score": 2, "reason": " "}"#), Err(Misread::NoReason));
    }
}
