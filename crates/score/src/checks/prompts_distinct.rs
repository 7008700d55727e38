//! Cases of one surface have distinct prompts. Spec 2.1, distinct cases.

use super::words::{gists_alike, prompt_gist};
use super::{Check, ExampleWorkspace, FindingCollector};
use model::Workspace;
use model::suite::{Case, CaseSurface};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

pub(super) struct PromptsDistinct;

impl Check for PromptsDistinct {
    fn id(&self) -> &'static str {
        "prompts_distinct"
    }

    fn manual(&self) -> &'static str {
        "No two cases of one profile, one agent or the skill surface open with nearly the same words, numbers, addresses and punctuation \
         aside. On a surface with more than 1,000 different prompts each is compared with the 20 before it in alphabetical order, read forwards \
         and backwards, and with all that are equal to it. Copies of a prompt are not independent evidence and make a rate look more certain than it is."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let mut surfaces: BTreeMap<String, Vec<CasePrompt<'_>>> = BTreeMap::new();
        // An attacked case repeats its scenario on purpose.
        for case in workspace.cases().filter(|case| case.attack.is_none()) {
            found.record_examined();
            let gist = prompt_gist(case.brief.user_script.opening());
            surfaces.entry(surface(case)).or_default().push(CasePrompt { case, gist });
        }
        for (surface, prompts) in &surfaces {
            let gists: Vec<&str> = prompts.iter().map(|prompt| prompt.gist.as_str()).collect();
            for (n, first) in first_alike(&gists).into_iter().enumerate() {
                let Some(first) = first.map(|first| prompts[first].case) else { continue };
                let case = prompts[n].case;
                let what = format!("the prompt of case {} for {surface} nearly equals that of {}", *case.id, *first.id);
                found.error(&case.at, what, format!("the other is at {}; change the request or its wording", first.at));
            }
            if has_many(&gists) {
                found.note(format!(
                    "{surface}: near-equal prompts were looked for among the {NEIGHBOURS} nearest in two alphabetical orders"
                ));
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit(
            "suites/tool_selection/trader.yaml",
            "What would I get in wrapped ether for 250 USDC on Base right now? Don't trade yet.",
            "How many dollars in USDC do I still have left on Base?",
        )
    }
}

/// Surfaces with more different prompts are not compared pair by pair.
const MAX_COMPARED: usize = 1_000;
const NEIGHBOURS: usize = 20;

fn has_many(gists: &[&str]) -> bool {
    gists.iter().collect::<HashSet<_>>().len() > MAX_COMPARED
}

/// Returns for each gist the first earlier one that is equal or nearly so.
fn first_alike(gists: &[&str]) -> Vec<Option<usize>> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut distinct: Vec<usize> = vec![];
    for (n, gist) in gists.iter().enumerate() {
        if let Entry::Vacant(entry) = first.entry(gist) {
            entry.insert(n);
            distinct.push(n);
        }
    }
    let mut alike: Vec<Option<usize>> =
        gists.iter().enumerate().map(|(n, gist)| first.get(gist).copied().filter(|first| *first < n)).collect();
    let mut compare = |one: usize, other: usize| {
        let (earlier, later) = (one.min(other), one.max(other));
        if alike[later].is_none_or(|known| earlier < known) && gists_alike(gists[earlier], gists[later]) {
            alike[later] = Some(earlier);
        }
    };
    if distinct.len() <= MAX_COMPARED {
        for (at, later) in distinct.iter().enumerate() {
            distinct[..at].iter().for_each(|earlier| compare(*earlier, *later));
        }
    } else {
        let backwards: HashMap<usize, String> = distinct.iter().map(|n| (*n, gists[*n].chars().rev().collect())).collect();
        let mut forwards = distinct.clone();
        forwards.sort_by_key(|n| gists[*n]);
        distinct.sort_by_key(|n| &backwards[n]);
        for order in [forwards, distinct] {
            for (at, one) in order.iter().enumerate() {
                order[at.saturating_sub(NEIGHBOURS)..at].iter().for_each(|other| compare(*other, *one));
            }
        }
    }
    // A copy of a prompt is as near to an earlier one as the prompt it copies.
    for n in 0..gists.len() {
        if let Some(earlier) = alike[n].and_then(|known| alike[known]).filter(|_| first[gists[n]] < n) {
            alike[n] = Some(earlier);
        }
    }
    alike
}

struct CasePrompt<'w> {
    case: &'w Case,
    gist: String,
}

fn surface(case: &Case) -> String {
    match &case.brief.surface {
        CaseSurface::Profile(name) => format!("profile {}", **name),
        CaseSurface::Agent(name) => format!("agent {}", **name),
        CaseSurface::Skills => "the skill surface".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gist(n: usize) -> String {
        // Sixteen letters of a hash differ in nearly all places.
        let hash = model::ContentHash::of_text(&n.to_string());
        hash.as_str().chars().map(|c| char::from(b'a' + u8::try_from(u32::from(c) % 26).unwrap_or(0))).collect()
    }

    #[test]
    fn near_copies_are_found_on_small_and_large_surfaces() {
        for size in [50, MAX_COMPARED + 50] {
            let mut gists: Vec<String> = (0..size).map(gist).collect();
            let (copy, end, start) = (gists[7].clone(), format!("{} now", gists[8]), format!("now {}", gists[9]));
            gists.extend([copy, end, start]);
            let gists: Vec<&str> = gists.iter().map(String::as_str).collect();
            let alike = first_alike(&gists);
            assert_eq!(alike[size..], [Some(7), Some(8), Some(9)], "{size}");
            assert!(alike[..size].iter().all(Option::is_none), "{size}");
        }
    }
}
