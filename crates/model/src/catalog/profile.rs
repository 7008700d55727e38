//! A profile: the tools a model is shown together.

use super::tool::Tool;
use crate::place::{Place, Spot};
use crate::problem::Report;
use crate::yaml::{Fields, Node, Shape, list, name, spot, text};

#[derive(Debug, Clone)]
pub struct Profile {
    pub name: Spot<String>,
    pub about: String,
    pub tools: ProfileTools,
    pub at: Place,
}

#[derive(Debug, Clone)]
pub enum ProfileTools {
    Listed(Vec<Spot<String>>),
    /// The whole catalogue but for these categories.
    AllExcept(Vec<Spot<String>>),
}

impl Profile {
    /// The tools of this profile, in the order the model is shown them. Unknown names are left to smoke.
    pub fn select<'w>(&self, catalogue: &'w [Tool]) -> Vec<&'w Tool> {
        match &self.tools {
            ProfileTools::Listed(names) => names.iter().filter_map(|name| catalogue.iter().find(|tool| *tool.name == **name)).collect(),
            ProfileTools::AllExcept(categories) => {
                catalogue.iter().filter(|tool| !categories.iter().any(|category| **category == tool.category)).collect()
            }
        }
    }
}

pub(crate) fn read_profile(node: &Node, report: &Report) -> Option<Profile> {
    let fields = Fields::open(node, "a profile", report)?;
    let name_ = fields.need("profile", spot(name));
    let about = fields.need("about", text);
    let all = matches!(fields.get("tools").map(|node| &node.shape), Some(Shape::Scalar { text, .. }) if text == "all");
    let tools = if all {
        Some(ProfileTools::AllExcept(fields.or_default("except_categories", list(spot(name)))))
    } else {
        fields.need("tools", list(spot(name))).map(ProfileTools::Listed)
    };
    fields.close();
    Some(Profile { name: name_?, about: about?, tools: tools?, at: report.place(node.line) })
}
