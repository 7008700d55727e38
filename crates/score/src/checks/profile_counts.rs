//! Profiles have fewer than 20 tools, and `full` at least 86. Spec 2.1 and tier 1.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::Workspace;

pub(super) struct ProfileCounts;

/// Selection degrades with the number of tools shown; the specification requires fewer than 20 per profile.
const TOOL_LIMIT: usize = 20;
/// Size for which the specification allows `full` a lower hit rate.
const FULL_PROFILE_MIN: usize = 86;

impl Check for ProfileCounts {
    fn id(&self) -> &'static str {
        "profile_counts"
    }

    fn manual(&self) -> &'static str {
        "A profile holds at least one and fewer than 20 tools, because models choose worse the more tools they are shown. The profile \
         called full holds at least 86: its lower hit rate bound is only justified at that size."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for profile in &workspace.profiles {
            found.record_examined();
            let count = profile.select(&workspace.tools).len();
            if *profile.name == "full" {
                if count < FULL_PROFILE_MIN {
                    found.error(
                        &profile.at,
                        format!("profile full holds {}", model::count(count, "tool")),
                        format!("it needs at least {FULL_PROFILE_MIN}; name a smaller profile otherwise"),
                    );
                }
            } else if count == 0 {
                found.error(&profile.at, format!("profile {} is empty", *profile.name), "add tools or delete the file");
            } else if count >= TOOL_LIMIT {
                let what = format!("profile {} holds {count} tools", *profile.name);
                found.error(&profile.at, what, format!("keep fewer than {TOOL_LIMIT}: split it or remove the least used"));
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        let tool = |n| {
            format!(
                "  - {{ name: extra_{n}, description: One of many tools that make this profile too large to choose from., \
                 capability: read, risk: layer1, acts: read }}\n"
            )
        };
        let extra: String = (0..15).map(tool).collect();
        let names: String = (0..15).map(|n| format!(", extra_{n}")).collect();
        ExampleWorkspace::minimal().with("tools/extra.yaml", &format!("category: extra\ntools:\n{extra}")).edit(
            "profiles/trader.yaml",
            "token_transfer]",
            &format!("token_transfer{names}]"),
        )
    }
}
