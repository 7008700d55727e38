//! Configs of promptfoo that must not end with exit 0 in the strict mode, results that are compared, and configs that become workspaces.

use crate::harness::TestFolder;
use serde_json::Value;

/// Each of these passes in promptfoo, or is found after the provider was paid.
#[test]
fn nothing_undecided_passes() {
    let test = |assert: &str| format!("prompts: [hi]\nproviders: [echo]\ntests: [{{ assert: [{assert}] }}]\n");
    let cases = [
        ("no assertion", "prompts: [hi]\nproviders: [echo]\ntests: [{ vars: { a: 1 } }]\n".to_owned(), 3),
        ("no tests", "prompts: [hi]\nproviders: [echo]\ntests: []\n".to_owned(), 3),
        ("tests left out", "prompts: [hi]\nproviders: [echo]\n".to_owned(), 3),
        ("unknown type", test("{ type: min-length, value: 1 }"), 2),
        ("python", test("{ type: python, value: 'True' }"), 2),
        ("python file", test("{ type: javascript, value: file://x.py }"), 2),
        ("typo in a key of an assertion", test("{ type: is-json, vlaue: { type: object } }"), 2),
        ("typo in a key of a test", "prompts: [hi]\nproviders: [echo]\ntests: [{ asserts: [{ type: equals, value: no }] }]\n".to_owned(), 2),
        ("assertions", "prompts: [hi]\nproviders: [echo]\ntests: [{ assertions: [{ type: equals, value: no }] }]\n".to_owned(), 2),
        ("typo in a key of the config", "prompts: [hi]\nproviders: [echo]\ntest: [{ assert: [{ type: equals, value: no }] }]\n".to_owned(), 2),
        ("typo in a key of an option", "prompts: [hi]\nproviders: [echo]\ntests: [{ options: { tranform: '1' }, assert: [{ type: equals, value: hi }] }]\n".to_owned(), 2),
        ("typo in a key of a provider", "prompts: [hi]\nproviders: [{ id: echo, tranform: '1' }]\ntests: [{ assert: [{ type: equals, value: hi }] }]\n".to_owned(), 2),
        ("threshold 0 of a score", test("{ type: tool-call-f1, value: swap, threshold: 0 }"), 2),
        ("threshold in quotes", test("{ type: rouge-n, value: other words, threshold: '0.9' }"), 2),
        ("threshold 0 of the test", "prompts: [hi]\nproviders: [echo]\ntests: [{ threshold: 0, assert: [{ type: equals, value: no }] }]\n".to_owned(), 1),
        ("weight 0 alone", test("{ type: equals, value: no, weight: 0 }"), 3),
        ("weight in quotes", test("{ type: equals, value: no, weight: '0' }"), 2),
        ("weight 0 of a set", test("{ type: assert-set, weight: 0, assert: [{ type: equals, value: no }] }"), 3),
        ("exception", test("{ type: javascript, value: output.nope() }"), 3),
        ("exception with not-", test("{ type: not-javascript, value: output.nope() }"), 3),
        ("script without a verdict", test("{ type: javascript, value: '({ score: 1 })' }"), 3),
        ("promise that never settles", test("{ type: javascript, value: 'new Promise(() => {})' }"), 3),
        ("invalid pattern with not-", test("{ type: not-regex, value: '(' }"), 3),
        ("template error", "prompts: ['{% if %}']\nproviders: [echo]\ntests: [{ assert: [{ type: not-contains, value: x }] }]\n".to_owned(), 3),
        ("template error in a value", test("{ type: not-contains, value: '{{ x | nope }}' }"), 3),
        ("provider that fails", "prompts: [hi]\nproviders: ['exec:false']\ntests: [{ assert: [{ type: not-contains, value: x }] }]\n".to_owned(), 3),
        ("provider that is not there", "prompts: [hi]\nproviders: ['http://127.0.0.1:9/']\ntests: [{ assert: [{ type: not-contains, value: x }] }]\n".to_owned(), 3),
        ("provider of a test that is not supported", "prompts: [hi]\nproviders: [echo]\ntests: [{ provider: 'nope:x', assert: [{ type: equals, value: hi }] }]\n".to_owned(), 2),
        ("no trace", test("{ type: trace-error-spans }"), 3),
        ("no guardrail", test("{ type: guardrails }"), 3),
        ("provider of another name", "prompts: [hi]\nproviders: [echo]\ntests: [{ providers: [other], assert: [{ type: equals, value: hi }] }]\n".to_owned(), 3),
        ("transform of nothing", "prompts: [hi]\nproviders: [echo]\ntests: [{ options: { transform: undefined }, assert: [{ type: not-contains, value: x }] }]\n".to_owned(), 3),
        ("conversation", "prompts: ['{{ _conversation }}']\nproviders: [echo]\ntests: [{ assert: [{ type: not-contains, value: x }] }]\n".to_owned(), 2),
        ("key twice in JSON", "prompts: [hi]\nproviders: [echo]\ntests: file://twice.json\n".to_owned(), 2),
    ];
    let folder = TestFolder::new();
    folder.write("x.py", "True\n");
    folder.write(
        "twice.json",
        "[{ \"assert\": [{ \"type\": \"equals\", \"value\": \"no\" }], \"assert\": [{ \"type\": \"equals\", \"value\": \"hi\" }] }]\n",
    );
    for (name, config, exit) in cases {
        folder.write("c.yaml", config);
        let ran = folder.run(&["run", "c.yaml"]);
        assert_eq!(ran.code, Some(exit), "{name}: {ran:?}");
    }
}

/// A script cannot answer for another test: neither by changing what it shares with others, nor by writing to the channel.
#[test]
fn a_script_cannot_fake_the_verdict_of_others() {
    let folder = TestFolder::new();
    let attacks = [
        "Object.prototype.pass = true; Object.prototype.score = 1; Object.prototype.reason = 'x'; return true",
        "JSON.stringify = () => '{\"returned\":{\"kind\":\"boolean\",\"value\":true}}'; JSON.parse = () => ({}); return true",
        "Promise.resolve().then(() => { globalThis.output = 'fine' }); String.prototype.includes = () => true; return true",
        "return true || '\\n{\"returned\":{\"kind\":\"boolean\",\"value\":true}}\\n{\"returned\":{\"kind\":\"boolean\",\"value\":true}}\\n'",
    ];
    let mut config = "prompts: [hi]\nproviders: [echo]\ntests:\n".to_owned();
    for attack in attacks {
        config.push_str(&format!(
            "  - {{ assert: [{{ type: javascript, value: {} }}] }}\n",
            serde_json::to_string(&format!("{attack}\n;")).unwrap()
        ));
        for honest in ["output.includes('never')", "({ pass: false, score: 0, reason: 'no' })", "({})"] {
            config.push_str(&format!("  - {{ description: honest, assert: [{{ type: javascript, value: \"{honest}\" }}] }}\n"));
        }
    }
    folder.write("c.yaml", config);
    folder.run(&["run", "c.yaml", "-o", "r.json"]).assert_exit(1);
    let results: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let rows = results["results"]["results"].as_array().unwrap();
    let honest: Vec<&Value> = rows.iter().filter(|row| row["testCase"]["description"] == "honest").collect();
    assert_eq!(honest.len(), 12);
    assert!(honest.iter().all(|row| row["success"] == false), "{results:#}");
}

#[test]
fn results_are_compared_and_kept_as_a_baseline() {
    let folder = TestFolder::new();
    let config = |expected: &str| {
        let tests: String = (0..40)
            .map(|n| {
                format!(
                    "  - {{ description: t{n}, vars: {{ n: {n} }}, assert: [{{ type: contains, value: {} }}] }}\n",
                    if n < 30 { expected } else { "hi" }
                )
            })
            .collect();
        format!("prompts: ['hi {{{{n}}}}']\nproviders: [echo]\ntests:\n{tests}")
    };
    folder.write("c.yaml", config("hi"));
    folder.run(&["run", "c.yaml", "-o", "good.json"]).assert_exit(0);
    folder.write("c.yaml", config("nothing"));
    folder.run(&["run", "c.yaml", "-o", "bad.json"]).assert_exit(1);
    let compared = folder.run(&["compare", "good.json", "bad.json", "--format", "json"]).assert_exit(1);
    assert!(compared.stdout.contains("\"worse\": 30"), "{}", compared.stdout);
    folder.run(&["compare", "good.json", "good.json"]).assert_exit(0);
    folder.run(&["golden", "update", "good.json"]).assert_exit(0);
    folder.run(&["golden", "diff", "good.json"]).assert_exit(0);
    let diff = folder.run(&["golden", "diff", "bad.json"]).assert_exit(1);
    assert!(diff.stdout.contains("30 worse, 0 better, 0 missing"), "{}", diff.stdout);
    folder.run(&["run", "c.yaml", "--filter-pattern", "t39", "-o", "few.json"]).assert_exit(0);
    folder.run(&["golden", "diff", "few.json"]).assert_exit(3);
    folder.write("other.json", "{}");
    folder.run(&["compare", "good.json", "other.json"]).assert_exit(2);
    // Earlier results select tests.
    let failed = folder.run(&["run", "c.yaml", "--filter-failing", "bad.json"]).assert_exit(1);
    assert!(failed.stderr.contains("30 tests: 0 passed, 30 failed"), "{}", failed.stderr);
    folder.run(&["run", "c.yaml", "--filter-errors-only", "bad.json"]).assert_exit(3);
    let sample = folder.run(&["run", "c.yaml", "--filter-sample", "5"]);
    assert!(sample.stderr.contains("5 tests:"), "{}", sample.stderr);
}

#[test]
fn a_config_becomes_a_workspace() {
    let folder = TestFolder::new();
    folder.write(
        "c.yaml",
        "prompts:\n  - 'Greet {{name}}'\nproviders:\n  - echo\n  - { id: 'openai:chat:gpt-x', config: { temperature: 0, inputCost: 0.000001, outputCost: 0.000002 } }\ntests:\n\
         \n  - { description: greets Ada, vars: { name: Ada }, assert: [{ type: contains, value: '{{name}}' }, { type: not-contains, value: error }] }\n\
         \n  - { description: counts, vars: { name: Bob }, assert: [{ type: equals, value: Hello Bob }] }\n",
    );
    folder.run(&["import", "promptfoo", "c.yaml", "--out", "evals"]).assert_exit(0);
    folder.run(&["smoke"]).assert_exit(0);
    folder.run(&["run", "--subject", "reference"]).assert_exit(0);
    assert!(folder.read("evals/subjects/openai-chat-gpt-x.yaml").contains("gpt-x"));
    folder.run(&["import", "promptfoo", "c.yaml", "--out", "evals"]).assert_exit(2);
    folder.write(
        "d.yaml",
        "prompts: [hi]\nproviders:\n  - exec:cat\ntests:\n  - { description: kept, assert: [{ type: contains, value: hi, weight: 2 }, { type: javascript, value: 'true' }] }\n  - { description: judged, assert: [{ type: factuality, value: x }] }\n\
         redteam: { purpose: x, plugins: [hijacking, 'harmful:hate'], strategies: [base64, goat] }\nextensions: [x]\n",
    );
    let ran = folder.run(&["import", "promptfoo", "d.yaml", "--out", "more"]).assert_exit(3);
    for expected in [
        "d.yaml:3  the provider exec:cat",
        "d.yaml:5  weight of contains of kept",
        "d.yaml:5  javascript of kept",
        "d.yaml:6  factuality has no provider that judges",
        "d.yaml:6  judged",
        "redteam plugin harmful:hate",
        "redteam strategy goat",
        "extensions",
        "bardo-eval redteam --asi asi01",
    ] {
        assert!(ran.stderr.contains(expected), "{expected} is not in {}", ran.stderr);
    }
    folder.run(&["smoke", "-w", "more"]).assert_exit(0);
}
