//! Maps tool names to names that a vendor accepts, and back.

use super::fault::{FaultKind, ProviderFault};
use model::{ContentHash, ToolListing};
use std::collections::BTreeMap;

/// Limits of a vendor on tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VendorLimits {
    /// `None` if the vendor documents no limit.
    pub max_tools: Option<usize>,
    /// Maximum length of names, which consist of letters, digits, `_` and `-`.
    pub max_name_len: usize,
}

impl VendorLimits {
    fn accepts_name(self, name: &str) -> bool {
        !name.is_empty() && name.len() <= self.max_name_len && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    }

    /// Returns the vendor's form of a name. Deterministic, so that earlier messages of a conversation stay valid.
    pub fn to_vendor_name(self, name: &str) -> String {
        if self.accepts_name(name) {
            return name.to_owned();
        }
        let hash = &ContentHash::of_text(name).as_str()[..8].to_owned();
        let replaced = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' });
        let prefix: String = replaced.take(self.max_name_len.saturating_sub(9)).collect();
        format!("{prefix}_{hash}")
    }
}

/// Tools of one request by vendor name.
#[derive(Debug)]
pub(super) struct ToolNameMap(BTreeMap<String, String>);

impl ToolNameMap {
    pub(super) fn new(limits: VendorLimits, tools: &[ToolListing]) -> Result<Self, ProviderFault> {
        if let Some(max) = limits.max_tools
            && tools.len() > max
        {
            let why = format!("{} tools, but it accepts at most {max}; set tools: pruned(n) in the subject file", tools.len());
            return Err(ProviderFault::new(FaultKind::Unfit, why));
        }
        let mut names = BTreeMap::new();
        for tool in tools {
            if let Some(other) = names.insert(limits.to_vendor_name(&tool.name), tool.name.clone()) {
                let why = format!("tools {other} and {} map to the same vendor name", tool.name);
                return Err(ProviderFault::new(FaultKind::Unfit, why));
            }
        }
        Ok(Self(names))
    }

    /// Returns the tool name for a vendor name; unknown names are kept.
    pub(super) fn to_tool_name(&self, name: String) -> String {
        self.0.get(&name).cloned().unwrap_or(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TWO_TOOLS: VendorLimits = VendorLimits { max_tools: Some(2), max_name_len: 20 };

    fn tool(name: &str) -> ToolListing {
        ToolListing { name: name.into(), description: String::new(), input_schema: json!({}).into() }
    }

    #[test]
    fn tool_names_round_trip_through_vendor_names() {
        for name in ["plain_name", "with.dot", "with umlaut ä", "so_long_that_it_does_not_fit_at_all", ""] {
            let out = TWO_TOOLS.to_vendor_name(name);
            assert!(TWO_TOOLS.accepts_name(&out), "{out}");
            assert_eq!(ToolNameMap::new(TWO_TOOLS, &[tool(name)]).unwrap().to_tool_name(out), name);
        }
        assert_eq!(TWO_TOOLS.to_vendor_name("plain_name"), "plain_name");
        assert_ne!(TWO_TOOLS.to_vendor_name("a.b"), TWO_TOOLS.to_vendor_name("a b"));
    }

    #[test]
    fn unknown_vendor_names_are_kept() {
        assert_eq!(ToolNameMap::new(TWO_TOOLS, &[tool("a")]).unwrap().to_tool_name("made_up".into()), "made_up");
    }

    #[test]
    fn too_many_tools_and_equal_names_are_refused() {
        let three = [tool("a"), tool("b"), tool("c")];
        assert_eq!(ToolNameMap::new(TWO_TOOLS, &three).unwrap_err().kind, FaultKind::Unfit);
        assert_eq!(ToolNameMap::new(TWO_TOOLS, &[tool("a"), tool("a")]).unwrap_err().kind, FaultKind::Unfit);
    }
}
