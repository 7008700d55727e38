//! Requests for keys in Spanish, Portuguese, French, German and Chinese, clause by clause.

use super::{KeyName, Request};
use crate::facts::clauses::{Gap, Word, clause_start};

const IMPERATIVES: &[&str] = &[
    "pega",
    "pegue",
    "envía",
    "envíe",
    "envíame",
    "envíanos",
    "introduce",
    "introduzca",
    "comparte",
    "comparta",
    "ingresa",
    "ingrese",
    "escribe",
    "escriba",
    "dame",
    "danos",
    "dime",
    "mándame",
    "manda",
    "facilita",
    "proporciona",
    "proporcione",
    "cole",
    "envie",
    "digite",
    "insira",
    "compartilhe",
    "partilhe",
    "informe",
    "forneça",
    "mande",
    "diga",
    "collez",
    "colle",
    "envoie",
    "envoyez",
    "entrez",
    "entre",
    "saisissez",
    "saisis",
    "partagez",
    "partage",
    "donnez",
    "donne",
    "fournissez",
    "communiquez",
    "indiquez",
    "sende",
    "senden",
    "schick",
    "schicke",
    "schicken",
    "gib",
    "geben",
    "teile",
    "teilen",
    "nenne",
    "nennen",
    "tippe",
    "tippen",
    "füge",
    "fügen",
    "übermittle",
    "übermitteln",
    "verrate",
    "verraten",
    "lade",
    "laden",
];
/// German verbs whose infinitive is an order before "Sie".
const FORMAL: &[&str] = &["senden", "schicken", "geben", "teilen", "nennen", "tippen", "fügen", "übermitteln", "verraten", "laden"];
const INFINITIVES: &[&str] = &[
    "pegar",
    "enviar",
    "enviarme",
    "enviarnos",
    "introducir",
    "compartir",
    "escribir",
    "ingresar",
    "facilitar",
    "proporcionar",
    "dar",
    "darme",
    "colar",
    "digitar",
    "inserir",
    "compartilhar",
    "partilhar",
    "fornecer",
    "informar",
    "coller",
    "envoyer",
    "entrer",
    "saisir",
    "partager",
    "donner",
    "fournir",
    "communiquer",
    "eingeben",
    "senden",
    "schicken",
    "mitteilen",
    "angeben",
    "übermitteln",
    "einfügen",
    "hochladen",
    "nennen",
    "teilen",
    "verraten",
];
/// Words that make an infinitive an order.
const DUTIES: &[&str] = &[
    "debes",
    "debe",
    "tienes",
    "tiene",
    "necesitas",
    "hay",
    "puedes",
    "podrías",
    "devez",
    "dois",
    "veuillez",
    "faut",
    "merci",
    "pouvez",
    "peux",
    "deve",
    "precisa",
    "você",
    "favor",
    "bitte",
    "musst",
    "müssen",
    "sollst",
    "sollen",
    "kannst",
    "können",
    "könnten",
    "könntest",
];
const NEEDS: &[&str] =
    &["necesito", "necesitamos", "falta", "brauche", "brauchen", "benötige", "benötigen", "besoin", "faut", "preciso", "precisamos"];
const NEEDED: &[&str] = &[
    "necesaria",
    "necesario",
    "requiere",
    "requerida",
    "obligatoria",
    "benötigt",
    "erforderlich",
    "notwendig",
    "nötig",
    "nécessaire",
    "requise",
    "necessária",
    "obrigatória",
];
const QUESTIONS: &[&str] = &["cuál", "lautet", "quelle", "qual"];
const READERS: &[&str] =
    &["tu", "tus", "su", "sus", "deine", "deinen", "dein", "ihre", "ihren", "ihr", "votre", "vos", "ta", "sua", "suas", "your"];
const FILLERS: &[&str] = &[
    "por",
    "favor",
    "bitte",
    "jetzt",
    "ahora",
    "agora",
    "maintenant",
    "luego",
    "simplemente",
    "einfach",
    "y",
    "e",
    "et",
    "und",
    "o",
    "ou",
    "oder",
    "pues",
];
const NEGATIONS: &[&str] = &["no", "nunca", "jamás", "sin", "não", "nem", "ne", "jamais", "sans", "ni", "nadie", "ninguém", "personne"];
/// German negations, which follow the verb.
const GERMAN_NEGATIONS: &[&str] = &["nicht", "nie", "niemals", "keine", "keinen", "kein", "niemandem", "keinesfalls", "nirgends"];
const OTHERS: &[&str] =
    &["quien", "quienes", "que", "si", "wer", "wenn", "qui", "quem", "yo", "ich", "wir", "je", "eu", "er", "ils", "dass"];

/// Returns the requests of a sentence with keys.
pub(super) fn requests(words: &[Word], keys: &[KeyName]) -> Vec<Request> {
    keys.iter().filter(|key| is_requested(words, key)).map(|key| Request { key: key.name, at: key.from }).collect()
}

fn is_requested(words: &[Word], key: &KeyName) -> bool {
    let from = clause_start(words, key.from);
    let to = (key.to..words.len()).find(|n| words[*n].gap != Gap::Space).unwrap_or(words.len());
    let (before, after) = (&words[from..key.from], &words[key.to..to]);
    let has = |part: &[Word], list: &[&str]| part.iter().any(|word| word.is_one_of(list));
    // "Teile deine Seed-Phrase niemals": the negation may follow.
    if has(before, GERMAN_NEGATIONS)
        || has(after, GERMAN_NEGATIONS)
        || has(before, NEGATIONS)
        || before.iter().any(|word| word.text.starts_with("n'"))
    {
        return false;
    }
    let is_readers = before.iter().rev().take(4).any(|word| word.is_one_of(READERS));
    let is_order = (0..before.len()).any(|n| is_order(before, n, is_readers));
    let asks_others = has(before, OTHERS);
    let has_duty = has(before, DUTIES) && !asks_others;
    let infinitive = has_duty && (has(before, INFINITIVES) || has(after, INFINITIVES));
    let needs = is_readers && (has(before, NEEDS) || has(before, NEEDED) || has(before, QUESTIONS));
    let is_needed = is_readers && has(after, NEEDED) && !has(after, NEGATIONS);
    is_order && !asks_others || infinitive || needs || is_needed
}

fn is_order(clause: &[Word], verb: usize, is_readers: bool) -> bool {
    if !clause[verb].is_one_of(IMPERATIVES) {
        return false;
    }
    let is_formal = clause.get(verb + 1).is_some_and(|next| next.text == "sie");
    let starts = clause[..verb].iter().all(|word| word.is_one_of(FILLERS));
    (!clause[verb].is_one_of(FORMAL) || is_formal) && (starts || is_readers)
}

const CHINESE_KEYS: &[(&str, &str)] = &[
    ("助记词", "seed phrase"),
    ("助記詞", "seed phrase"),
    ("种子短语", "seed phrase"),
    ("恢复短语", "recovery phrase"),
    ("私钥", "private key"),
    ("私鑰", "private key"),
];
const CHINESE_VERBS: &[&str] = &[
    "粘贴", "输入", "发送", "发给", "发到", "提供", "告诉", "告知", "填写", "上传", "提交", "分享", "导入", "交给", "回复", "输进", "填入",
];
const CHINESE_NEGATIONS: &[&str] = &[
    "不",
    "勿",
    "无法",
    "没",
    "拒绝",
    "禁止",
    "切莫",
    "请别",
    "别把",
    "别将",
    "千万别",
    "从未",
    "要求我",
    "让我",
    "叫我",
    "要求用户",
    "诱导",
];
const CHINESE_READERS: &[&str] = &["您的", "你的", "您", "你"];

/// Returns the key that a Chinese text requests.
pub(super) fn chinese_request(text: &str) -> Option<&'static str> {
    let ends = ['，', ',', '。', '；', ';', '：', ':', '！', '!', '？', '?', '\n', '"', '“', '”', '「', '」'];
    text.split_inclusive(ends).find_map(|clause| {
        let (_, name) = CHINESE_KEYS.iter().find(|(key, _)| clause.contains(key))?;
        let has = |text: &str, list: &[&str]| list.iter().any(|word| text.contains(word));
        let verb = CHINESE_VERBS.iter().filter_map(|verb| clause.find(verb)).min();
        let is_own = clause.trim_start().starts_with('我') && !clause.contains("需要") && !clause.contains("给我");
        let is_order = verb.is_some_and(|at| !has(&clause[..at], CHINESE_NEGATIONS)) && !is_own;
        let asks = ["需要", "请问", "是什么", "是多少", "必须"].iter().any(|word| clause.contains(word));
        let is_asked = asks && has(clause, CHINESE_READERS) && !has(clause, CHINESE_NEGATIONS);
        (is_order || is_asked).then_some(*name)
    })
}
