//! Cases that a change concerns: those about a changed part, those about tools that read like a changed tool, and those that show one.

use super::case_parts::CaseParts;
use super::fingerprint::{WorkspaceChanges, WorkspaceFingerprint};
use super::shown_parts::shows_changed;
use model::Workspace;
use model::suite::{Case, CaseSurface};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
pub struct ChangedSelection {
    pub changes: WorkspaceChanges,
    /// Ids of the selected cases in file order, with the first reason of each.
    pub cases: Vec<(String, SelectionReason)>,
    /// Tools whose cases were added because they read like a changed tool.
    pub near: Vec<NearTool>,
    /// Cases that the change does not concern.
    pub left_out: usize,
    /// Cases among those left out that show a changed tool, agent or skill: the subject may take it there now.
    pub left_out_showing: usize,
}

/// Cases to which a change reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeReach {
    /// Cases about a changed part, for subjects whose trials cost something.
    Expected,
    /// Also cases that show a changed tool, agent or skill, which may be taken for another one now.
    Shown,
}

/// Tool that reads like a changed tool, before the change or after it.
#[derive(Debug, Clone, PartialEq)]
pub struct NearTool {
    pub changed: String,
    pub tool: String,
    pub similarity: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SelectionReason {
    /// The case itself changed.
    Case,
    Tool,
    Agent,
    Skill,
    Profile,
    World,
    /// A file that concerns every case changed.
    Shared,
    /// The case expects a tool that reads like a changed one.
    NearTool,
    /// The case shows a changed tool, agent or skill.
    Shown,
}

/// Selects the cases that the changes concern. `before` is the earlier state, for tools that used to read alike.
pub fn select_changed(
    workspace: &Workspace,
    changes: WorkspaceChanges,
    now: &WorkspaceFingerprint,
    before: Option<&WorkspaceFingerprint>,
    reach: ChangeReach,
) -> ChangedSelection {
    let near = near_changed(&changes, now, before);
    let (mut cases, mut left_out, mut left_out_showing) = (vec![], 0, 0);
    for case in workspace.cases() {
        let why = reason(workspace, case, &changes, &near);
        let is_shown = why.is_none() && shows_changed(workspace, case, &changes);
        match why.or((is_shown && reach == ChangeReach::Shown).then_some(SelectionReason::Shown)) {
            Some(why) => cases.push((case.id.value.clone(), why)),
            None => {
                left_out += 1;
                left_out_showing += usize::from(is_shown);
            }
        }
    }
    ChangedSelection { changes, cases, near, left_out, left_out_showing }
}

fn near_changed(changes: &WorkspaceChanges, now: &WorkspaceFingerprint, before: Option<&WorkspaceFingerprint>) -> Vec<NearTool> {
    let mut near = vec![];
    for changed in &changes.tools {
        let mut alike: BTreeMap<&str, f64> = BTreeMap::new();
        for (tool, similarity) in [Some(now), before].into_iter().flatten().filter_map(|state| state.near.get(changed)).flatten() {
            let known = alike.entry(tool).or_insert(*similarity);
            *known = known.max(*similarity);
        }
        let fresh = alike.into_iter().filter(|(tool, _)| !changes.tools.contains(*tool));
        near.extend(fresh.map(|(tool, similarity)| NearTool { changed: changed.clone(), tool: tool.to_owned(), similarity }));
    }
    near.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then_with(|| (&a.changed, &a.tool).cmp(&(&b.changed, &b.tool))));
    near
}

fn reason(workspace: &Workspace, case: &Case, changes: &WorkspaceChanges, near: &[NearTool]) -> Option<SelectionReason> {
    let parts = CaseParts::of(workspace, case);
    let on_profile = match &case.brief.surface {
        CaseSurface::Profile(name) => changes.profiles.contains(name.as_str()),
        CaseSurface::Agent(_) | CaseSurface::Skills => false,
    };
    // A tool that the subject cannot see cannot be taken for another.
    let is_shown = |tool: &str| workspace.surface_tools(&case.brief.surface).iter().any(|shown| shown.name.value == tool);
    let is_near = || near.iter().any(|one| parts.tools.contains(one.tool.as_str()) && is_shown(&one.changed));
    [
        (changes.cases.contains(case.id.as_str()), SelectionReason::Case),
        (parts.tools.iter().any(|tool| changes.tools.contains(*tool)), SelectionReason::Tool),
        (parts.agents.iter().any(|agent| changes.agents.contains(*agent)), SelectionReason::Agent),
        (parts.skills.iter().any(|skill| changes.skills.contains(*skill)), SelectionReason::Skill),
        (on_profile, SelectionReason::Profile),
        (changes.worlds.contains(case.brief.world.as_str()), SelectionReason::World),
        (!changes.shared.is_empty(), SelectionReason::Shared),
    ]
    .into_iter()
    .find_map(|(concerns, why)| concerns.then_some(why))
    .or_else(|| is_near().then_some(SelectionReason::NearTool))
}
