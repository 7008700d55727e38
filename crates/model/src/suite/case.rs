//! Cases and the suite files that contain them.

use super::attack::CaseAttack;
use super::attack_file::{WrittenAttack, read_attack};
use super::brief::{Brief, CaseSurface, read_brief};
use super::expect::{CaseExpectations, ExpectedCalls, read_expect};
use super::intent::{UserIntent, read_intent};
use super::rare_fields::RareFields;
use super::reference::{ReferenceStep, read_reference};
use super::shared_args::SharedArgs;
use crate::hash::ContentHash;
use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, YamlShape, json, list, name, one_of, spanned, text};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::{Arc, LazyLock};

#[derive(Debug, Clone)]
pub struct Suite {
    /// Path of the file without `suites/` and extension: `tool_selection/trader`.
    pub name: String,
    pub kind: SuiteKind,
    pub about: String,
    pub cases: Vec<Case>,
    pub at: Location,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteKind {
    ToolSelection,
    Behavior,
    Skills,
    Composition,
    RedTeam,
}

impl SuiteKind {
    pub const ALL: &'static [(&'static str, SuiteKind)] = &[
        ("tool_selection", SuiteKind::ToolSelection),
        ("behavior", SuiteKind::Behavior),
        ("skills", SuiteKind::Skills),
        ("composition", SuiteKind::Composition),
        ("red_team", SuiteKind::RedTeam),
    ];

    pub fn word(self) -> &'static str {
        match self {
            SuiteKind::ToolSelection => "tool_selection",
            SuiteKind::Behavior => "behavior",
            SuiteKind::Skills => "skills",
            SuiteKind::Composition => "composition",
            SuiteKind::RedTeam => "red_team",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Case {
    pub id: Spanned<String>,
    pub kind: SuiteKind,
    pub brief: Brief,
    pub intent: RareFields<UserIntent>,
    pub expect: CaseExpectations,
    pub reference: Vec<ReferenceStep>,
    pub tags: Vec<String>,
    /// Attack on the scenario, in cases of the red team.
    pub attack: Option<Arc<CaseAttack>>,
    /// The case as written, as JSON text, for scorers of the workspace and for reproducers; empty if the workspace was loaded without.
    pub written: Arc<str>,
    /// Hash of the content of the case. Part of every trial id.
    pub hash: ContentHash,
    pub at: Location,
}

/// Text of a case that was never written.
const UNWRITTEN: &str = "null";

impl Case {
    /// Returns the written text of a case that stands for a recording which no suite describes.
    pub fn unwritten() -> Arc<str> {
        UNWRITTEN.into()
    }

    /// Returns whether no suite describes the case: what its user wanted is not known, so that empty expectations mean nothing.
    pub fn is_unknown(&self) -> bool {
        &*self.written == UNWRITTEN
    }

    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|own| own == tag)
    }

    pub fn profile(&self) -> Option<&str> {
        match &self.brief.surface {
            CaseSurface::Profile(name) => Some(name),
            CaseSurface::Agent(_) | CaseSurface::Skills => None,
        }
    }

    /// Returns whether trials end with the first call, as on a profile, so that nothing is said after it.
    pub fn ends_at_first_call(&self) -> bool {
        matches!((&self.brief.surface, &self.expect.calls), (CaseSurface::Profile(_), Some(ExpectedCalls::AnyOf(_))))
    }
}

pub(crate) fn read_suite(path: &str, node: &YamlNode, report: &ProblemReport) -> Option<Suite> {
    let fields = YamlFields::open(node, "a suite", report)?;
    let kind = fields.required("suite", one_of(SuiteKind::ALL));
    let about = fields.required_by_policy("about", text);
    let cases = fields.required("cases", list(read_case));
    fields.close();
    let kind = kind?;
    let mut cases = cases?;
    let mut shared = SharedArgs::new();
    for case in &mut cases {
        case.kind = kind;
        shared.share(case.expect.calls.as_mut(), &mut case.reference);
        if (kind == SuiteKind::RedTeam) != case.attack.is_some() {
            let remedy = "`bardo-eval shrink` writes such cases; probes/ hold attacks on existing cases";
            report.add(case.at.line, "cases of suites/red_team have an attack, and no other case has one", remedy);
        }
    }
    let name = path.trim_start_matches("suites/").trim_end_matches(".yaml").to_owned();
    if name.split('/').next() != Some(kind.word()) {
        report.add(1, format!("a {} suite is in the wrong folder", kind.word()), format!("move it to suites/{}/", kind.word()));
    }
    Some(Suite { name, kind, about: about.unwrap_or_default(), cases, at: report.location(node.line) })
}

fn read_case(node: &YamlNode, report: &ProblemReport) -> Option<Case> {
    let fields = YamlFields::open(node, "a case", report)?;
    let id = fields.required("id", spanned(name));
    let brief = fields.required("brief", read_brief);
    let intent = fields.or_default("intent", read_intent);
    let expect = fields.required("expect", read_expect);
    let reference = fields.or_default("reference", list(read_reference));
    let tags = fields.or_default("tags", list(name));
    let attack = fields.optional("attack", read_attack);
    fields.close();
    let mut brief = brief?;
    let attack = attack.map(|WrittenAttack { attack, fills }| {
        brief.fills = fills;
        Arc::new(attack)
    });
    let mut canonical = String::new();
    write_canonical(node, &mut canonical);
    Some(Case {
        id: id?,
        kind: SuiteKind::ToolSelection,
        brief,
        intent: intent.into(),
        expect: expect?,
        reference,
        tags,
        attack,
        written: if report.keeps_case_texts() { as_written(node).to_string().into() } else { no_text() },
        hash: ContentHash::of_text(&canonical),
        at: report.location(node.line),
    })
}

/// Returns the empty text that all cases share.
fn no_text() -> Arc<str> {
    static EMPTY: LazyLock<Arc<str>> = LazyLock::new(|| "".into());
    EMPTY.clone()
}

/// Returns a node as JSON. Scalars that JSON would not keep exactly are texts.
fn as_written(node: &YamlNode) -> Value {
    match &node.shape {
        YamlShape::Scalar { text, .. } => json(node, &ProblemReport::new("")).unwrap_or_else(|| Value::String(text.clone())),
        YamlShape::List(items) => Value::Array(items.iter().map(as_written).collect()),
        YamlShape::Map(entries) => {
            Value::Object(entries.iter().map(|(key, value)| (key.text.clone(), as_written(value))).collect::<Map<_, _>>())
        }
    }
}

/// Writes the content of a node without its layout, so that comments, quotes and line breaks do not change the hash of a case.
fn write_canonical(node: &YamlNode, out: &mut String) {
    match &node.shape {
        YamlShape::Scalar { text, .. } => write_quoted(text, out),
        YamlShape::List(items) => {
            out.push('[');
            for item in items {
                write_canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        YamlShape::Map(entries) => {
            out.push('{');
            for (key, value) in entries {
                write_quoted(&key.text, out);
                out.push(':');
                write_canonical(value, out);
                out.push(',');
            }
            out.push('}');
        }
    }
}

/// Writes a text in quotes, as `Debug` does.
fn write_quoted(text: &str, out: &mut String) {
    if text.bytes().all(|byte| matches!(byte, b' ' | b'!' | b'#'..=b'&' | b'('..=b'[' | b']'..=b'~')) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&format!("{text:?}"));
    }
}
