//! How a purely lexical reader sees a text: lower-case words without endings and without filler.

/// Words that carry grammar, not meaning. Frequent domain words need no list: their idf is low.
const FILLER: [&str; 58] = [
    "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "before", "but", "by", "can", "do", "does",
    "each", "for", "from", "given", "has", "have", "how", "if", "in", "into", "is", "it", "its", "may", "more", "no", "not", "of", "on",
    "one", "only", "or", "other", "per", "rather", "so", "than", "that", "the", "their", "them", "then", "this", "to", "use", "what",
    "when", "which", "with", "without",
];

/// Words of prose or of a snake_case or camelCase name, lower-cased, filler removed, in order.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut after_lower = false;
    for letter in text.chars().chain([' ']) {
        let starts_hump = letter.is_uppercase() && after_lower;
        if (!letter.is_alphanumeric() || starts_hump) && !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        after_lower = letter.is_lowercase();
    }
    found.retain(|word| word.chars().nth(1).is_some() && !FILLER.contains(&word.as_str()));
    found
}

/// The word without the endings of English plurals and verbs. Light on purpose: "pools" meets "pool", "position" stays apart from "post".
pub(crate) fn stem(word: &str) -> String {
    let root = if let Some(root) = word.strip_suffix("ies").filter(|root| root.len() > 2) {
        return format!("{root}y");
    } else if ["sses", "xes", "ches", "shes"].iter().any(|end| word.ends_with(end)) {
        &word[..word.len() - 2]
    } else if word.ends_with('s') && word.len() > 3 && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        &word[..word.len() - 1]
    } else {
        word
    };
    let verb = ["ing", "ed"].iter().find_map(|end| root.strip_suffix(end)).filter(|root| root.len() > 3 || doubled(root));
    let root = verb.unwrap_or(root);
    let root = if verb.is_some() && doubled(root) { &root[..root.len() - 1] } else { root };
    root.strip_suffix('e').filter(|root| root.len() > 3).unwrap_or(root).into()
}

/// "swapp", "bidd": the consonant that English doubles before an ending.
fn doubled(root: &str) -> bool {
    let bytes = root.as_bytes();
    matches!(bytes, [_, .., a, b] if a == b && b.is_ascii_alphabetic() && !matches!(b, b's' | b'l' | b'e'))
}

#[cfg(test)]
mod tests {
    use super::{stem, words};

    #[test]
    fn names_and_prose_fall_into_the_same_words() {
        assert_eq!(words("uniswap_get_lpFees V3"), ["uniswap", "get", "lp", "fees", "v3"]);
        assert_eq!(words("Get the LP fees, per pool."), ["get", "lp", "fees", "pool"]);
        assert!(words("- a _ 1 ").is_empty());
    }

    #[test]
    fn endings_do_not_part_a_word_from_itself() {
        for [a, b] in [
            ["pools", "pool"],
            ["fees", "fee"],
            ["swapping", "swap"],
            ["swapped", "swap"],
            ["quoted", "quote"],
            ["compares", "comparing"],
            ["prices", "pricing"],
            ["strategies", "strategy"],
            ["boxes", "box"],
            ["batches", "batch"],
        ] {
            assert_eq!(stem(a), stem(b), "{a} {b}");
        }
        for [a, b] in [["status", "state"], ["fee", "feed"], ["position", "post"], ["bridge", "bring"]] {
            assert_ne!(stem(a), stem(b), "{a} {b}");
        }
    }
}
