//! Public type names are unique across the crates, so that a search for a name finds one definition.

use super::{CRATE_IMPORTS, crates_folder};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[test]
fn public_type_names_are_unique_across_crates() {
    let mut defined: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, _) in CRATE_IMPORTS {
        for file in super::source_files(&crates_folder().join(name).join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            for type_name in public_types(&text) {
                defined.entry(type_name.to_owned()).or_default().push(place(name, &file));
            }
        }
    }
    assert!(defined.len() > 300, "only {} public types were found", defined.len());
    let twice: Vec<String> = defined
        .iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| format!("{name} is defined in {}", places.join(" and ")))
        .collect();
    assert!(twice.is_empty(), "a public type name means one thing:\n{}", twice.join("\n"));
}

#[test]
fn public_types_are_read_from_source_text() {
    let text = "pub struct One;\npub(crate) struct Two;\nenum Three {}\npub enum Four<T> { A(T) }\npub trait Five: Sync {}\n    pub type Six = u8;\n";
    assert_eq!(public_types(text).collect::<Vec<_>>(), ["One", "Four", "Five", "Six"]);
}

fn public_types(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix("pub ")?;
        let rest = ["struct ", "enum ", "trait ", "type ", "union "].iter().find_map(|word| rest.strip_prefix(word))?;
        rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
    })
}

fn place(krate: &str, file: &Path) -> String {
    let file = file.display().to_string();
    format!("{krate}{}", file.split_once("/src").map_or("", |(_, rest)| rest))
}
