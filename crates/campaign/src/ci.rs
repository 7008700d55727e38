//! Tiers that a CI event runs, from the table in tiers.yaml. Spec 9.

use crate::spec::UnknownName;
use model::{Workspace, name_remedy};

/// Files and folders that decide the verdict of a change: bounds, defaults, scorers and recorded replies. A change of them runs the tiers of
/// the event, also if `when_changed` does not list them, and the files of CI systems warn of it.
pub const DECIDING_PARTS: [&str; 7] =
    ["gates.yaml", "policy.yaml", "tiers.yaml", "scorers.yaml", "bardo-eval.yaml", "scorers", "cassettes"];

/// CI event.
#[derive(Debug, Clone, Default)]
pub struct CiEvent {
    pub event: String,
    /// Changed paths, relative to the workspace, to the repository or to one of the folders that `roots` begin at; `None` if unknown.
    pub changed: Option<Vec<String>>,
    /// Workspace folder as a prefix of the paths, such as `evals`: from the repository, and from the working directory.
    pub roots: Vec<String>,
    /// Tiers requested by hand; they replace the selection by event.
    pub requested_tiers: Vec<u64>,
}

/// Decision about one tier, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierPlan {
    pub tier: u64,
    pub name: String,
    pub runs: bool,
    pub why: String,
}

/// Decides for every CI tier if it runs.
///
/// # Errors
/// All unknown events and tiers together.
pub fn ci_plan(workspace: &Workspace, ci_event: &CiEvent) -> Result<Vec<TierPlan>, Vec<UnknownName>> {
    let rows = &workspace.tiers.ci;
    let mut unknown = vec![];
    let row = rows.iter().find(|row| row.event == ci_event.event);
    if row.is_none() {
        let known = rows.iter().map(|row| row.event.as_str());
        unknown.push(UnknownName { what: "event", name: ci_event.event.clone(), remedy: name_remedy("event", &ci_event.event, known) });
    }
    let in_ci: Vec<u64> = rows.iter().flat_map(|row| &row.tiers).copied().collect();
    for tier in ci_event.requested_tiers.iter().filter(|tier| !in_ci.contains(tier)) {
        unknown.push(UnknownName { what: "CI tier", name: tier.to_string(), remedy: "CI tiers are listed in tiers.yaml under ci".into() });
    }
    let Some(row) = row.filter(|_| unknown.is_empty()) else { return Err(unknown) };
    let touched = parts_changed(&row.when_changed, ci_event);
    let first = workspace.tiers.tiers.iter().map(|tier| tier.tier).min();
    let tiers = workspace.tiers.tiers.iter().filter(|tier| in_ci.contains(&tier.tier)).map(|tier| {
        let (runs, why) = if !ci_event.requested_tiers.is_empty() {
            let asked = ci_event.requested_tiers.contains(&tier.tier);
            (asked, if asked { "requested".to_owned() } else { "not requested".to_owned() })
        } else if !row.tiers.contains(&tier.tier) {
            (false, format!("runs on: {}", tier.trigger))
        } else if row.when_changed.is_empty() || Some(tier.tier) == first {
            // The first tier is free and always runs.
            (true, every(&row.event))
        } else {
            touched.clone()
        };
        TierPlan { tier: tier.tier, name: tier.name.clone(), runs, why }
    });
    Ok(tiers.collect())
}

/// Returns true if a file in one of the parts changed, with the reason.
fn parts_changed(parts: &[String], ci_event: &CiEvent) -> (bool, String) {
    let Some(changed) = &ci_event.changed else { return (true, "changed files unknown, assuming that everything changed".to_owned()) };
    let inside: Vec<&str> = changed
        .iter()
        .map(String::as_str)
        .filter(|path| parts.iter().map(String::as_str).chain(DECIDING_PARTS).any(|part| is_in_part(path, &ci_event.roots, part)))
        .collect();
    match inside.as_slice() {
        [] => (false, format!("nothing changed in {}", parts.join(", "))),
        [only] => (true, format!("{only} changed")),
        [first, rest @ ..] => (true, format!("{first} and {} more changed", rest.len())),
    }
}

/// Reports whether a path is a file of the workspace, in a folder of it, or below a path of the repository, which begins with `/`.
fn is_in_part(path: &str, roots: &[String], part: &str) -> bool {
    let is_below = |path: &str, part: &str| path.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    match part.strip_prefix('/') {
        Some(part) => is_below(path, part),
        None => {
            let inside = roots.iter().filter_map(|root| path.strip_prefix(root.as_str())?.strip_prefix('/'));
            inside.chain([path]).any(|path| is_below(path, part))
        }
    }
}

/// Returns a relative path without `.` in one notation; `None` for one that is absolute or leads upwards.
pub fn plain_path(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    (!path.starts_with('/') && !parts.contains(&"..")).then(|| parts.join("/"))
}

/// Returns "every" and the event, as in "every pull request" and "every nightly run".
fn every(event: &str) -> String {
    let run = if matches!(event, "nightly" | "manual") { " run" } else { "" };
    format!("every {}{run}", event.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use score::example::ExampleWorkspace;

    /// Four tiers and the four events of the specification.
    const TIERS: &str = "
tiers:
  - { tier: 1, name: smoke, trigger: every commit, live: none, budget_usd: 0, trials: 1, suites: [], what: No model. }
  - { tier: 2, name: component, trigger: every pull request, live: judge, budget_usd: 0.50, trials: 1, suites: [tool_selection], what: Tools. }
  - { tier: 3, name: integration, trigger: merge, live: subject, budget_usd: 2, trials: 1, suites: [skills], what: Flows. }
  - { tier: 4, name: regression, trigger: nightly, live: subject, budget_usd: 10, trials: 3, suites: [skills], what: Everything. }
ci:
  - { event: pull_request, tiers: [1, 2], when_changed: [tools, agents, skills, policy, gates.yaml, worlds, /agent.py, /src/agent] }
  - { event: merge, tiers: [1, 3] }
  - { event: nightly, tiers: [1, 2, 3, 4] }
  - { event: manual, tiers: [1, 2, 3, 4] }
";

    fn tiers_run_on(event: &str, changed: Option<&[&str]>, asked: &[u64]) -> Vec<u64> {
        let workspace = ExampleWorkspace::minimal().with("tiers.yaml", TIERS).load().expect("a workspace");
        let changed = changed.map(|paths| paths.iter().map(|path| (*path).to_owned()).collect());
        let ci_event = CiEvent { event: event.into(), changed, roots: vec!["evals".into()], requested_tiers: asked.to_vec() };
        ci_plan(&workspace, &ci_event).expect("a plan").into_iter().filter(|tier| tier.runs).map(|tier| tier.tier).collect()
    }

    #[test]
    fn ci_events_run_the_tiers_of_the_spec() {
        for (event, expected) in [("pull_request", &[1, 2][..]), ("merge", &[1, 3]), ("nightly", &[1, 2, 3, 4]), ("manual", &[1, 2, 3, 4])]
        {
            assert_eq!(tiers_run_on(event, None, &[]), expected, "{event}");
        }
        assert_eq!(tiers_run_on("manual", None, &[1, 3]), [1, 3]);
    }

    #[test]
    fn pull_request_runs_tier_2_when_parts_changed() {
        for path in [
            "evals/tools/wallet.yaml",
            "evals/skills/swap/SKILL.md",
            "tools/wallet.yaml",
            "evals/policy.yaml",
            "evals/gates.yaml",
            "evals/worlds/small.yaml",
            "agent.py",
            "src/agent/main.py",
        ] {
            assert_eq!(tiers_run_on("pull_request", Some(&["README.md", path]), &[]), [1, 2], "{path}");
        }
        for path in [
            "README.md",
            "src/tools/main.rs",
            "evals",
            "evals-of-others/tools/a.yaml",
            "evals/policy.yaml.old",
            "evals/coverage.yaml",
            "evals/agent.py",
            "src/agents.py",
        ] {
            assert_eq!(tiers_run_on("pull_request", Some(&[path]), &[]), [1], "{path}");
        }
        assert_eq!(tiers_run_on("merge", Some(&["README.md"]), &[]), [1, 3]);
    }

    #[test]
    fn changes_below_any_root_of_the_workspace_run_tier_2() {
        let workspace = ExampleWorkspace::minimal().with("tiers.yaml", TIERS).load().expect("a workspace");
        let tiers = |path: &str| {
            let (changed, roots) = (Some(vec![path.to_owned()]), vec!["services/trader/evals".to_owned(), "evals".to_owned()]);
            let ci_event = CiEvent { event: "pull_request".into(), changed, roots, requested_tiers: vec![] };
            ci_plan(&workspace, &ci_event).expect("a plan").iter().filter(|tier| tier.runs).count()
        };
        for path in
            ["services/trader/evals/tools/wallet.yaml", "evals/tools/wallet.yaml", "tools/wallet.yaml", "services/trader/evals/gates.yaml"]
        {
            assert_eq!(tiers(path), 2, "{path}");
        }
        for path in ["services/other/evals/tools/wallet.yaml", "services/trader/src/tools/wallet.yaml"] {
            assert_eq!(tiers(path), 1, "{path}");
        }
    }

    #[test]
    fn paths_are_compared_in_one_notation() {
        assert_eq!(plain_path("./evals//tools/./a.yaml").as_deref(), Some("evals/tools/a.yaml"));
        assert_eq!((plain_path(".").as_deref(), plain_path("").as_deref()), (Some(""), Some("")));
        for path in ["/evals/a.yaml", "../evals/a.yaml", "evals/../a.yaml"] {
            assert_eq!(plain_path(path), None, "{path}");
        }
    }

    #[test]
    fn change_of_what_blocks_runs_the_tiers_whatever_is_listed() {
        let tiers = TIERS.replace("[tools, agents, skills, policy, gates.yaml, worlds, /agent.py, /src/agent]", "[tools]");
        let workspace = ExampleWorkspace::minimal().with("tiers.yaml", &tiers).load().expect("a workspace");
        let runs = |path: &str| {
            let changed = Some(vec![path.to_owned()]);
            let ci_event = CiEvent { event: "pull_request".into(), changed, roots: vec!["evals".into()], requested_tiers: vec![] };
            ci_plan(&workspace, &ci_event).expect("a plan").iter().filter(|tier| tier.runs).count()
        };
        for path in [
            "evals/gates.yaml",
            "evals/policy.yaml",
            "evals/tiers.yaml",
            "evals/bardo-eval.yaml",
            "evals/scorers.yaml",
            "evals/scorers/tone.py",
            "evals/cassettes/model.jsonl",
            "gates.yaml",
        ] {
            assert_eq!(runs(path), 2, "{path}");
        }
        assert_eq!(runs("src/scorers/tone.py"), 1);
        assert_eq!(runs("evals/agents/trader.md"), 1);
    }

    #[test]
    fn ci_plan_rejects_unknown_events_and_tiers() {
        let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        let ci_event = CiEvent { event: "pull-request".into(), requested_tiers: vec![9], ..CiEvent::default() };
        assert_eq!(ci_plan(&workspace, &ci_event).expect_err("two mistakes").len(), 2);
    }
}
