//! Fails if tool names alone are enough to pick the right tool. Spec 2.1, disambiguation.

use super::words::{percent, user_texts};
use super::{Check, ExampleWorkspace, FindingCollector};
use crate::quality::NameIndex;
use model::suite::{Case, ExpectedCalls};
use model::{Location, Workspace};

pub(super) struct NamesAlone;

/// Minimum fraction of cases that the name-only baseline must miss.
const MIN_MISSED_SHARE: f64 = 0.3;
/// Minimum cases before the fraction is judged.
const MIN_CASES: usize = 10;
/// Profiles with more tools than this are judged as a group.
const LARGE_PROFILE_TOOLS: usize = 20;

impl Check for NamesAlone {
    fn id(&self) -> &'static str {
        "names_alone"
    }

    fn manual(&self) -> &'static str {
        "Tools are ranked for each request by BM25 over the words of their names, and the best are called. Over the cases tagged \
         disambiguation, and over the cases of each profile of more than 20 tools, this baseline must miss at least 30 %: cases that it \
         solves do not measure whether descriptions are understood. Fewer than 10 cases are not judged."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let mut groups: Vec<NameOnlyGroup> = vec![NameOnlyGroup::new("tagged disambiguation".into())];
        for profile in &workspace.profiles {
            let tools = profile.select(&workspace.tools);
            let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
            let ranked = NameIndex::new(&names);
            let mut own = NameOnlyGroup::new(format!("of profile {}", *profile.name));
            for case in workspace.cases().filter(|case| case.profile() == Some(profile.name.as_str())) {
                let Some(missed) = names_miss_tools(workspace, case, &ranked) else { continue };
                found.record_examined();
                if names.len() > LARGE_PROFILE_TOOLS {
                    own.add(case, missed);
                }
                if case.has_tag("disambiguation") {
                    groups[0].add(case, missed);
                }
            }
            groups.push(own);
        }
        for group in &groups {
            group.judge(found);
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        let mut cases = String::new();
        for n in 0..MIN_CASES {
            cases.push_str(&format!(
                "  - id: easy_{n}\n    brief:\n      surface: {{ profile: trader }}\n      turns: [\"Wallet balance number {n}, please get it.\"]\n      world: small\n    \
                 expect:\n      calls: {{ any_of: [[{{ tool: wallet_get_balance }}]] }}\n    reference:\n      - {{ call: wallet_get_balance, args: {{ token: USDC }} }}\n    \
                 tags: [disambiguation]\n"
            ));
        }
        ExampleWorkspace::minimal().edit("suites/tool_selection/trader.yaml", "cases:\n", &format!("cases:\n{cases}"))
    }
}

struct NameOnlyGroup {
    what: String,
    cases: usize,
    missed: usize,
    first: Option<Location>,
}

impl NameOnlyGroup {
    fn new(what: String) -> Self {
        Self { what, cases: 0, missed: 0, first: None }
    }

    fn add(&mut self, case: &Case, missed: bool) {
        self.cases += 1;
        self.missed += usize::from(missed);
        self.first.get_or_insert_with(|| case.at.clone());
    }

    fn judge(&self, found: &mut FindingCollector) {
        let Some(at) = self.first.as_ref().filter(|_| self.cases >= MIN_CASES) else { return };
        let share = percent(self.missed, self.cases);
        found.note(format!("BM25 over tool names alone misses {} of the {} cases {} ({share})", self.missed, self.cases, self.what));
        if (self.missed as f64) < MIN_MISSED_SHARE * self.cases as f64 {
            let what = format!("BM25 over tool names alone misses only {share} of the {} cases {}", self.cases, self.what);
            found.error(at, what, "rephrase the requests without the words of the tool's name");
        }
    }
}

/// Reports whether the name-only baseline misses the case; `None` if the case does not expect calls.
fn names_miss_tools(workspace: &Workspace, case: &Case, names: &NameIndex<'_>) -> Option<bool> {
    let Some(ExpectedCalls::AnyOf(alternatives)) = &case.expect.calls else { return None };
    let asked: Vec<&str> = user_texts(case).into_iter().map(|text| text.value).collect();
    let asked = asked.join(" ");
    let hit = alternatives.iter().any(|calls| {
        let mut wanted: Vec<&str> =
            calls.iter().map(|call| workspace.tool(&call.tool).map_or(call.tool.as_str(), |tool| tool.name.as_str())).collect();
        let mut best = names.best(&asked, wanted.len());
        wanted.sort_unstable();
        best.sort_unstable();
        wanted == best
    });
    Some(!hit)
}
