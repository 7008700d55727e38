//! Inlines `$ref` and `allOf` into the keywords around them.

use serde_json::{Map, Value};

use crate::merge;
use crate::unsupported::{UnsupportedSchema, refuse};

type FlatKeywords = Map<String, Value>;

pub(crate) struct SchemaFlattener<'r> {
    root: &'r Value,
    /// The result must accept the same values as the schema.
    exact: bool,
    /// References that are being followed.
    pub(crate) open: Vec<String>,
}

impl<'r> SchemaFlattener<'r> {
    pub(crate) fn new(root: &'r Value, exact: bool) -> Self {
        Self { root, exact, open: Vec::new() }
    }

    /// Returns `None` for a recursive reference. The caller truncates `open` afterwards.
    pub(crate) fn flatten(&mut self, map: &FlatKeywords, path: &str) -> Result<Option<FlatKeywords>, UnsupportedSchema> {
        let mut parts: Vec<&Value> = map.get("allOf").and_then(Value::as_array).into_iter().flatten().collect();
        if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
            let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            match target {
                None => return refuse("$ref", path, "its target is not in the schema"),
                Some(_) if self.open.iter().any(|open| open == reference) => {
                    return if self.exact { refuse("$ref", path, "it refers to itself") } else { Ok(None) };
                }
                Some(target) => parts.push(target),
            }
            self.open.push(reference.to_owned());
        }
        let mut flat = map.clone();
        flat.retain(|word, _| word != "$ref" && word != "allOf");
        for part in parts {
            let Value::Object(part) = part else { return refuse("allOf", path, "it must hold objects of keywords") };
            let Some(part) = self.flatten(part, path)? else { return Ok(None) };
            flat = self.merge_branch(&flat, &part, path)?;
        }
        Ok(Some(flat))
    }

    pub(crate) fn merge_branch(&self, beside: &FlatKeywords, branch: &FlatKeywords, path: &str) -> Result<FlatKeywords, UnsupportedSchema> {
        match merge::conflicting_keyword(beside, branch) {
            Some(keyword) if self.exact => refuse(keyword, path, "a branch and the schema around it say different things"),
            _ => Ok(merge::merge_keywords(beside, branch)),
        }
    }
}
