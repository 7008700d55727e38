//! Reading and expansion of configs.

use crate::{PromptfooSuite, ProviderTarget, SuiteFiles, TestFilters, expand, import_suite, read_for_import, read_suite};
use score::assertions::AssertionMode;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

#[derive(Default)]
struct MemoryFiles(BTreeMap<String, String>);

impl SuiteFiles for MemoryFiles {
    fn read(&self, path: &str) -> Result<String, String> {
        self.0.get(path).cloned().ok_or_else(|| "it does not exist".to_owned())
    }

    fn glob(&self, pattern: &str) -> Vec<String> {
        let matches = |path: &&String| score::assertions::matches_glob(path, pattern);
        self.0.keys().filter(matches).cloned().collect()
    }
}

fn files(pairs: &[(&str, &str)]) -> MemoryFiles {
    MemoryFiles(pairs.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
}

fn suite(text: &str, files: &MemoryFiles) -> PromptfooSuite {
    read_suite("c.yaml", text, files, AssertionMode::Strict).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

fn problems(text: &str, files: &MemoryFiles, mode: AssertionMode) -> Vec<String> {
    read_suite("c.yaml", text, files, mode).expect_err("mistakes").iter().map(ToString::to_string).collect()
}

#[test]
fn config_with_every_part_is_read() {
    let files = files(&[
        ("p/a.txt", "Hello {{name}}\n---\nBye {{name}}\n"),
        ("p/chat.yaml", "- role: user\n  content: \"{{ q }}\"\n"),
        ("more.csv", "q,__expected\nx,contains: x\n"),
        ("more.jsonl", "{\"vars\":{\"q\":\"l\"}}\n"),
        ("prov.js", "module.exports = p => p"),
        ("note.md", " text of a file \n"),
    ]);
    let suite = suite(
        "description: all\nprompts:\n  - 'Say {{q}}'\n  - file://p/*.txt\n  - { raw: 'x {{q}}', label: lx }\n  - file://p/chat.yaml\n\
         providers:\n  - echo\n  - id: exec:cat -n\n    label: cat\n    prompts: [lx]\n  - openai:chat:gpt-x: { config: { temperature: 0 } }\n  - file://prov.js\n\
         defaultTest:\n  vars: { lang: en }\n  assert: [{ type: is-json, metric: j }]\n  threshold: 0.5\n\
         tests:\n  - vars: { q: [a, b], n: [1, 2] }\n    assert:\n      - { type: contains, value: '{{q}}' }\n      - type: assert-set\n        threshold: 0.5\n        assert: [{ type: equals, value: 1, weight: 2 }]\n\
         \n  - file://more.csv\n  - file://more.jsonl\n  - { vars: { q: file://note.md }, options: { disableDefaultAsserts: true } }\n\
         scenarios:\n  - config: [{ vars: { s: 1 } }, { vars: { s: 2 } }]\n    tests: [{ vars: { q: z } }]\n\
         derivedMetrics: [{ name: d, value: j / __count }]\nevaluateOptions: { maxConcurrency: 7, repeat: 2 }\noutputPath: r.json\n",
        &files,
    );
    let raw: Vec<&str> = suite.prompts.iter().map(|prompt| prompt.raw.as_str()).collect();
    assert_eq!(raw, ["Say {{q}}", "Hello {{name}}", "Bye {{name}}", "x {{q}}", "[{\"role\":\"user\",\"content\":\"{{ q }}\"}]"]);
    assert!(matches!(&suite.providers[1].target, ProviderTarget::Exec { command } if command.join(" ") == "cat -n"));
    assert!(matches!(&suite.providers[2].target, ProviderTarget::OpenAi { model, api: model::OpenAiApi::Chat } if model == "gpt-x"));
    assert_eq!(suite.tests.len(), 6);
    assert_eq!(suite.tests[0].assertions.len(), 3, "the default comes first");
    assert_eq!(suite.tests[3].vars["q"], json!("text of a file"));
    assert_eq!((suite.tests[3].assertions.len(), suite.tests[0].threshold), (0, Some(0.5)));
    assert_eq!((suite.tests[4].vars["s"].clone(), suite.tests[5].vars["s"].clone()), (json!(1), json!(2)));
    assert_eq!((suite.max_concurrency, suite.repeat), (Some(7), Some(2)));
    assert!(!suite.tests[0].json.to_string().contains("\\u0000"), "lines are not part of the test");

    let extra: Map<String, Value> = [("lang".to_owned(), json!("de")), ("v".to_owned(), json!("w"))].into_iter().collect();
    let cells = expand(&suite, &TestFilters { first_n: Some(1), ..TestFilters::default() }, 2, &extra).expect("cells");
    // Two repeats, two values of q (n is a list of numbers and stays whole), and 5 + 1 + 5 + 5 pairs of provider and prompt.
    assert_eq!(cells.len(), 2 * 2 * 16);
    assert_eq!(
        (cells[0].vars["q"].clone(), cells[16].vars["q"].clone(), cells[0].vars["n"].clone()),
        (json!("a"), json!("b"), json!([1, 2]))
    );
    assert_eq!((cells[0].vars["lang"].clone(), cells[0].vars["v"].clone()), (json!("en"), json!("w")));
    assert_eq!(cells.iter().map(|cell| cell.test_index).max(), Some(3));
}

#[test]
fn all_mistakes_are_reported_with_their_lines() {
    let files = files(&[("t.csv", "a,__nope\n1,2\n"), ("t.yaml", "- vars: { a: 1 }\n- assert:\n    - { type: contians, value: x }\n")]);
    let text = "promts: [x]\nproviders:\n  - foo:bar\n  - { config: {} }\ntests:\n  - vars: { a: file://none.txt }\n    assert:\n      - type: min-length\n        value: 3\n      - { type: contains }\n      - { type: factuality, value: good }\n      - { type: regex, value: '' }\n  - file://t.csv\n  - file://t.yaml\n  - file://missing.json\n  - 3\nredteam: { plugins: [x] }\n";
    let found = problems(text, &files, AssertionMode::Strict);
    for expected in [
        "c.yaml:1  a config has no key \"promts\"; did you mean \"prompts\"?",
        "c.yaml:3  the provider \"foo:bar\" is not supported",
        "c.yaml:4  a provider has no id",
        "c.yaml:6  there is no file none.txt",
        "c.yaml:8  there is no assertion of type \"min-length\"",
        "c.yaml:10  contains lacks \"value\"",
        "c.yaml:11  factuality has no provider that judges",
        "c.yaml:12  regex needs a pattern",
        "c.yaml:15  there is no file missing.json",
        "c.yaml:16  a test is a mapping",
        "c.yaml:17  redteam: attacks are made by bardo-eval redteam",
        "t.csv:2  the column \"__nope\" is not known",
        "t.yaml:3  there is no assertion of type \"contians\"; did you mean \"contains\"?",
    ] {
        assert!(found.iter().any(|problem| problem.starts_with(expected)), "{expected} is not in {found:#?}");
    }
    assert_eq!(found.len(), 13, "{found:#?}");
}

#[test]
fn compat_leaves_unknown_types_to_the_grading() {
    let text = "providers: [echo]\ntests: [{ assert: [{ type: min-length, value: 3 }] }]\n";
    assert!(read_suite("c.yaml", text, &MemoryFiles::default(), AssertionMode::Compat).is_ok());
    assert_eq!(problems(text, &MemoryFiles::default(), AssertionMode::Strict).len(), 1);
}

#[test]
fn rubrics_need_a_judge() {
    let with = |options: &str| {
        format!(
            "providers: [echo]\ndefaultTest: {{ options: {{ {options} }} }}\ntests: [{{ assert: [{{ type: equals, value: x }}, {{ type: llm-rubric, value: good }}] }}]\n"
        )
    };
    let found = problems(&with(""), &MemoryFiles::default(), AssertionMode::Strict);
    assert_eq!(found, ["c.yaml:3  llm-rubric has no provider that judges; add provider: to it, or defaultTest.options.provider"]);
    let read = suite(&with("provider: 'ollama:chat:judge'"), &MemoryFiles::default());
    assert_eq!(read.providers.len(), 1, "a judge is not a provider of the tests");
    let judges: Vec<Option<&str>> = read.tests[0].judges.iter().map(|judge| judge.as_ref().map(|judge| judge.id.as_str())).collect();
    assert_eq!(judges, [None, Some("ollama:chat:judge")]);
}

/// A prompt that only instructs has no turn for a case.
#[test]
fn import_leaves_a_prompt_without_a_message_of_the_user_out() {
    let chat = |role: &str, content: &str| format!("  - '[{{\"role\": \"{role}\", \"content\": \"{content}\"}}]'\n");
    let prompts = chat("system", "Be kind.") + &chat("user", "Hello {{name}}") + "  - '[]'\n" + &chat("user", "");
    let text =
        format!("prompts:\n{prompts}providers: [echo]\ntests: [{{ vars: {{ name: Ann }}, assert: [{{ type: contains, value: Ann }}] }}]\n");
    let (suite, mistakes) = read_for_import("c.yaml", &text, &files(&[]));
    let imported = import_suite(&suite, mistakes);
    let reasons: Vec<&str> = imported.left_out.iter().map(|problem| problem.remedy.as_str()).collect();
    assert!(reasons.contains(&"it has no message of the user, and a case begins with one"), "{reasons:?}");
    let files: model::WorkspaceFiles = imported.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let workspace = model::Workspace::load(&files).unwrap_or_else(|problems| panic!("{problems:#?}"));
    assert!(workspace.agent("prompt-2").is_some() && workspace.agent("prompt-1").is_none());
    assert_eq!(workspace.cases().count(), imported.cases);
}

/// Settings of a config may have any value, and a subject may not.
#[test]
fn import_leaves_a_provider_with_an_impossible_setting_out() {
    let provider = |label: &str, config: &str| format!("  - {{ id: openai:chat:m, label: {label}, config: {{ {config} }} }}\n");
    let providers = provider("good", "temperature: 0.5") + &provider("text", "temperature: warm");
    let text = format!("prompts: ['Hello']\nproviders:\n{providers}tests: [{{ assert: [{{ type: contains, value: Ann }}] }}]\n");
    let (suite, mistakes) = read_for_import("c.yaml", &text, &files(&[]));
    let imported = import_suite(&suite, mistakes);
    let files: model::WorkspaceFiles = imported.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let workspace = model::Workspace::load(&files).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let subjects: Vec<&str> = workspace.subjects.iter().map(|subject| subject.name.as_str()).collect();
    assert!(subjects.contains(&"good") && !subjects.contains(&"text"), "{subjects:?}");
    let reason = "expected a number, found \"warm\"";
    assert!(imported.left_out.iter().any(|problem| problem.remedy == reason), "{:#?}", imported.left_out);
}
