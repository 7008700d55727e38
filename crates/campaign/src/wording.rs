//! Texts of a run in other words than the baseline's: what a judge says about them. What it does not plainly say stays unjudged.

use crate::golden::{Changed, GoldenDiff, Says, Wording};
use crate::judging::query;
use futures::{StreamExt, stream};
use model::transcript::Grade;
use run::judge::Judge;
use run::ledger::{CallId, Role};
use score::golden::Reworded;
use score::questions::{Answer, Question};

/// Asks a judge about every reworded text. One that says something else is a change of its case.
pub async fn judge_wordings(judge: &Judge, diff: &mut GoldenDiff, at_once: usize) {
    let asked = diff.reworded.iter().map(|wording| ask(judge, wording));
    let said: Vec<Says> = stream::iter(asked).buffered(at_once.max(1)).collect().await;
    for (wording, says) in diff.reworded.iter_mut().zip(said) {
        if let Says::Otherwise { reason } = &says {
            let Reworded { before, after } = &wording.text;
            let change = format!("says something else: {}, said {}", quoted(after), quoted(before));
            let line = [change, format!("the judge: {reason}")].join("  ");
            match diff.changed.iter_mut().find(|one| one.case == wording.case && one.shelf == wording.shelf) {
                Some(changed) => changed.changes.push(line),
                None => diff.changed.push(Changed { shelf: wording.shelf.clone(), case: wording.case.clone(), changes: vec![line] }),
            }
        }
        wording.says = says;
    }
}

async fn ask(judge: &Judge, wording: &Wording) -> Says {
    let Reworded { before, after } = &wording.text;
    let Some(question) = Question::wording(&wording.case, before, after) else {
        return Says::Unjudged { why: "it is too long to be judged as a whole".to_owned() };
    };
    let call = CallId { trial: question.id.clone(), role: Role::Judge, n: 0 };
    match judge.ask(&query(call, 1, &question)).await {
        Err(fault) => Says::Unjudged { why: fault.to_string() },
        Ok(text) => match Answer::read(&question, &text) {
            Err(misread) => Says::Unjudged { why: misread.to_string() },
            Ok(Answer { grade: Grade::Pass, .. }) => Says::TheSame,
            Ok(Answer { grade: Grade::Fail, reason, .. }) => Says::Otherwise { reason },
        },
    }
}

/// The beginning of a text, for a line.
fn quoted(text: &str) -> String {
    const MOST: usize = 80;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = if line.chars().count() > MOST { "…" } else { "" };
    format!("\"{}{cut}\"", line.chars().take(MOST).collect::<String>())
}
