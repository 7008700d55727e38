use super::*;
use crate::files::WorkspaceFiles;
use crate::minimal_workspace::MINIMAL_WORKSPACE;

fn files() -> WorkspaceFiles {
    MINIMAL_WORKSPACE.iter().copied().collect()
}

fn load(change: impl FnOnce(&mut WorkspaceFiles)) -> Result<Workspace, Vec<String>> {
    let mut files = files();
    change(&mut files);
    Workspace::load(&files).map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

/// Replaces the first occurrence of a text in a file.
fn edit_file(files: &mut WorkspaceFiles, path: &str, from: &str, to: &str) {
    let text = files.get(path).expect("a file").to_owned();
    assert!(text.contains(from), "{path} does not contain {from:?}");
    files.insert(path, text.replacen(from, to, 1));
}

#[test]
fn every_file_of_a_workspace_is_read() {
    let workspace = load(|_| {}).unwrap();
    let count = |folder: &str| MINIMAL_WORKSPACE.iter().filter(|(path, _)| path.starts_with(folder)).count();
    assert_eq!((workspace.profiles.len(), workspace.agents.len()), (count("profiles/"), count("agents/")));
    assert_eq!((workspace.skills.len(), workspace.outputs.len()), (count("skills/"), count("outputs/")));
    assert_eq!((workspace.chains.len(), workspace.subjects.len()), (count("registry/"), count("subjects/")));
    assert_eq!((workspace.worlds.len(), workspace.suites.len()), (count("worlds/"), count("suites/")));
    assert!(!workspace.tools.is_empty() && !workspace.gates.is_empty() && !workspace.tiers.tiers.is_empty());
    assert!(workspace.defaults.subject.is_none());
}

#[test]
fn workspace_lookups_find_items_by_name() {
    let workspace =
        load(|files| edit_file(files, "tools/wallet.yaml", "- name: swap_execute\n", "- name: swap_execute\n    aliases: [old_swap]\n"))
            .unwrap();
    assert_eq!(workspace.tool("old_swap").map(|tool| tool.name.as_str()), Some("swap_execute"));
    assert!(workspace.tool("nothing").is_none());
    assert_eq!(workspace.agent("trader").map(|agent| agent.name.as_str()), Some("trader"));
    assert!(workspace.profile("trader").is_some() && workspace.skill("swap").is_some() && workspace.output("verdict").is_some());
    assert!(workspace.subject("echo").is_some() && workspace.world("small").is_some());
    for name in ["base", "8453", "BASE"] {
        assert_eq!(workspace.chain(name).map(|chain| chain.id), Some(8453), "{name}");
    }
    let case = workspace.case("sell_usdc_for_ether").unwrap();
    assert_eq!(workspace.surface_tools(&case.brief.surface).len(), workspace.agent_tools("trader").len());
    assert!(workspace.surface_tools(&CaseSurface::Skills).is_empty() && workspace.agent_tools("unknown").is_empty());
}

#[test]
fn tool_name_wins_over_alias() {
    let workspace = load(|files| {
        edit_file(files, "tools/wallet.yaml", "- name: swap_execute\n", "- name: swap_execute\n    aliases: [token_transfer]\n")
    })
    .unwrap();
    assert_eq!(workspace.tool("token_transfer").map(|tool| tool.name.as_str()), Some("token_transfer"));
}

#[test]
fn defaults_are_read() {
    let workspace = load(|files| files.insert("bardo-eval.yaml", "subject: echo\njudge: sonnet\nbudget_usd: 2.50\n")).unwrap();
    let word = |spot: &Option<crate::location::Spanned<String>>| spot.as_ref().map(|spot| spot.value.clone());
    assert_eq!((word(&workspace.defaults.subject), word(&workspace.defaults.judge)), (Some("echo".into()), Some("sonnet".into())));
    assert_eq!(workspace.defaults.budget.map(|budget| budget.to_string()).as_deref(), Some("2.50"));
}

#[test]
fn workspace_hash_ignores_golden_and_cassettes() {
    let hash = load(|_| {}).unwrap().hash;
    assert_eq!(load(|files| files.insert("golden/trader/behavior.jsonl", "{}")).unwrap().hash, hash);
    assert_eq!(load(|files| files.insert("cassettes/a.jsonl", "{}")).unwrap().hash, hash);
    assert_ne!(load(|files| files.insert("README.md", "Hello.")).unwrap().hash, hash);
    assert_ne!(load(|files| edit_file(files, "policy.yaml", "version: ", "version:  ")).unwrap().hash, hash);
}

#[test]
fn ignored_workspace_paths_are_not_parsed() {
    for path in ["golden/a/b.jsonl", "cassettes/x", "judge/examples.jsonl", "tools/README.md", "README.md"] {
        assert!(load(|files| files.insert(path, "{[")).is_ok(), "{path}");
    }
}

#[test]
fn broken_workspaces_say_what_is_wrong() {
    type FilesEdit = fn(&mut WorkspaceFiles);
    let rows: &[(FilesEdit, &[&str])] = &[
        (|files| files.insert("gate.yaml", ""), &["gate.yaml:1  nothing reads this file; did you mean \"gates.yaml\"?"]),
        (|files| files.insert("toolz/a.yaml", ""), &["toolz/a.yaml:1  nothing reads this file; did you mean \"tools\"?"]),
        (|files| files.insert("notes.txt", ""), &["notes.txt:1  nothing reads this file"]),
        (|files| files.insert("tools/a.yml", ""), &["tools/a.yml:1  nothing reads this file; files in tools/ end in .yaml"]),
        (|files| files.insert("agents/a.yaml", ""), &["agents/a.yaml:1  nothing reads this file; files in agents/ end in .md"]),
        (|files| files.insert("worlds/b.yaml", ""), &["worlds/b.yaml:1  the file is empty; write its content or delete the file"]),
        (
            |files| files.insert("agents/a.md", "name: a\n"),
            &["agents/a.md:1  the file does not start with front matter; start it with a line ---, keys, and a line ---"],
        ),
        (
            |files| files.insert("skills/a/SKILL.md", "---\nname: a\n"),
            &["skills/a/SKILL.md:1  the front matter is not closed; end it with a line ---"],
        ),
        (
            |files| files.insert("outputs/a.yaml", "output: a\nabout: A.\n"),
            &["outputs/a.yaml:1  an output lacks \"schema\"; add schema: …"],
        ),
        (
            |files| files.insert("bardo-eval.yaml", "subject: echo\nbudget_usd: a lot\n"),
            &["bardo-eval.yaml:2  \"a lot\" is not a dollar amount; write digits with at most nine after the point, as in 2.50"],
        ),
        (
            |files| drop(files.remove("gates.yaml")),
            &["gates.yaml:0  missing from the workspace; run `bardo-eval init` in another folder and copy it from there"],
        ),
        (
            |files| drop(files.remove("tools/wallet.yaml")),
            &["tools/:0  missing from the workspace; run `bardo-eval init` in another folder and copy it from there"],
        ),
    ];
    for (change, problems) in rows {
        assert_eq!(load(change).unwrap_err(), *problems);
    }
    let none = Workspace::load(&WorkspaceFiles::default()).unwrap_err();
    assert_eq!(none[0].to_string(), ".:0  there is no workspace here: no file was found; run `bardo-eval init` to write one");
}

#[test]
fn problems_of_all_files_are_sorted() {
    let problems = load(|files| {
        files.insert("policy.yaml", "version: 1\n");
        edit_file(files, "agents/trader.md", "tier: ", "tier: x");
        files.insert("notes.txt", "");
    })
    .unwrap_err();
    assert!(problems.len() > 15 && problems.is_sorted(), "{problems:#?}");
    assert!(problems[0].starts_with("agents/trader.md:") && problems[1] == "notes.txt:1  nothing reads this file", "{problems:#?}");
    // Lines of front matter count from the top of the file.
    let line = files().get("agents/trader.md").unwrap().lines().position(|line| line.starts_with("tier:")).unwrap() + 1;
    assert!(problems[0].starts_with(&format!("agents/trader.md:{line}  ")), "{}", problems[0]);
}

/// Smallest workspace without a policy.
fn plain_files() -> WorkspaceFiles {
    let mut files = WorkspaceFiles::default();
    files.insert("tools/a.yaml", "category: a\ntools:\n  - { name: look, description: Looks., capability: read }\n  - { name: put, description: Puts., capability: write }\n");
    files.insert("agents/clerk.md", "---\nname: clerk\ntools: [look, put]\n---\n");
    files.insert(
        "suites/behavior/a.yaml",
        "suite: behavior\ncases:\n  - { id: a, brief: { surface: { agent: clerk }, turns: [Look.] }, expect: { calls: { none: true } } }\n",
    );
    files
}

#[test]
fn workspace_without_policy_has_defaults() {
    let workspace = Workspace::load(&plain_files()).unwrap();
    assert!(workspace.policy.is_none());
    assert_eq!(workspace.gates[0].id.as_str(), "case_pass_rate");
    assert_eq!(workspace.case("a").unwrap().brief.world.as_str(), "empty");
    assert!(["baseline", "reference", "echo", "gullible", "paranoid"].iter().all(|name| workspace.subject(name).is_some()));
    let clerk = workspace.agent("clerk").unwrap();
    assert!(*clerk.writes && clerk.output.is_none() && clerk.invariants.is_empty());
    let put = workspace.tool("put").unwrap();
    assert!(put.params.is_empty(), "only prepared writes take an action_id");
    assert_eq!((put.acts.value.word(), workspace.tool("look").unwrap().acts.value.word()), ("pass_through", "read"));
}

#[test]
fn parts_of_the_defi_rules_need_a_policy() {
    for (path, text, what) in [
        (
            "registry/base.yaml",
            "chain: { id: 1, name: a, native: ETH, block_time_s: 2 }\ntokens: []\ncontracts: []\n",
            "a registry of chains needs",
        ),
        ("worlds/a.yaml", "world: a\nchains: [1]\n", "a wallet and chains need"),
        (
            "tools/b.yaml",
            "category: b\ntools:\n  - { name: sell, description: Sells., capability: write, acts: swap }\n",
            "acts: swap needs",
        ),
        (
            "tools/b.yaml",
            "category: b\ntools:\n  - { name: hold, description: Holds., capability: read, view: balances }\n",
            "this view reads a chain",
        ),
        ("agents/b.md", "---\nname: b\ntools: []\nserves: guardian\n---\nB.\n", "serves needs"),
    ] {
        let mut files = plain_files();
        files.insert(path, text);
        let problems = Workspace::load(&files).unwrap_err();
        assert!(problems.iter().any(|problem| problem.what.contains(what)), "{path}: {problems:#?}");
    }
}

#[test]
fn cases_without_a_world_use_the_default_one() {
    let mut files = plain_files();
    files.insert("worlds/one.yaml", "world: one\n");
    assert_eq!(Workspace::load(&files).unwrap().case("a").unwrap().brief.world.as_str(), "one");
    files.insert("worlds/two.yaml", "world: two\n");
    let problems = Workspace::load(&files).unwrap_err();
    assert!(problems[0].what.contains("none is the default") && problems[0].at.file.starts_with("suites/"), "{problems:#?}");
    files.insert("worlds/two.yaml", "world: two\ndefault: true\n");
    assert_eq!(Workspace::load(&files).unwrap().case("a").unwrap().brief.world.as_str(), "two");
}
