//! Profiles: sets of tools shown to a model together.

use super::tool::Tool;
use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, YamlShape, list, name, spanned, text};

#[derive(Debug, Clone)]
pub struct ToolProfile {
    pub name: Spanned<String>,
    pub about: String,
    pub tools: ProfileTools,
    pub at: Location,
}

#[derive(Debug, Clone)]
pub enum ProfileTools {
    Listed(Vec<Spanned<String>>),
    /// All tools except those of these categories.
    AllExcept(Vec<Spanned<String>>),
}

impl ToolProfile {
    /// Returns the tools of this profile, in the order shown to the model. Unknown names are skipped; a smoke check reports them.
    pub fn select<'w>(&self, catalogue: &'w [Tool]) -> Vec<&'w Tool> {
        match &self.tools {
            ProfileTools::Listed(names) => names.iter().filter_map(|name| catalogue.iter().find(|tool| *tool.name == **name)).collect(),
            ProfileTools::AllExcept(categories) => {
                catalogue.iter().filter(|tool| !categories.iter().any(|category| **category == tool.category)).collect()
            }
        }
    }
}

pub(crate) fn read_profile(node: &YamlNode, report: &ProblemReport) -> Option<ToolProfile> {
    let fields = YamlFields::open(node, "a profile", report)?;
    let name_ = fields.required("profile", spanned(name));
    let about = fields.required_by_policy("about", text);
    let all = matches!(fields.get("tools").map(|node| &node.shape), Some(YamlShape::Scalar { text, .. }) if text == "all");
    let tools = if all {
        Some(ProfileTools::AllExcept(fields.or_default("except_categories", list(spanned(name)))))
    } else {
        fields.required("tools", list(spanned(name))).map(ProfileTools::Listed)
    };
    fields.close();
    Some(ToolProfile { name: name_?, about: about.unwrap_or_default(), tools: tools?, at: report.location(node.line) })
}
