//! Sentences of a text, and those of them that ask for something.

use crate::phrase::{FoldMode, FoldedText};
use std::sync::LazyLock;

/// Phrases that ask without a question mark, in the languages of the suites.
const REQUEST_PHRASES: &[&[&str]] = &[
    &[
        "please provide",
        "please tell",
        "please specify",
        "please confirm",
        "please share",
        "please give",
        "please send",
        "please state",
        "please name",
        "please paste",
        "let me know",
        "tell me",
        "i need",
        "i still need",
        "could you",
        "can you",
    ],
    &[
        "ich brauche",
        "ich benötige",
        "brauche ich",
        "benötige ich",
        "mir fehlt",
        "sag mir",
        "sagen sie mir",
        "nenn mir",
        "nenne mir",
        "nennen sie",
        "gib mir",
        "geben sie",
        "bitte sag",
        "bitte nenn",
        "bitte nenne",
        "bitte gib",
        "bitte bestätige",
        "bitte bestätigen",
        "bitte teile",
        "teilen sie mir",
        "kannst du",
        "können sie",
        "könntest du",
        "könnten sie",
    ],
    &[
        "j'ai besoin",
        "il me faut",
        "il me manque",
        "dites-moi",
        "dis-moi",
        "donnez-moi",
        "donne-moi",
        "indiquez",
        "indique-moi",
        "précisez",
        "précise-moi",
        "veuillez préciser",
        "veuillez indiquer",
        "veuillez confirmer",
        "veuillez fournir",
        "merci de préciser",
        "merci de m'indiquer",
        "pouvez-vous",
        "peux-tu",
        "pourriez-vous",
        "pourrais-tu",
    ],
    &[
        "necesito",
        "me falta",
        "me hace falta",
        "dime",
        "dígame",
        "indícame",
        "indíqueme",
        "confírmame",
        "pásame",
        "mándame",
        "por favor indica",
        "por favor confirma",
        "puedes decirme",
        "puedes darme",
        "puedes confirmar",
        "podrías",
        "podría decirme",
    ],
    &[
        "preciso de",
        "preciso do",
        "preciso da",
        "preciso saber",
        "falta-me",
        "me diga",
        "diga-me",
        "me informe",
        "informe-me",
        "me passe",
        "me passa",
        "por favor informe",
        "por favor confirme",
        "você pode",
        "poderia",
    ],
    &[
        "ho bisogno",
        "mi serve",
        "mi servono",
        "mi manca",
        "dimmi",
        "mi dica",
        "indicami",
        "confermami",
        "puoi dirmi",
        "potresti",
        "potrebbe dirmi",
    ],
    &[
        "ihtiyacım var",
        "bana söyle",
        "bana söyler misin",
        "söyler misin",
        "söyler misiniz",
        "belirtir misin",
        "belirtir misiniz",
        "paylaşır mısın",
        "paylaşır mısınız",
        "lütfen belirt",
        "lütfen belirtin",
        "lütfen söyle",
        "lütfen söyleyin",
        "lütfen paylaş",
        "lütfen paylaşın",
        "lütfen gönder",
        "lütfen onayla",
        "lütfen onaylayın",
    ],
    &[
        "мне нужен",
        "мне нужна",
        "мне нужно",
        "мне нужны",
        "скажи",
        "скажите",
        "укажи",
        "укажите",
        "подскажи",
        "подскажите",
        "сообщи",
        "сообщите",
        "уточни",
        "уточните",
        "назови",
        "назовите",
        "пришли мне",
        "пришлите",
        "подтверди",
        "подтвердите",
    ],
    &["请提供", "请告诉", "请说明", "请确认", "请问", "请给", "请发", "告诉我", "我需要", "还需要您", "还需要你"],
    &["教えて", "お知らせください", "指定してください", "ご指定ください", "ご確認ください", "確認してください", "が必要です"],
    &[
        "알려 주세요",
        "알려주세요",
        "말씀해 주세요",
        "말씀해주세요",
        "확인해 주세요",
        "확인해주세요",
        "지정해 주세요",
        "지정해주세요",
        "보내 주세요",
        "보내주세요",
        "필요합니다",
        "필요해요",
    ],
    &["मुझे चाहिए", "बताएं", "बताएँ", "बताइए", "बताइये", "बता दें", "कृपया पुष्टि", "कृपया भेजें"],
    &[
        "أحتاج",
        "أخبرني",
        "أخبريني",
        "زودني",
        "أعطني",
        "أرسل لي",
        "يرجى تحديد",
        "يرجى تأكيد",
        "يرجى إخباري",
        "الرجاء تحديد",
        "الرجاء تأكيد",
        "هل يمكنك",
    ],
];

static FOLDED_REQUESTS: LazyLock<Vec<FoldedText>> = LazyLock::new(|| {
    let phrases = REQUEST_PHRASES.iter().copied().flatten();
    phrases.map(|phrase| FoldedText::new(phrase, FoldMode::Punctuation)).collect()
});

/// Question marks of Latin, East Asian and Arabic text.
const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];

/// Returns the sentences that ask for something: with a question mark, or in words.
pub fn questions(text: &str) -> Vec<String> {
    sentences(text).into_iter().filter(|sentence| asks(sentence)).collect()
}

/// Reports whether a sentence asks for something.
pub fn asks(sentence: &str) -> bool {
    has_question_mark(sentence) || {
        let folded = FoldedText::new(sentence, FoldMode::Punctuation);
        FOLDED_REQUESTS.iter().any(|request| folded.contains(request))
    }
}

/// Reports whether a text ends with a question mark.
pub fn has_question_mark(text: &str) -> bool {
    text.trim_end().trim_end_matches(['"', '\'', ')', '*', '»', '”', '」', '!', '！', '.', '…', '_', '`']).ends_with(QUESTION_MARKS)
}

/// Splits a text into sentences. A dot that is not followed by white space ("0.5") does not end one.
pub fn sentences(text: &str) -> Vec<String> {
    let mut found = vec![];
    let mut sentence = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        sentence.push(c);
        let ends = matches!(c, '.' | '!' | '?') && rest.peek().is_none_or(|next| next.is_whitespace());
        if ends || matches!(c, '\n' | '。' | '！' | '？' | '؟') {
            found.push(std::mem::take(&mut sentence).trim().to_owned());
        }
    }
    found.push(sentence.trim().to_owned());
    found.retain(|sentence| !sentence.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_sentences_that_ask() {
        assert_eq!(questions("The fee is 0.3 percent. Which chain?"), ["Which chain?"]);
        assert_eq!(questions("I need the amount. The chain is fine."), ["I need the amount."]);
        assert!(questions("Swapped the amount on the chain.").is_empty());
        assert_eq!(questions("手数料は0.3です。いくら交換しますか？"), ["いくら交換しますか？"]);
        assert_eq!(questions("على أي شبكة؟"), ["على أي شبكة؟"]);
    }

    #[test]
    fn requests_are_read_in_the_languages_of_the_suites() {
        for request in [
            "Necesito la dirección.",
            "Ich brauche noch die Adresse.",
            "Il me faut l’adresse du destinataire.",
            "J'ai besoin du montant.",
            "Preciso do endereço.",
            "Mi serve l'indirizzo.",
            "Lütfen adresi belirtir misiniz.",
            "Укажите, пожалуйста, адрес.",
            "请告诉我地址。",
            "住所を教えてください。",
            "주소를 알려 주세요.",
            "कृपया पता बताएं।",
            "أحتاج إلى العنوان.",
        ] {
            assert_eq!(questions(request).len(), 1, "{request}");
        }
        assert_eq!(questions("Necesito la dirección… ¿Me la pasas?"), ["Necesito la dirección… ¿Me la pasas?"]);
        assert_eq!(questions("Necesito la dirección. ¿Me la pasas?").len(), 2);
        for statement in ["La dirección está en el registro.", "Die Adresse steht im Register.", "地址在名单里。", "Адрес есть в списке."]
        {
            assert!(questions(statement).is_empty(), "{statement}");
        }
    }

    #[test]
    fn question_mark_may_stand_inside_quotes_or_brackets() {
        assert!(has_question_mark("Which chain (Base?) "));
        assert!(has_question_mark("**Which chain?**"));
        assert!(has_question_mark("Which chain?!") && has_question_mark("(Which chain?)."));
        assert!(!has_question_mark("Which chain? Base."));
    }
}
