//! Cross-references in tool descriptions: "to compare venues use X" describes X, not the tool whose description says it.

use crate::words::stems;
use std::collections::BTreeMap;

/// Stems of a description, split into those about the tool itself and those of clauses about other tools.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct SplitDescription {
    pub own: Vec<String>,
    pub of_others: Vec<(usize, Vec<String>)>,
}

pub(crate) fn split_description(description: &str, own: usize, names: &BTreeMap<String, usize>) -> SplitDescription {
    let mut parted = SplitDescription::default();
    for sentence in sentences(description) {
        for clause in sentence.split([',', ';', ':']) {
            let named: Vec<usize> = clause
                .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')))
                .filter_map(|word| names.get(word).copied())
                .filter(|named| *named != own)
                .collect();
            if named.is_empty() {
                parted.own.extend(stems(clause));
                continue;
            }
            let words: String = clause
                .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '\'')))
                .filter(|word| !names.contains_key(*word))
                .collect::<Vec<_>>()
                .join(" ");
            parted.of_others.extend(named.into_iter().map(|named| (named, stems(&words))));
        }
    }
    parted
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(". ").map(|sentence| sentence.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clause_naming_another_tool_is_split_off() {
        let names = BTreeMap::from([("pool_list".to_owned(), 0), ("pool_scan".to_owned(), 1)]);
        let parted = split_description("Lists pools of a pair. For new launches, deep scanning is pool_scan; ends here.", 0, &names);
        assert_eq!(parted.own, stems("Lists pools pair new launches ends"));
        assert_eq!(parted.of_others, [(1, stems("deep scanning"))]);
    }
}
