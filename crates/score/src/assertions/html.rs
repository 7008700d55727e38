//! `contains-html`: signs of HTML in a text. `is-html`: the text is HTML alone, judged by its tags without building a document.

use super::js_space::js_trim;
use super::{AssertionFinding, AssertionInput, MissingEvidence, excerpt};
use model::suite::CaseAssertion;
use regex::Regex;
use std::sync::LazyLock;

/// Sign of HTML with its weight; two points are enough.
static SIGNS: LazyLock<Vec<(Regex, u32)>> = LazyLock::new(|| {
    let signs: [(&str, u32); 6] = [
        (r"<[a-zA-Z][a-zA-Z0-9-]*(?:\s[^>]*)?/>", 1),
        (r"&(?:[a-zA-Z]+|#[0-9]+|#x[0-9a-fA-F]+);", 1),
        (r"(?i)<!DOCTYPE\s+html", 2),
        (r"<!--[^-]*(?:-[^-]+)*-->", 1),
        (r#"\s[a-zA-Z-]+=\s*["'][^"']*["']"#, 1),
        (r"(?i)<(html|head|body|div|span|p|a|img|h[1-6]|ul|ol|li|table|tr|td|th|form|input|button|script|style|link|meta|br|hr)\b", 2),
    ];
    signs.into_iter().map(|(source, weight)| (compiled(source), weight)).collect()
});
static OPENING: LazyLock<Regex> = LazyLock::new(|| compiled(r"<[a-zA-Z][a-zA-Z0-9-]*(?:\s[^>]*)?>"));
static CLOSING: LazyLock<Regex> = LazyLock::new(|| compiled(r"</[a-zA-Z][a-zA-Z0-9-]*\s*>"));
static TAG: LazyLock<Regex> =
    LazyLock::new(|| compiled(r#"(?s)<!--.*?(?:-->|$)|<![^>]*>|<(/?)([a-zA-Z][^\s/>]*)((?:[^>"']|"[^"]*"|'[^']*')*)>"#));

fn compiled(source: &str) -> Regex {
    Regex::new(source).unwrap_or_else(|why| unreachable!("{why}"))
}

pub(super) fn contains_html(_: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let pair = match (OPENING.is_match(input.text), CLOSING.is_match(input.text)) {
        (true, true) => 2,
        (true, false) | (false, true) => 1,
        (false, false) => 0,
    };
    let signs: u32 = SIGNS.iter().filter(|(sign, _)| sign.is_match(input.text)).map(|(_, weight)| weight).sum();
    Ok(AssertionFinding::of(pair + signs >= 2, format!("found {}", excerpt(input.text))))
}

pub(super) fn is_html(_: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let why = html_defect(js_trim(input.text));
    Ok(AssertionFinding::of(why.is_none(), why.map_or_else(|| format!("found {}", excerpt(input.text)), str::to_owned)))
}

fn html_defect(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("the text is empty");
    }
    if text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("<?xml")) {
        return Some("the text is XML");
    }
    let (mut open, mut known, mut body, mut copied): (Vec<String>, bool, bool, usize) = (vec![], false, false, 0);
    let mut bare_text = false;
    for found in TAG.captures_iter(text) {
        let whole = found.get(0).map_or(0..0, |whole| whole.range());
        bare_text |= open.is_empty() && !js_trim(&text[copied..whole.start]).is_empty();
        copied = whole.end;
        let Some(name) = found.get(2).map(|name| name.as_str().to_lowercase()) else { continue };
        let closes = found.get(1).is_some_and(|slash| !slash.as_str().is_empty());
        body |= name == "body" && !closes;
        known |= !closes && (ELEMENTS.contains(&name.as_str()) || name.contains('-'));
        match name.as_str() {
            "html" | "head" | "body" => {}
            _ if closes => {
                if let Some(at) = open.iter().rposition(|opened| *opened == name) {
                    open.truncate(at);
                }
            }
            _ if VOID.contains(&name.as_str()) => {}
            _ => open.push(name),
        }
    }
    bare_text |= open.is_empty() && !js_trim(&text[copied..]).is_empty();
    match (bare_text && !body, known) {
        (true, _) => Some("text outside of HTML tags"),
        (false, false) => Some("no HTML element"),
        (false, true) => None,
    }
}

const VOID: &[&str] = &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];

#[rustfmt::skip]
const ELEMENTS: &[&str] = &[
    "html", "head", "title", "base", "link", "meta", "style", "body", "article", "section", "nav", "aside", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "footer", "address", "p", "hr", "pre", "blockquote", "ol", "ul", "li", "dl", "dt", "dd", "figure", "figcaption", "main", "div",
    "a", "em", "strong", "small", "s", "cite", "q", "dfn", "abbr", "ruby", "rt", "rp", "data", "time", "code", "var", "samp", "kbd", "sub",
    "sup", "i", "b", "u", "mark", "bdi", "bdo", "span", "br", "wbr", "img", "iframe", "embed", "object", "param", "picture", "source", "video",
    "audio", "track", "map", "area", "svg", "math", "script", "noscript", "canvas", "ins", "del", "table", "caption", "colgroup", "col",
    "tbody", "thead", "tfoot", "tr", "td", "th", "form", "label", "input", "button", "select", "datalist", "optgroup", "option", "textarea",
    "output", "progress", "meter", "fieldset", "legend", "details", "summary", "dialog", "menu", "slot", "template",
];
