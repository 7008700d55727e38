//! Ranges of a text that may be XML, in the order in which promptfoo tries them.

use std::collections::{BTreeMap, BTreeSet};

/// Range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct XmlRange {
    pub start: usize,
    pub end: usize,
}

struct Candidate {
    range: XmlRange,
    /// Beginning of the element around it.
    parent: Option<usize>,
}

enum XmlTag<'t> {
    Opening { name: &'t str, empty: bool, end: usize },
    Closing { name: &'t str, end: usize },
    Other { end: usize },
}

/// Returns the elements that are not in another, and the ranges from the first to the last of neighbours.
pub(super) fn xml_candidates(text: &str) -> Vec<XmlRange> {
    let (mut stack, mut candidates): (Vec<(&str, usize)>, Vec<Candidate>) = (vec![], vec![]);
    let mut at = 0;
    while let Some(start) = text[at..].find('<').map(|found| at + found) {
        let Some(tag) = tag_at(text, start) else {
            at = start + 1;
            continue;
        };
        at = match tag {
            XmlTag::Opening { empty: true, end, .. } => {
                let parent = stack.last().map(|(_, start)| *start);
                candidates.push(Candidate { range: XmlRange { start, end }, parent });
                end
            }
            XmlTag::Opening { name, end, .. } => {
                stack.push((name, start));
                end
            }
            XmlTag::Closing { name, end } => {
                match stack.pop() {
                    Some((open, start)) if open == name => {
                        let parent = stack.last().map(|(_, start)| *start);
                        candidates.push(Candidate { range: XmlRange { start, end }, parent });
                    }
                    Some(_) | None => stack.clear(),
                }
                end
            }
            XmlTag::Other { end } => end,
        };
    }
    ordered(&candidates)
}

fn ordered(candidates: &[Candidate]) -> Vec<XmlRange> {
    let starts: BTreeSet<usize> = candidates.iter().map(|candidate| candidate.range.start).collect();
    let outside = |parent: Option<usize>| parent.is_none_or(|parent| !starts.contains(&parent));
    let mut by_parent: BTreeMap<Option<usize>, Vec<XmlRange>> = BTreeMap::new();
    for candidate in candidates.iter().filter(|candidate| outside(candidate.parent)) {
        by_parent.entry(candidate.parent).or_default().push(candidate.range);
    }
    let mut found: Vec<XmlRange> = vec![];
    for siblings in by_parent.values_mut().filter(|siblings| siblings.len() > 1) {
        siblings.sort_by_key(|range| (range.start, range.end));
        found.push(XmlRange { start: siblings[0].start, end: siblings[siblings.len() - 1].end });
    }
    let mut single: Vec<XmlRange> = by_parent.into_values().flatten().collect();
    single.sort_by_key(|range| (range.start, usize::MAX - range.end));
    for range in single {
        if !found.contains(&range) {
            found.push(range);
        }
    }
    found
}

/// Reads the tag at a `<`.
fn tag_at(text: &str, start: usize) -> Option<XmlTag<'_>> {
    let rest = &text[start..];
    let delimited = |open: &str, close: &str| {
        let end = rest[open.len()..].find(close).map_or(text.len(), |length| start + open.len() + length + close.len());
        Some(XmlTag::Other { end })
    };
    if rest.starts_with("<!--") {
        return delimited("<!--", "-->");
    }
    if rest.starts_with("<![CDATA[") {
        return delimited("<![CDATA[", "]]>");
    }
    if rest.starts_with("<?") {
        return delimited("<?", "?>");
    }
    if rest.starts_with("<!") {
        return delimited("<!", ">");
    }
    if let Some(inner) = rest.strip_prefix("</") {
        let name = name_in(inner)?;
        return tag_end(text, start).map(|end| XmlTag::Closing { name, end });
    }
    let name = name_in(&rest[1..])?;
    let end = tag_end(text, start)?;
    let empty = text[start + 1..end - 1].trim_end().ends_with('/');
    Some(XmlTag::Opening { name, empty, end })
}

/// Returns the index behind the `>` of a tag; a `<` outside of quotes ends the search.
fn tag_end(text: &str, start: usize) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text[start + 1..].char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c == '<' => return None,
            None if c == '>' => return Some(start + 1 + at + 1),
            None => {}
        }
    }
    None
}

fn name_in(text: &str) -> Option<&str> {
    text.chars().next().filter(|c| is_name_start(*c))?;
    Some(&text[..text.find(|c| !is_name_char(c)).unwrap_or(text.len())])
}

pub(super) fn is_name_start(c: char) -> bool {
    matches!(c, ':' | '_' | 'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}'
        | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}'
        | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

pub(super) fn is_name_char(c: char) -> bool {
    is_name_start(c) || matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}
