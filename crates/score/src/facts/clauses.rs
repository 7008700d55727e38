//! Sentences of a text as words with what separates them, so that clauses, lists and quotes can be told apart.

use lexical::sentences;

/// Separates the head of a list from its items. Texts cannot contain it, because it is not displayed.
const ITEM: char = '\u{1e}';
/// Words and letters of the head of a list that are repeated before its items, and items of one head: short lists are read, and no text
/// grows beyond a small multiple of its length.
const HEAD_WORDS: usize = 30;
const HEAD_LETTERS: usize = 300;
const HEAD_ITEMS: usize = 40;
/// Words of a sentence that are read at once. Longer ones are read in parts that overlap, so that the work stays bounded.
const PART_WORDS: usize = 160;
const OVERLAP: usize = 40;
const QUOTES: &str = "\"“”„«»「」『』'`";
const SEPARATORS: &str = ";:—–(){}[]|….!?。！？；：（）";
const COMMAS: &str = ",，/、";

/// Separator before a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gap {
    Space,
    Comma,
    /// Between the head of a list and an item on a line of its own.
    Item,
    /// A quote opens.
    Quote,
    /// A colon, dash or bracket, or the beginning of the sentence.
    Break,
    /// A long sentence is cut here; the part before overlaps.
    Cut,
}

/// Word in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub text: String,
    pub gap: Gap,
}

impl Word {
    pub(crate) fn is_one_of(&self, words: &[&str]) -> bool {
        words.contains(&self.text.as_str())
    }
}

/// Returns the sentences of a text as it is displayed. Wrapped lines are joined, and the head of a list is repeated before its items.
pub(crate) fn sentences_of(text: &str) -> Vec<Vec<Word>> {
    let shown = disguise::strip_invisible(text).replace(['’', '‘', 'ʼ'], "'").replace(ITEM, " ");
    let shown = shown.replace("\\n", "\n").replace("\\t", " ").replace("\\r", "\n");
    sentences(&unwrapped(&shown)).iter().flat_map(|sentence| parts(words_of(sentence))).collect()
}

fn parts(words: Vec<Word>) -> Vec<Vec<Word>> {
    if words.len() <= PART_WORDS {
        return if words.is_empty() { vec![] } else { vec![words] };
    }
    let last = words.len() - OVERLAP;
    let starts = (0..last).step_by(PART_WORDS - OVERLAP);
    let part = |from: usize| {
        let mut part = words[from..words.len().min(from + PART_WORDS)].to_vec();
        if from > 0 {
            part[0].gap = Gap::Cut;
        }
        part
    };
    starts.map(part).collect()
}

/// Returns the clause around a word as text: from the last separator before it to the next one.
pub(crate) fn clause_around(words: &[Word], at: usize) -> &[Word] {
    let from = clause_start(words, at);
    let to = (at + 1..words.len()).find(|n| words[*n].gap != Gap::Space).unwrap_or(words.len());
    &words[from..to]
}

/// Returns the first word that has all of its context: later in the second part of a long sentence, which the part before has, too.
pub(crate) fn first_with_context(words: &[Word]) -> usize {
    if words.first().is_some_and(|word| word.gap == Gap::Cut) { OVERLAP / 2 } else { 0 }
}

pub(crate) fn clause_start(words: &[Word], at: usize) -> usize {
    (0..=at).rev().find(|n| words[*n].gap != Gap::Space).unwrap_or(0)
}

fn unwrapped(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let (mut head, mut items) = (String::new(), 0);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let item = list_item(line);
        let continues = line.starts_with(char::is_lowercase) && !joined.ends_with(['.', '!', '?', ':', '。', '！', '？', '：']);
        joined.push(if continues && item.is_none() { ' ' } else { '\n' });
        if item.is_some() && !head.is_empty() && items < HEAD_ITEMS {
            items += 1;
            joined.push_str(&head);
            joined.push(ITEM);
        } else if item.is_none() {
            head = if line.ends_with([':', '：']) { head_of(line) } else { String::new() };
            items = 0;
        }
        joined.push_str(item.unwrap_or(line));
    }
    joined
}

/// Returns the last sentence of a line without its colon, and of that the last words.
fn head_of(line: &str) -> String {
    let last = sentences(line).pop().unwrap_or_default();
    let words: Vec<&str> = last.trim_end_matches([':', '：']).split_whitespace().collect();
    let head = words[words.len().saturating_sub(HEAD_WORDS)..].join(" ");
    let letters = head.chars().count();
    head.chars().skip(letters.saturating_sub(HEAD_LETTERS)).collect()
}

fn list_item(line: &str) -> Option<&str> {
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (numbered.len() < line.len()).then(|| numbered.strip_prefix(['.', ')'])).flatten();
    let item = line.strip_prefix(['-', '*', '•', '–', '·']).or(numbered)?;
    item.starts_with(char::is_whitespace).then(|| item.trim_start())
}

fn words_of(sentence: &str) -> Vec<Word> {
    let mut words: Vec<Word> = vec![];
    let (mut gap, mut text) = (String::new(), String::new());
    let mut letters = sentence.chars().peekable();
    while let Some(c) = letters.next() {
        let joins = c == '\'' && !text.is_empty() && letters.peek().is_some_and(|next| next.is_alphabetic());
        if c.is_alphanumeric() || joins {
            text.extend(c.to_lowercase());
            if letters.peek().is_some() {
                continue;
            }
        }
        if !text.is_empty() {
            let is_figure = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            let in_figure = matches!(gap.as_str(), "," | ".") && is_figure(&text) && words.last().is_some_and(|word| is_figure(&word.text));
            let found = if in_figure { Gap::Space } else { gap_of(&gap, words.is_empty()) };
            words.push(Word { text: std::mem::take(&mut text), gap: found });
            gap.clear();
        }
        if !c.is_alphanumeric() {
            gap.push(c);
        }
    }
    words
}

fn gap_of(between: &str, is_first: bool) -> Gap {
    let quotes = between.chars().filter(|c| QUOTES.contains(*c)).count();
    if is_first {
        Gap::Break
    } else if between.contains(ITEM) {
        Gap::Item
    } else if quotes == 1 && between.ends_with(|c| QUOTES.contains(c)) {
        Gap::Quote
    } else if quotes > 1 || between.contains(|c| SEPARATORS.contains(c)) || between.contains(" - ") {
        Gap::Break
    } else if between.contains(|c| COMMAS.contains(c)) {
        Gap::Comma
    } else {
        Gap::Space
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let mark = |gap| match gap {
            Gap::Space => " ",
            Gap::Comma => ", ",
            Gap::Item => " > ",
            Gap::Quote => " \"",
            Gap::Break | Gap::Cut => " | ",
        };
        let joined = |words: Vec<Word>| words.iter().map(|word| format!("{}{}", mark(word.gap), word.text)).collect::<String>();
        sentences_of(text).into_iter().map(joined).collect()
    }

    #[test]
    fn words_keep_what_separates_them() {
        assert_eq!(shown("Do not: list, pa\u{200b}ste (or share) 5,000 keys."), [" | do not | list, paste | or share | 5 000 keys"]);
        assert_eq!(shown("It said \"don’t stop\" twice"), [" | it said \"don't stop twice"]);
        assert_eq!(shown(r#"{"reason": "Done.\nAll well"}"#), [" | reason | done", " | all well"]);
    }

    #[test]
    fn long_texts_stay_bounded() {
        let list = format!("{}:\n{}", "x".repeat(100_000), "- a\n".repeat(1_000));
        let letters: usize = sentences_of(&list).iter().flatten().map(|word| word.text.len()).sum();
        assert!(letters < 2 * list.len(), "{letters}");
        let parts = sentences_of(&"word ".repeat(1_000));
        assert!(parts.iter().all(|part| part.len() <= PART_WORDS) && parts[1][0].gap == Gap::Cut);
    }

    #[test]
    fn items_of_a_list_follow_its_head() {
        assert_eq!(
            shown("Hello. I never:\n- sell\n2. buy\nThe end"),
            [" | hello", " | i never", " | i never > sell", " | i never > buy", " | the end"]
        );
        assert_eq!(shown("never share\nyour key"), [" | never share your key"]);
    }
}
