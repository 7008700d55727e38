//! A case and the suite file that holds it.

use super::brief::{Brief, Surface, read_brief};
use super::expect::{Expect, read_expect};
use super::intent::{Intent, read_intent};
use super::reference::{RefStep, read_reference};
use crate::hash::Hash;
use crate::place::{Place, Spot};
use crate::problem::Report;
use crate::yaml::{Fields, Node, Shape, list, name, one_of, spot, text};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone)]
pub struct Suite {
    /// The file's path without folder `suites/` and ending: `tool_selection/trader`.
    pub name: String,
    pub kind: SuiteKind,
    pub about: String,
    pub cases: Vec<Case>,
    pub at: Place,
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
    pub id: Spot<String>,
    pub kind: SuiteKind,
    pub brief: Brief,
    pub intent: Intent,
    pub expect: Expect,
    pub reference: Vec<RefStep>,
    pub tags: Vec<String>,
    /// Of everything the case says; part of every trial's id.
    pub hash: Hash,
    pub at: Place,
}

impl Case {
    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|own| own == tag)
    }

    pub fn profile(&self) -> Option<&str> {
        match &self.brief.surface {
            Surface::Profile(name) => Some(name),
            Surface::Agent(_) | Surface::Skills => None,
        }
    }
}

pub(crate) fn read_suite(path: &str, node: &Node, report: &Report) -> Option<Suite> {
    let fields = Fields::open(node, "a suite", report)?;
    let kind = fields.need("suite", one_of(SuiteKind::ALL));
    let about = fields.need("about", text);
    let cases = fields.need("cases", list(read_case));
    fields.close();
    let kind = kind?;
    let mut cases = cases?;
    for case in &mut cases {
        case.kind = kind;
    }
    let name = path.trim_start_matches("suites/").trim_end_matches(".yaml").to_owned();
    if name.split('/').next() != Some(kind.word()) {
        report.add(1, format!("a {} suite stands in another folder", kind.word()), format!("move it to suites/{}/", kind.word()));
    }
    Some(Suite { name, kind, about: about?, cases, at: report.place(node.line) })
}

fn read_case(node: &Node, report: &Report) -> Option<Case> {
    let fields = Fields::open(node, "a case", report)?;
    let id = fields.need("id", spot(name));
    let brief = fields.need("brief", read_brief);
    let intent = fields.or_default("intent", read_intent);
    let expect = fields.need("expect", read_expect);
    let reference = fields.or_default("reference", list(read_reference));
    let tags = fields.or_default("tags", list(name));
    fields.close();
    let mut said = String::new();
    write_down(node, &mut said);
    Some(Case {
        id: id?,
        kind: SuiteKind::ToolSelection,
        brief: brief?,
        intent,
        expect: expect?,
        reference,
        tags,
        hash: Hash::of_text(&said),
        at: report.place(node.line),
    })
}

/// The content of a node without its layout: comments, quotes and line breaks do not change a case's identity.
fn write_down(node: &Node, out: &mut String) {
    match &node.shape {
        Shape::Scalar { text, .. } => out.push_str(&format!("{text:?}")),
        Shape::List(items) => {
            out.push('[');
            for item in items {
                write_down(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Shape::Map(entries) => {
            out.push('{');
            for (key, value) in entries {
                out.push_str(&format!("{:?}:", key.text));
                write_down(value, out);
                out.push(',');
            }
            out.push('}');
        }
    }
}
