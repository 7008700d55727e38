//! Text around the first word that a search found.

use serde_json::Value;

/// Characters before and after the word.
const BEFORE: usize = 40;
const AFTER: usize = 120;

/// Returns the number of the first event with one of the words, and the text around it.
pub(super) fn snippet(events: &str, words: &[String]) -> Option<(u64, String)> {
    let events: Value = serde_json::from_str(events).ok()?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    events.as_array()?.iter().find_map(|event| Some((event.get("n")?.as_u64()?, text_with(event.get("happened")?, &words)?)))
}

fn text_with(value: &Value, words: &[&str]) -> Option<String> {
    match value {
        Value::String(text) => around(text, words),
        Value::Array(values) => values.iter().find_map(|value| text_with(value, words)),
        Value::Object(fields) => fields.values().find_map(|value| text_with(value, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn around(text: &str, words: &[&str]) -> Option<String> {
    let lower = text.to_lowercase();
    let found = words.iter().filter_map(|word| lower.find(word)).min()?;
    // Lower case may have another length, so positions are counted in characters.
    let at = lower[..found].chars().count();
    let start = at.saturating_sub(BEFORE);
    let part: String = text.chars().skip(start).take(BEFORE + AFTER).collect();
    let has_more = text.chars().nth(start + BEFORE + AFTER).is_some();
    Some(format!("{}{part}{}", if start > 0 { "…" } else { "" }, if has_more { "…" } else { "" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippet_shows_the_first_word_in_its_text() {
        let events = r#"[{"n":1,"happened":{"user_said":{"text":"hello"}}},{"n":4,"happened":{"said":{"text":"The SWAP is done"}}}]"#;
        assert_eq!(snippet(events, &["swap".to_owned()]), Some((4, "The SWAP is done".to_owned())));
        assert_eq!(snippet(events, &["nothing".to_owned()]), None);
        assert_eq!(snippet("no json", &["swap".to_owned()]), None);
        let long = format!(r#"[{{"n":1,"happened":{{"said":{{"text":"{}İ swap {}"}}}}}}]"#, "ab ".repeat(50), "cd ".repeat(100));
        let (_, text) = snippet(&long, &["swap".to_owned()]).unwrap();
        assert!(text.contains("swap") && text.starts_with('…') && text.ends_with('…') && text.chars().count() < 170, "{text}");
    }
}
