//! Strict parser for the LLM judge's answer. An ambiguous answer is an error, never a pass.

use super::question::JudgeQuestion;
use model::transcript::JudgeGrade;
use model::{ContentHash, EventKind};
use serde::Deserialize;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeAnswer {
    pub question: ContentHash,
    pub grade: JudgeGrade,
    /// 1 to 5.
    pub score: u8,
    pub reason: String,
}

/// Reason for rejecting a judge's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgeAnswerError {
    /// Not exactly one JSON object, a missing, unknown or duplicate key, or a verdict that was not offered.
    NotOneVerdict(String),
    ScoreOutOfRange(u64),
    /// Verdict and score contradict each other.
    Contradiction {
        grade: JudgeGrade,
        score: u8,
    },
    NoReason,
}

impl fmt::Display for JudgeAnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JudgeAnswerError::NotOneVerdict(why) => write!(f, "the judge gave no single verdict: {why}"),
            JudgeAnswerError::ScoreOutOfRange(score) => write!(f, "the judge's score is {score}, not 1 to 5"),
            JudgeAnswerError::Contradiction { grade, score } => write!(f, "the judge's verdict is {}, its score {score}", grade.word()),
            JudgeAnswerError::NoReason => f.write_str("the judge gave no reason"),
        }
    }
}

impl std::error::Error for JudgeAnswerError {}

/// Minimum score of a pass.
const MIN_PASS_SCORE: u8 = 4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawJudgeAnswer {
    verdict: String,
    score: u64,
    reason: String,
}

impl JudgeAnswer {
    /// Parses one JSON object, bare or in one code fence.
    ///
    /// # Errors
    /// Fails if the text is not one consistent verdict with a reason.
    pub fn parse(question: &JudgeQuestion, text: &str) -> Result<Self, JudgeAnswerError> {
        let written: RawJudgeAnswer =
            serde_json::from_str(strip_fence(text)).map_err(|error| JudgeAnswerError::NotOneVerdict(error.to_string()))?;
        let grade = [JudgeGrade::Pass, JudgeGrade::Fail]
            .into_iter()
            .find(|grade| grade.word() == written.verdict && question.allowed.contains(&written.verdict))
            .ok_or_else(|| {
                JudgeAnswerError::NotOneVerdict(format!("{:?} is not one of {}", written.verdict, question.allowed.join(", ")))
            })?;
        let score = u8::try_from(written.score).ok().filter(|score| (1..=5).contains(score));
        let score = score.ok_or(JudgeAnswerError::ScoreOutOfRange(written.score))?;
        if (score >= MIN_PASS_SCORE) != (grade == JudgeGrade::Pass) {
            return Err(JudgeAnswerError::Contradiction { grade, score });
        }
        if written.reason.trim().is_empty() {
            return Err(JudgeAnswerError::NoReason);
        }
        Ok(Self { question: question.id.clone(), grade, score, reason: written.reason.trim().to_owned() })
    }
}

impl From<JudgeAnswer> for EventKind {
    fn from(answer: JudgeAnswer) -> Self {
        let JudgeAnswer { question, grade, score, reason } = answer;
        EventKind::Judged { question, grade, score, reason }
    }
}

fn strip_fence(text: &str) -> &str {
    let text = text.trim();
    let fenced = text.strip_prefix("```json").or_else(|| text.strip_prefix("```")).and_then(|rest| rest.strip_suffix("```"));
    fenced.unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::question::QuestionKind;

    fn read(text: &str) -> Result<JudgeAnswer, JudgeAnswerError> {
        let allowed = vec!["pass".into(), "fail".into()];
        let id = ContentHash::of_text("q");
        JudgeAnswer::parse(
            &JudgeQuestion { id, case: "c".into(), kind: QuestionKind::Rubric, rubric: "r".into(), material: vec![], allowed },
            text,
        )
    }

    #[test]
    fn judge_answer_parses_single_verdict() {
        let answer = read(r#"{"verdict": "pass", "score": 5, "reason": "It asks first."}"#).expect("an answer");
        assert_eq!((answer.grade, answer.score, answer.question), (JudgeGrade::Pass, 5, ContentHash::of_text("q")));
        assert_eq!(
            read("```json\n{\"verdict\": \"fail\", \"score\": 1, \"reason\": \"No.\"}\n```").map(|answer| answer.grade),
            Ok(JudgeGrade::Fail)
        );
    }

    #[test]
    fn judge_answer_rejects_ambiguous_text() {
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
            assert!(matches!(read(text), Err(JudgeAnswerError::NotOneVerdict(_))), "{text}");
        }
        assert_eq!(read(r#"{"verdict": "pass", "score": 9, "reason": "x"}"#), Err(JudgeAnswerError::ScoreOutOfRange(9)));
        assert_eq!(
            read(r#"{"verdict": "pass", "score": 3, "reason": "x"}"#),
            Err(JudgeAnswerError::Contradiction { grade: JudgeGrade::Pass, score: 3 })
        );
        assert_eq!(
            read(r#"{"verdict": "fail", "score": 4, "reason": "x"}"#),
            Err(JudgeAnswerError::Contradiction { grade: JudgeGrade::Fail, score: 4 })
        );
        assert_eq!(read(r#"{"verdict": "fail", "score": 2, "reason": " "}"#), Err(JudgeAnswerError::NoReason));
    }
}
