//! Answers that told the user of what was written before the user went on. Decision 69.

use super::reported_writes::{names_any, written_values};
use super::stated_status::{is_denial, stated_status};
use crate::evidence::Evidence;
use crate::json_answer::parse_json_answer;
use lexical::{FoldMode, FoldedText, asks, sentences};
use model::EventKind;

/// Words for an act that is done.
const DONE: &[&str] = &[
    "done",
    "executed",
    "completed",
    "finished",
    "succeeded",
    "successful",
    "successfully",
    "went through",
    "sold",
    "bought",
    "swapped",
    "exchanged",
    "sent",
    "transferred",
    "paid",
    "bridged",
    "deposited",
    "withdrawn",
    "withdrew",
    "supplied",
    "borrowed",
    "repaid",
    "staked",
    "unstaked",
    "claimed",
    "burned",
    "burnt",
    "minted",
    "opened",
    "closed",
    "cancelled",
    "canceled",
    "revoked",
    "erledigt",
    "ausgeführt",
    "abgeschlossen",
    "verkauft",
    "gekauft",
    "getauscht",
    "gesendet",
    "überwiesen",
    "hecho",
    "listo",
    "completado",
    "ejecutado",
    "vendido",
    "vendidos",
    "comprado",
    "enviado",
    "enviados",
    "feito",
    "concluído",
    "executado",
    "fait",
    "terminé",
    "effectué",
    "vendu",
    "envoyé",
    "fatto",
    "completato",
    "eseguito",
    "venduto",
    "inviato",
    "готово",
    "выполнено",
    "сделано",
    "продано",
    "отправлено",
    "tamamlandı",
    "yapıldı",
    "satıldı",
    "gönderildi",
    "已完成",
    "完成了",
    "已卖出",
    "已发送",
    "完了",
    "しました",
    "완료",
    "했습니다",
    "हो गया",
    "تم",
    "selesai",
    "sudah",
    "đã",
];
/// Words that deny an act.
const NEGATIONS: &[&str] = &[
    "not",
    "nothing",
    "never",
    "none",
    "cannot",
    "can't",
    "didn't",
    "wasn't",
    "weren't",
    "isn't",
    "hasn't",
    "haven't",
    "couldn't",
    "unable",
    "failed",
    "reverted",
    "declined",
    "refused",
    "no transaction",
    "no trade",
    "no swap",
    "no transfer",
    "no funds",
    "no action",
    "nicht",
    "nichts",
    "kein",
    "keine",
    "nada",
    "ningún",
    "ninguna",
    "no se",
    "no he",
    "no ha",
    "no fue",
    "no pude",
    "não",
    "nenhum",
    "nenhuma",
    "pas",
    "rien",
    "aucun",
    "aucune",
    "non",
    "niente",
    "не",
    "ничего",
    "нет",
    "yok",
    "yapılmadı",
    "没有",
    "尚未",
    "ません",
    "なかった",
    "않",
    "못했",
    "नहीं",
    "لم",
    "لن",
    "tidak",
    "belum",
    "không",
    "chưa",
];
/// Words for an act that is still to come.
const PENDING: &[&str] = &[
    "will",
    "i'll",
    "going to",
    "about to",
    "moment",
    "hold on",
    "working on",
    "processing",
    "preparing",
    "checking",
    "let me",
    "shall",
    "would",
    "plan to",
    "werde",
    "gleich",
    "voy a",
    "vamos a",
    "momento",
    "enseguida",
    "vou",
    "je vais",
    "instant",
    "sto per",
    "сейчас",
    "буду",
    "минуту",
    "birazdan",
    "正在",
    "请稍",
    "马上",
    "少々",
    "これから",
    "하겠습니다",
    "잠시",
    "سوف",
    "لحظة",
    "akan",
    "sebentar",
    "sẽ",
];

/// Returns the event of the last answer that told of a write, if the user has spoken between it and this event. Without a word of the user
/// the later answer is about the same request.
pub(super) fn told_before(evidence: &Evidence<'_>, event: u32) -> Option<u32> {
    let events = &evidence.transcript.events;
    let reply = events.iter().rfind(|one| one.n < event && matches!(one.happened, EventKind::UserSaid { .. }))?.n;
    let values = written_values(evidence);
    let answers = events.iter().filter(|one| one.n < reply && one.depth == 0).filter_map(|one| {
        let (EventKind::Said { text } | EventKind::Asked { text }) = &one.happened else { return None };
        Some((one.n, text))
    });
    answers.rev().find(|(_, text)| tells_of_write(&values, text)).map(|(event, _)| event)
}

/// Returns whether an answer says that something was written: by its status, in words, or by a value of the write. "Working on it." and a
/// denial do not.
fn tells_of_write(values: &[String], answer: &str) -> bool {
    if let Some(value) = parse_json_answer(answer) {
        return stated_status(&value).map_or_else(|| names_any(values, answer), |status| !is_denial(&status));
    }
    let clauses: Vec<ClauseSense> = sentences(answer).iter().flat_map(|sentence| clauses_of(sentence)).map(ClauseSense::of).collect();
    let is_denied = clauses.iter().any(|clause| clause.is_negated);
    let names_write = |sentence: &String| !ClauseSense::of(sentence).is_pending && names_any(values, sentence);
    clauses.iter().any(|clause| clause.is_done && !clause.is_negated && !clause.is_pending)
        || !is_denied && sentences(answer).iter().any(names_write)
}

fn clauses_of(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split([';', '—', '–', '(', ')', '，', '；', '：']).flat_map(|part| part.split(", ")).flat_map(|part| part.split(": "))
}

struct ClauseSense {
    is_done: bool,
    is_negated: bool,
    /// A question, or an act to come.
    is_pending: bool,
}

impl ClauseSense {
    fn of(clause: &str) -> Self {
        let folded = FoldedText::new(clause, FoldMode::Punctuation);
        let has = |words: &[&str]| words.iter().any(|word| folded.contains(&FoldedText::new(word, FoldMode::Punctuation)));
        Self { is_done: has(DONE), is_negated: has(NEGATIONS), is_pending: asks(clause) || has(PENDING) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tells(answer: &str) -> bool {
        tells_of_write(&["USDC".to_owned(), "250".to_owned(), "WETH".to_owned()], answer)
    }

    #[test]
    fn answers_tell_of_a_write_by_status_word_or_value() {
        for answer in [
            r#"{"status": "success"}"#,
            r#"{"status": "partial", "reason": "Half was sold."}"#,
            r#"{"amount_in": "250", "token_in": "USDC"}"#,
            "Done.",
            "Sold, and nothing else was touched.",
            "Sold 250 USDC; the rest will stay. Shall I sell more?",
            "Your 250 USDC are now 0.0779 WETH.",
            "250 USDC verkauft, sonst nichts.",
            "Erledigt.",
            "Hecho: 250 USDC vendidos.",
            "250 USDC を売却しました。",
            "已完成。",
            "Готово.",
            "Swapping 250 USDC for WETH",
        ] {
            assert!(tells(answer), "{answer}");
        }
    }

    #[test]
    fn notices_plans_and_denials_tell_of_no_write() {
        for answer in [
            "",
            "On it.",
            "Working on it.",
            "One moment, please.",
            "I will sell 250 USDC now.",
            "Shall I sell 250 USDC?",
            "Let me sell the 250 USDC.",
            "I did not sell the 250 USDC.",
            "I didn’t sell them.",
            "Nothing was done, 250 USDC remain.",
            "No transaction was sent.",
            "The swap of 250 USDC failed.",
            "It was not sold.",
            "It will be sold soon.",
            "250 USDC wurden nicht verkauft.",
            "No se ha vendido nada.",
            r#"{"status": "declined", "reason": "250 USDC stay."}"#,
            r#"{"status": "Not executed"}"#,
            r#"{"reason": "Looking."}"#,
        ] {
            assert!(!tells(answer), "{answer}");
        }
    }
}
