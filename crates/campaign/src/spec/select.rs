//! Selects the cases of a run. An unknown name is an error, never an empty selection.

use model::suite::Case;
use model::{SuiteKind, UserError, Workspace, name_remedy};
use std::fmt;

/// Filters over cases; empty lists mean no restriction. Lists are joined by "and", their items by "or".
#[derive(Debug, Clone, Default)]
pub struct CaseSelection {
    pub tier: Option<u64>,
    pub suites: Vec<String>,
    pub profiles: Vec<String>,
    pub agents: Vec<String>,
    pub skills: Vec<String>,
    pub cases: Vec<String>,
    pub tags: Vec<String>,
}

/// Name in the selection that does not exist in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    pub what: &'static str,
    pub name: String,
    pub remedy: String,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no {} \"{}\"", self.what, self.name)?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}

impl From<UnknownName> for UserError {
    fn from(unknown: UnknownName) -> Self {
        UserError::new(format!("there is no {} \"{}\"", unknown.what, unknown.name), unknown.remedy)
    }
}

/// Returns the selected cases in file order.
///
/// # Errors
/// All unknown names together.
pub fn select<'w>(workspace: &'w Workspace, selection: &CaseSelection) -> Result<Vec<&'w Case>, Vec<UnknownName>> {
    let unknown = unknown_names(workspace, selection);
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let tier_suites: Option<&[SuiteKind]> =
        selection.tier.and_then(|tier| workspace.tiers.tiers.iter().find(|one| one.tier == tier)).map(|tier| tier.suites.as_slice());
    let chosen = workspace
        .suites
        .iter()
        .filter(|suite| tier_suites.is_none_or(|kinds| kinds.contains(&suite.kind)))
        .filter(|suite| matches_any(&selection.suites, |name| suite_matches(name, &suite.name)))
        .flat_map(|suite| &suite.cases)
        .filter(|case| matches_any(&selection.profiles, |name| case.profile() == Some(name)))
        .filter(|case| matches_any(&selection.agents, |name| case.brief.surface.agent().is_some_and(|agent| **agent == name)))
        .filter(|case| matches_any(&selection.skills, |name| case.expect.skill.as_ref().is_some_and(|skill| **skill == name)))
        .filter(|case| matches_any(&selection.cases, |name| glob_match(name, &case.id)))
        .filter(|case| matches_any(&selection.tags, |tag| case.has_tag(tag)))
        .collect();
    Ok(chosen)
}

fn matches_any(names: &[String], holds: impl Fn(&str) -> bool) -> bool {
    names.is_empty() || names.iter().any(|name| holds(name))
}

/// Matches an id with a pattern: `*` is any sequence of characters, `?` is one.
pub fn glob_match(pattern: &str, id: &str) -> bool {
    let (mut pattern, mut id) = (pattern.as_bytes(), id.as_bytes());
    // Backtracking point: pattern after the last star, and the text it has not consumed.
    let mut star: Option<(&[u8], &[u8])> = None;
    while let Some((&letter, rest)) = id.split_first() {
        match pattern.split_first() {
            Some((b'*', after)) => {
                star = Some((after, id));
                pattern = after;
            }
            Some((&wanted, after)) if wanted == b'?' || wanted == letter => (pattern, id) = (after, rest),
            Some(_) | None => {
                let Some((after, from)) = star else { return false };
                let from = &from[1..];
                star = Some((after, from));
                (pattern, id) = (after, from);
            }
        }
    }
    pattern.iter().all(|letter| *letter == b'*')
}

/// Matches a suite by its name (`behavior/trader`) or folder (`behavior`).
fn suite_matches(asked: &str, suite: &str) -> bool {
    suite == asked || suite.split('/').next() == Some(asked)
}

fn unknown_names(workspace: &Workspace, selection: &CaseSelection) -> Vec<UnknownName> {
    let suites: Vec<&str> = workspace.suites.iter().flat_map(|suite| [suite.name.as_str(), suite.kind.word()]).collect();
    let profiles: Vec<&str> = workspace.profiles.iter().map(|profile| profile.name.as_str()).collect();
    let agents: Vec<&str> = workspace.agents.iter().map(|agent| agent.name.as_str()).collect();
    let skills: Vec<&str> = workspace.skills.iter().map(|skill| skill.name.as_str()).collect();
    let cases: Vec<&str> = workspace.cases().map(|case| case.id.as_str()).collect();
    let tags: Vec<&str> = workspace.cases().flat_map(|case| &case.tags).map(String::as_str).collect();
    let mut unknown = vec![];
    for (what, asked, known) in [
        ("suite", &selection.suites, &suites),
        ("profile", &selection.profiles, &profiles),
        ("agent", &selection.agents, &agents),
        ("skill", &selection.skills, &skills),
        ("case", &selection.cases, &cases),
        ("tag", &selection.tags, &tags),
    ] {
        // A pattern without a match is an error too.
        let is_known =
            |name: &String| if what == "case" { known.iter().any(|one| glob_match(name, one)) } else { known.contains(&name.as_str()) };
        for name in asked.iter().filter(|name| !is_known(name)) {
            unknown.push(UnknownName { what, name: name.clone(), remedy: name_remedy(what, name, known.iter().copied()) });
        }
    }
    if let Some(tier) = selection.tier.filter(|tier| workspace.tiers.tiers.iter().all(|one| one.tier != *tier)) {
        let known: Vec<String> = workspace.tiers.tiers.iter().map(|one| one.tier.to_string()).collect();
        unknown.push(UnknownName { what: "tier", name: tier.to_string(), remedy: format!("tiers are {}", known.join(", ")) });
    }
    unknown
}

#[cfg(test)]
mod tests {
    use super::glob_match;

    #[test]
    fn glob_match_supports_star_and_question_mark() {
        for (pattern, id, expected) in [
            ("swap", "swap", true),
            ("swap", "swaps", false),
            ("swap*", "swap_usdc", true),
            ("*usdc*", "swap_usdc_weth", true),
            ("*usdc", "swap_usdc_weth", false),
            ("s?ap", "swap", true),
            ("s?ap", "sap", false),
            ("*", "", true),
            ("a*b*c", "a_b_b_c", true),
            ("a*b*c", "a_c_b", false),
        ] {
            assert_eq!(glob_match(pattern, id), expected, "{pattern} {id}");
        }
    }
}
