//! Judges if reworded texts of a run mean the same as in the baseline. Without a clear verdict they stay unjudged.

use crate::golden::{ChangedCase, GoldenDiff, WordingChange, WordingVerdict};
use crate::judging::query;
use futures::{StreamExt, stream};
use model::transcript::JudgeGrade;
use run::judge::LlmJudge;
use run::ledger::{CallId, CallRole};
use score::golden::RewordedText;
use score::questions::{JudgeAnswer, JudgeQuestion};

/// Asks a judge about every reworded text. One with another meaning counts as a change of its case.
pub async fn judge_wordings(judge: &LlmJudge, diff: &mut GoldenDiff, at_once: usize) {
    let asked = diff.reworded.iter().map(|wording| judge_wording(judge, wording));
    let verdicts: Vec<WordingVerdict> = stream::iter(asked).buffered(at_once.max(1)).collect().await;
    for (wording, verdict) in diff.reworded.iter_mut().zip(verdicts) {
        if let WordingVerdict::Different { reason } = &verdict {
            let RewordedText { before, after } = &wording.text;
            let change = format!("different meaning: {}, was {}", quote_start(after), quote_start(before));
            let line = [change, format!("the judge: {reason}")].join("  ");
            match diff.changed.iter_mut().find(|one| one.case == wording.case && one.path == wording.path) {
                Some(changed) => changed.changes.push(line),
                None => diff.changed.push(ChangedCase { path: wording.path.clone(), case: wording.case.clone(), changes: vec![line] }),
            }
        }
        wording.verdict = verdict;
    }
}

async fn judge_wording(judge: &LlmJudge, wording: &WordingChange) -> WordingVerdict {
    let RewordedText { before, after } = &wording.text;
    let Some(question) = JudgeQuestion::wording(&wording.case, before, after) else {
        return WordingVerdict::NoVerdict { why: "too long to be judged as a whole".to_owned() };
    };
    let call = CallId { trial: question.id.clone(), role: CallRole::Judge, n: 0 };
    match judge.ask(&query(call, 1, &question)).await {
        Err(fault) => WordingVerdict::NoVerdict { why: fault.to_string() },
        Ok(text) => match JudgeAnswer::parse(&question, &text) {
            Err(misread) => WordingVerdict::NoVerdict { why: misread.to_string() },
            Ok(JudgeAnswer { grade: JudgeGrade::Pass, .. }) => WordingVerdict::Same,
            Ok(JudgeAnswer { grade: JudgeGrade::Fail, reason, .. }) => WordingVerdict::Different { reason },
        },
    }
}

/// Quotes the beginning of a text.
fn quote_start(text: &str) -> String {
    const MAX_QUOTED_CHARS: usize = 80;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("\"{}\"", model::shortened(&line, MAX_QUOTED_CHARS))
}
