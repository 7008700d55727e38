//! Tool names a vendor does not accept, mapped so that they can be mapped back.

use super::fault::{FaultKind, ProviderFault};
use model::{Hash, Listing};
use std::collections::BTreeMap;

/// What a vendor accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepts {
    /// `None` where the vendor states no limit.
    pub max_tools: Option<usize>,
    /// Names are letters, digits, `_` and `-`, at most so long.
    pub name_len: usize,
}

impl Accepts {
    fn takes(self, name: &str) -> bool {
        !name.is_empty() && name.len() <= self.name_len && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    }

    /// The name as the vendor sees it; a pure function, so that old messages of a conversation keep theirs.
    pub fn outward(self, name: &str) -> String {
        if self.takes(name) {
            return name.to_owned();
        }
        let tail = &Hash::of_text(name).as_str()[..8].to_owned();
        let kept = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' });
        let head: String = kept.take(self.name_len.saturating_sub(9)).collect();
        format!("{head}_{tail}")
    }
}

/// The tools of one request, by the name the vendor sees.
#[derive(Debug)]
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    pub(super) fn of(accepts: Accepts, tools: &[Listing]) -> Result<Self, ProviderFault> {
        if let Some(max) = accepts.max_tools
            && tools.len() > max
        {
            let why = format!("{} tools, and it takes at most {max}; let the subject prune: tools: pruned(n)", tools.len());
            return Err(ProviderFault::new(FaultKind::Unfit, why));
        }
        let mut names = BTreeMap::new();
        for tool in tools {
            if let Some(other) = names.insert(accepts.outward(&tool.name), tool.name.clone()) {
                let why = format!("tools {other} and {} would get the same name", tool.name);
                return Err(ProviderFault::new(FaultKind::Unfit, why));
            }
        }
        Ok(Self(names))
    }

    /// Our name for what the vendor called; a name it made up stays as it is.
    pub(super) fn inward(&self, name: String) -> String {
        self.0.get(&name).cloned().unwrap_or(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const FEW: Accepts = Accepts { max_tools: Some(2), name_len: 20 };

    fn tool(name: &str) -> Listing {
        Listing { name: name.into(), description: String::new(), input_schema: json!({}).into() }
    }

    #[test]
    fn odd_names_go_out_in_a_form_the_vendor_takes_and_come_back() {
        for name in ["plain_name", "with.dot", "mit Umlaut ä", "so_long_that_it_does_not_fit_at_all", ""] {
            let out = FEW.outward(name);
            assert!(FEW.takes(&out), "{out}");
            assert_eq!(Names::of(FEW, &[tool(name)]).unwrap().inward(out), name);
        }
        assert_eq!(FEW.outward("plain_name"), "plain_name");
        assert_ne!(FEW.outward("a.b"), FEW.outward("a b"));
    }

    #[test]
    fn a_name_the_model_made_up_stays_as_it_is() {
        assert_eq!(Names::of(FEW, &[tool("a")]).unwrap().inward("made_up".into()), "made_up");
    }

    #[test]
    fn too_many_tools_and_equal_names_are_refused() {
        let three = [tool("a"), tool("b"), tool("c")];
        assert_eq!(Names::of(FEW, &three).unwrap_err().kind, FaultKind::Unfit);
        assert_eq!(Names::of(FEW, &[tool("a"), tool("a")]).unwrap_err().kind, FaultKind::Unfit);
    }
}
