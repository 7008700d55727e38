//! `is-xml`: the whole text is well-formed XML with namespaces. `contains-xml`: it contains an element. Both with paths of elements that
//! must be there, such as `order.item`.

use super::xml_candidates::{XmlRange, is_name_char, is_name_start, xml_candidates};
use super::{AssertionFinding, AssertionInput, MissingEvidence, excerpt};
use model::suite::{AssertionValue, CaseAssertion};

/// Maximum depth of elements.
const MAX_DEPTH: usize = 500;
/// Prefixes that need no declaration.
const XML_NAMES: [&str; 2] = ["xml", "xmlns"];

pub(super) fn is_xml(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    if let Err(why) = (XmlParser { text: input.text, at: 0, strict: true }).document() {
        return Ok(AssertionFinding::of(false, format!("not XML: {why}: {}", excerpt(input.text))));
    }
    let missing = missing_paths(input.text, paths(assertion)).unwrap_or_default();
    let found = if missing.is_empty() { format!("found {}", excerpt(input.text)) } else { format!("lacks {}", missing.join(", ")) };
    Ok(AssertionFinding::of(missing.is_empty(), found))
}

pub(super) fn contains_xml(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let mut well_formed: Vec<XmlRange> = vec![];
    for candidate in xml_candidates(input.text) {
        if well_formed.iter().any(|outer| candidate.start >= outer.start && candidate.end <= outer.end) {
            continue;
        }
        match missing_paths(&input.text[candidate.start..candidate.end], paths(assertion)) {
            Some(missing) if missing.is_empty() => return Ok(AssertionFinding::of(true, format!("found {}", excerpt(input.text)))),
            Some(_) => well_formed.push(candidate),
            None => {}
        }
    }
    Ok(AssertionFinding::of(false, format!("no such XML in {}", excerpt(input.text))))
}

fn paths(assertion: &CaseAssertion) -> &[String] {
    if let AssertionValue::TextList(paths) = &assertion.value { paths } else { &[] }
}

/// Returns the paths that are not in the elements of a text; `None` if it has unclosed elements.
fn missing_paths<'p>(text: &str, paths: &'p [String]) -> Option<Vec<&'p str>> {
    let root = XmlParser { text, at: 0, strict: false }.document().ok()?;
    let has = |path: &str| {
        let keys: Vec<&str> = path.split('.').collect();
        has_path(&root, &keys)
    };
    Some(paths.iter().map(String::as_str).filter(|path| !has(path)).collect())
}

/// Element with the names of its attributes.
#[derive(Debug, Default)]
struct XmlElement {
    name: String,
    attributes: Vec<String>,
    children: Vec<XmlElement>,
    has_text: bool,
}

/// Returns whether a path leads to a value. Elements with one name are a list, which the path enters with a number.
fn has_path(element: &XmlElement, keys: &[&str]) -> bool {
    let Some((key, rest)) = keys.split_first() else { return true };
    let is_leaf = element.children.is_empty() && element.attributes.is_empty();
    if is_leaf {
        return false;
    }
    if let Some(attribute) = key.strip_prefix("@_") {
        return rest.is_empty() && element.attributes.iter().any(|name| name == attribute);
    }
    if *key == "#text" {
        return rest.is_empty() && element.has_text;
    }
    let named: Vec<&XmlElement> = element.children.iter().filter(|child| child.name == *key).collect();
    match (named.as_slice(), rest.split_first()) {
        ([], _) => false,
        ([one], _) => has_path(one, rest),
        (_, None) => true,
        (many, Some((index, rest))) => {
            let at = index.parse::<usize>().ok().filter(|at| at.to_string() == **index);
            at.and_then(|at| many.get(at)).is_some_and(|element| has_path(element, rest))
        }
    }
}

struct XmlParser<'t> {
    text: &'t str,
    at: usize,
    /// Checks everything that makes a document well-formed; otherwise only that elements are closed.
    strict: bool,
}

type XmlResult<T> = Result<T, &'static str>;

impl<'t> XmlParser<'t> {
    fn document(mut self) -> XmlResult<XmlElement> {
        let mut stack: Vec<XmlElement> = vec![XmlElement::default()];
        let mut scopes: Vec<Vec<String>> = vec![vec![]];
        let (mut roots, mut doctype) = (0, false);
        if self.strict && self.rest().starts_with('\u{feff}') {
            self.at += '\u{feff}'.len_utf8();
        }
        let begin = self.at;
        while self.at < self.text.len() {
            let rest = self.rest();
            if let Some(text) = rest.split('<').next().filter(|text| !text.is_empty()) {
                self.characters(text, stack.len() > 1)?;
                if let Some(open) = stack.last_mut() {
                    open.has_text |= !text.trim().is_empty();
                }
                self.at += text.len();
            } else if rest.starts_with("<!--") {
                let body = self.until("<!--", "-->", "a comment is not closed")?;
                if self.strict && (body.contains("--") || body.ends_with('-')) {
                    return Err("a comment contains two hyphens");
                }
            } else if rest.starts_with("<![CDATA[") {
                self.until("<![CDATA[", "]]>", "a CDATA section is not closed")?;
                if self.strict && stack.len() == 1 {
                    return Err("text outside of the root element");
                }
                if let Some(open) = stack.last_mut() {
                    open.has_text = true;
                }
            } else if rest.starts_with("<?") {
                let is_first = self.at == begin;
                let body = self.until("<?", "?>", "an instruction is not closed")?;
                self.instruction(body, is_first)?;
            } else if rest.starts_with("<!") {
                let body = self.until("<!", ">", "a declaration is not closed")?;
                if self.strict && (doctype || roots > 0 || !is_doctype(body)) {
                    return Err("a declaration is not a document type without a subset");
                }
                doctype = true;
            } else if rest.starts_with("</") {
                let body = self.until("</", ">", "a tag is not closed")?;
                self.close(body.trim_end(), &mut stack)?;
                scopes.pop();
            } else {
                let (element, empty, declared) = self.open(&scopes)?;
                if stack.len() == 1 {
                    roots += 1;
                }
                if self.strict && roots > 1 {
                    return Err("more than one root element");
                }
                if stack.len() > MAX_DEPTH {
                    return Err("elements are nested too deep");
                }
                if empty {
                    attach(&mut stack, element);
                } else {
                    stack.push(element);
                    scopes.push(declared);
                }
            }
        }
        let root = stack.pop().filter(|_| stack.is_empty()).ok_or("an element is not closed")?;
        if self.strict && roots != 1 { Err("there is no root element") } else { Ok(root) }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Returns the text between two marks, and moves behind it.
    fn until(&mut self, start: &str, end: &str, unclosed: &'static str) -> XmlResult<&'t str> {
        let inner = &self.rest()[start.len()..];
        let length = inner.find(end).ok_or(unclosed)?;
        self.at += start.len() + length + end.len();
        Ok(&inner[..length])
    }

    fn characters(&self, text: &str, inside: bool) -> XmlResult<()> {
        if !self.strict {
            return Ok(());
        }
        if !inside && !text.chars().all(|c| matches!(c, ' ' | '\t' | '\r' | '\n')) {
            return Err("text outside of the root element");
        }
        if text.contains("]]>") {
            return Err("]]> in a text");
        }
        if text.chars().any(|c| (c < ' ' && !matches!(c, '\t' | '\r' | '\n')) || matches!(c, '\u{fffe}' | '\u{ffff}')) {
            return Err("a character that XML does not allow");
        }
        check_references(text)
    }

    fn instruction(&self, body: &str, is_first: bool) -> XmlResult<()> {
        if !self.strict {
            return Ok(());
        }
        let target = body.split([' ', '\t', '\r', '\n']).next().unwrap_or_default();
        match target {
            "xml" if is_first && body.contains("version") => Ok(()),
            _ if target.eq_ignore_ascii_case("xml") => Err("the XML declaration is not at the beginning"),
            _ if is_name(target) => Ok(()),
            _ => Err("an instruction has no name"),
        }
    }

    fn close(&self, name: &str, stack: &mut Vec<XmlElement>) -> XmlResult<()> {
        if stack.len() < 2 {
            return Err("a closing tag without its opening tag");
        }
        let Some(element) = stack.pop() else { return Err("a closing tag without its opening tag") };
        if self.strict && element.name != name {
            return Err("a closing tag does not match");
        }
        attach(stack, element);
        Ok(())
    }

    /// Reads an opening tag: the element, whether it is closed at once, and the prefixes that it declares.
    fn open(&mut self, scopes: &[Vec<String>]) -> XmlResult<(XmlElement, bool, Vec<String>)> {
        self.at += 1;
        let name = self.name().ok_or("a tag has no name")?;
        let mut element = XmlElement { name, ..XmlElement::default() };
        let mut declared = vec![];
        loop {
            let space = self.skip_space();
            let rest = self.rest();
            if let Some(closed) = rest.starts_with("/>").then_some(2).or_else(|| rest.starts_with('>').then_some(1)) {
                self.at += closed;
                if self.strict {
                    check_prefixes(&element, &declared, scopes)?;
                }
                return Ok((element, closed == 2, declared));
            }
            if rest.is_empty() || (self.strict && !space) {
                return Err("a tag is not closed");
            }
            let Some(attribute) = self.name() else {
                if self.strict {
                    return Err("an attribute has no name");
                }
                self.at += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            };
            self.skip_space();
            let value = self.attribute_value()?;
            if self.strict && (value.is_none() || element.attributes.contains(&attribute)) {
                return Err("an attribute has no value, or is given twice");
            }
            declared.extend(attribute.strip_prefix("xmlns:").map(str::to_owned));
            element.attributes.push(attribute);
        }
    }

    fn attribute_value(&mut self) -> XmlResult<Option<&'t str>> {
        if !self.rest().starts_with('=') {
            return Ok(None);
        }
        self.at += 1;
        self.skip_space();
        let Some(quote) = self.rest().chars().next().filter(|quote| matches!(quote, '"' | '\'')) else {
            return if self.strict { Err("an attribute has no quotes") } else { Ok(None) };
        };
        let mark = if quote == '"' { "\"" } else { "'" };
        let value = self.until(mark, mark, "an attribute is not closed")?;
        if self.strict {
            if value.contains('<') {
                return Err("< in an attribute");
            }
            check_references(value)?;
        }
        Ok(Some(value))
    }

    fn name(&mut self) -> Option<String> {
        let name: String = self.rest().chars().take_while(|c| is_name_char(*c)).collect();
        if !name.chars().next().is_some_and(is_name_start) {
            return None;
        }
        self.at += name.len();
        Some(name)
    }

    fn skip_space(&mut self) -> bool {
        let length = self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\r', '\n']).len();
        self.at += length;
        length > 0
    }
}

fn attach(stack: &mut [XmlElement], element: XmlElement) {
    if let Some(parent) = stack.last_mut() {
        parent.children.push(element);
    }
}

/// Checks that every prefix is declared.
fn check_prefixes(element: &XmlElement, declared: &[String], scopes: &[Vec<String>]) -> XmlResult<()> {
    let known =
        |prefix: &str| XML_NAMES.contains(&prefix) || declared.iter().chain(scopes.iter().flatten()).any(|declared| declared == prefix);
    for name in std::iter::once(&element.name).chain(&element.attributes) {
        if let Some((prefix, local)) = name.split_once(':')
            && (local.is_empty() || local.contains(':') || !known(prefix))
        {
            return Err("a prefix is not declared");
        }
    }
    Ok(())
}

/// Checks that every `&` begins a character reference or one of the five entities.
fn check_references(text: &str) -> XmlResult<()> {
    for part in text.split('&').skip(1) {
        let name = part.split_once(';').map(|(name, _)| name).ok_or("& is not a reference")?;
        let known = match name.strip_prefix('#') {
            Some(number) => match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok(),
                None => number.parse().ok(),
            }
            .and_then(char::from_u32)
            .is_some(),
            None => ["amp", "lt", "gt", "quot", "apos"].contains(&name),
        };
        if !known {
            return Err("an entity is not known");
        }
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    name.chars().next().is_some_and(is_name_start) && name.chars().all(is_name_char)
}

fn is_doctype(body: &str) -> bool {
    let Some(rest) = body.strip_prefix("DOCTYPE") else { return false };
    !rest.contains('[') && rest.starts_with([' ', '\t', '\r', '\n']) && rest.split_whitespace().next().is_some_and(is_name)
}
