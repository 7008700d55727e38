//! A config of promptfoo with every supported feature, one with mistakes of every kind, and scripts of native cases.

use crate::harness::TestFolder;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use testkit::chat::{serve_chat, text_reply};

/// Model on loopback that plays every role of the config: assistant, user and judge of each kind.
fn model() -> String {
    serve_chat(|request, _| {
        let messages = request["messages"].as_array().cloned().unwrap_or_default();
        let text = |at: usize| messages.get(at).and_then(|message| message["content"].as_str()).unwrap_or_default().to_owned();
        let system = text(0);
        let reply = match () {
            () if system.contains("You grade the output") => "{\"reason\": \"fine\", \"pass\": true, \"score\": 0.9}",
            () if system.contains("expert answer") => "{\"category\": \"C\", \"reason\": \"same\"}",
            () if system.contains("meets a criterion") => "It does.\nY",
            () if system.contains("short steps") => "{\"steps\": [\"read it\"]}",
            () if system.contains("Rate a reply") => "{\"score\": 8, \"reason\": \"good\"}",
            () if system.contains("Classify each sentence") => "1. Paris is in France. [Attributed]",
            () if system.contains("Copy the sentences") => "Paris is in France.",
            () if system.contains("Split the answer") => "Paris is in France.",
            () if system.contains("Decide for each statement") => "Final verdict for each statement in order: Yes.",
            () if system.contains("You play a user") && messages.len() > 3 => "###STOP###",
            () if system.contains("You play a user") => "And the fee?",
            () => return text_reply(&format!("heard you: {}", text(messages.len().saturating_sub(1)))),
        };
        text_reply(reply)
    })
}

const EVERYTHING: &str = r#"description: every feature
prompts:
  - 'Say {{ word | upper }} for {{n}}'
  - file://prompts/*.txt
  - { raw: 'labelled {{word}}', label: labelled, id: p3 }
  - file://prompts/chat.json
  - { raw: 'uses {{earlier}} {{word}}', label: uses }
providers:
  - echo
  - { id: "exec:sh -c 'printf \"got %s\" \"$0\"'", label: shell, transform: output.toUpperCase(), prompts: [labelled] }
  - id: file://agent.js
    label: agent
    prompts: [labelled]
    config: { tools: [{ type: function, function: { name: swap, parameters: { type: object, properties: { token: { type: string } } } } }] }
  - { id: 'openai:chat:parrot', label: parrot, prompts: [labelled], config: { apiBaseUrl: 'URL', apiKey: sk-test-0123456789, inputCost: 0, outputCost: 0 } }
env: { TEAM: blue }
defaultTest:
  vars: { word: base, n: 1 }
  metadata: { suite: all }
  assert:
    - { type: not-contains, value: forbidden, metric: 'clean_{{word}}' }
  options:
    provider: { id: 'openai:chat:judge', config: { apiBaseUrl: 'URL', apiKey: sk-test-0123456789, inputCost: 0, outputCost: 0 } }
tests:
  - description: texts
    providers: [echo]
    prompts: [labelled]
    threshold: 0.5
    assert:
      - { type: equals, value: 'labelled {{word}}' }
      - { type: contains, value: label, weight: 2, metric: text }
      - { type: icontains, value: LABEL }
      - { type: contains-any, value: [x, base] }
      - { type: contains-all, value: 'base, labelled' }
      - { type: icontains-any, value: [BASE] }
      - { type: icontains-all, value: [BASE, LABELLED] }
      - { type: starts-with, value: lab }
      - { type: regex, value: '^l\w+ base$' }
      - { type: levenshtein, value: labelled bose, threshold: 2 }
      - { type: word-count, value: { min: 2, max: 3 } }
      - { type: rouge-n, value: labelled base }
      - { type: gleu, value: labelled base }
      - { type: not-is-json }
      - { type: not-is-refusal }
      - { type: latency, threshold: 60000 }
      - { type: cost, threshold: 1 }
      - { type: assert-set, threshold: 0.5, metric: set, assert: [{ type: contains, value: base }, { type: contains, value: labelled }] }
      - { type: javascript, value: 'output.length > 3 && context.vars.word === "base"' }
      - { type: javascript, value: file://check.js, config: { least: 3 } }
  - description: markup
    providers: [echo]
    prompts: [labelled]
    options: { prefix: '', disableDefaultAsserts: true, transform: '"<a><b>1</b></a>"' }
    assert: [{ type: is-xml, value: a.b }, { type: contains-xml }, { type: contains-html }, { type: not-contains-json }]
  - description: json
    providers: [echo]
    prompts: [labelled]
    providerOutput: '{"a": 1}'
    assert: [{ type: is-json, value: { required: [a] } }, { type: contains-json }, { type: is-json, transform: '({ b: JSON.parse(output).a })', value: { required: [b] } }]
  - description: calls
    providers: [agent]
    prompts: [labelled]
    vars: { word: ETH }
    assert:
      - { type: tool-call-f1, value: [swap] }
      - { type: is-valid-openai-tools-call }
      - { type: 'trajectory:tool-used', value: swap }
      - { type: 'trajectory:tool-sequence', value: [quote, swap] }
      - { type: 'trajectory:tool-args-match', value: { name: swap, args: { token: ETH } } }
      - { type: 'trajectory:step-count', value: { type: tool, max: 2 } }
      - { type: trace-span-count, value: { pattern: 'execute*', min: 2 } }
      - { type: trace-span-duration, value: { pattern: '*', max: 100 } }
      - { type: trace-error-spans, value: { max_count: 0 } }
      - { type: skill-used, value: rebalance }
      - { type: not-skill-used, value: withdraw }
      - { type: finish-reason, value: stop }
      - { type: guardrails }
      - { type: perplexity, threshold: 3 }
      - { type: javascript, value: 'context.trace.resourceSpans.length === 1' }
  - description: judged
    providers: [parrot]
    prompts: [labelled]
    vars: { query: Where is Paris?, context: Paris is in France. }
    assert:
      - { type: llm-rubric, value: is polite, threshold: 0.8 }
      - { type: factuality, value: heard you }
      - { type: model-graded-closedqa, value: answers }
      - { type: g-eval, value: [clear, short] }
      - { type: context-recall, value: Paris is in France. }
      - { type: context-relevance }
      - { type: context-faithfulness }
      - { type: 'trajectory:goal-success', value: talk }
  - description: user
    providers: [parrot]
    prompts: [labelled]
    provider: { id: 'promptfoo:simulated-user', config: { instructions: 'ask for {{word}}', maxTurns: 3, userProvider: { id: 'openai:chat:user', config: { apiBaseUrl: 'URL', apiKey: sk-test-0123456789, inputCost: 0, outputCost: 0 } } } }
    assert: [{ type: contains, value: And the fee }, { type: contains, value: heard you }]
  - description: stores
    providers: [echo]
    prompts: [labelled]
    options: { storeOutputAs: earlier, suffix: '!', transformVars: '({ ...vars, word: vars.word + "2" })' }
    assert: [{ type: equals, value: 'labelled base2!' }]
  - description: reads
    providers: [echo]
    prompts: [uses]
    assert: [{ type: equals, value: 'uses labelled base2! base' }]
  - description: matrix
    providers: [echo]
    prompts: [labelled]
    vars: { word: [red, green] }
    assert: [{ type: contains-any, value: [red, green] }]
  - file://tests/*.csv
  - file://tests/more.jsonl
  - file://tests/more.yaml
  - file://tests/more.json
scenarios:
  - config: [{ vars: { word: s1 } }, { vars: { word: s2 } }]
    tests: [{ description: scenario, providers: [echo], prompts: [labelled], assert: [{ type: contains, value: '{{word}}' }] }]
derivedMetrics: [{ name: share, value: text / __count }]
evaluateOptions: { maxConcurrency: 2, repeat: 1 }
outputPath: [out.jsonl, out.xml]
"#;

const AGENT: &str = "module.exports = class { constructor(o) { this.o = o } async callApi(prompt, context) {
  const call = (name, args) => ({ type: 'function', function: { name, arguments: JSON.stringify(args) } });
  const attribute = (key, value) => ({ key, value: { stringValue: value } });
  const span = (n, name, args, more) => ({ name: 'execute_tool ' + name, startTimeUnixNano: String(n * 1e6), endTimeUnixNano: String(n * 1e6 + 5e6),
    attributes: [attribute('gen_ai.tool.name', name), attribute('gen_ai.tool.call.arguments', JSON.stringify(args))].concat(more), status: { code: 'STATUS_CODE_OK' } });
  const token = { token: context.vars.word };
  return { output: [call('swap', token)], finishReason: 'stop', guardrails: { flagged: false }, logProbs: [-0.1, -0.2], cost: 0,
    metadata: { trace: { resourceSpans: [{ scopeSpans: [{ spans: [span(1, 'quote', token, [attribute('gen_ai.skill.name', 'rebalance')]), span(9, 'swap', token, [])] }] }] } } };
} };\n";

#[test]
fn config_with_every_feature_runs() {
    let folder = TestFolder::new();
    folder.write("c.yaml", EVERYTHING.replace("URL", &model()));
    folder.write("agent.js", AGENT);
    folder.write(
        "check.js",
        "module.exports = (output, context) => ({ pass: output.length > context.config.least, score: 1, reason: 'long enough' });\n",
    );
    folder.write("prompts/a.txt", "First {{word}}\n---\nSecond {{word}}\n");
    folder.write("prompts/chat.json", "[{\"role\": \"user\", \"content\": \"chat {{word}}\"}]");
    folder.write("tests/rows.csv", "word,__expected1,__expected2,__description,__metric,__threshold,__prefix,__metadata:kind\ncsv,icontains: csv,javascript: String(output).length > 3,row,m,0.5,>> ,table\n");
    folder.write(
        "tests/more.jsonl",
        "{\"description\": \"line\", \"vars\": {\"word\": \"jl\"}, \"assert\": [{\"type\": \"icontains\", \"value\": \"jl\"}]}\n",
    );
    folder.write(
        "tests/more.yaml",
        "- { description: yaml, vars: { word: file://word.txt }, assert: [{ type: icontains, value: from a file }] }\n",
    );
    folder.write("word.txt", "from a file\n");
    folder.write("tests/more.json", "[{\"description\": \"json file\", \"assert\": [{\"type\": \"icontains\", \"value\": \"base\"}]}]");
    let ran = folder.run(&["run", "c.yaml", "-o", "r.json", "--no-store", "--budget", "1"]);
    let results: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let rows = results["results"]["results"].as_array().unwrap();
    let failed: Vec<&Value> = rows.iter().filter(|row| row["success"] == false).collect();
    assert!(failed.is_empty() && ran.code == Some(0), "{failed:#?}\n{}", ran.stderr);
    // The tests of files run on echo with six prompts, and with one of them on three more providers.
    for (name, count) in [
        ("texts", 1),
        ("markup", 1),
        ("json", 1),
        ("calls", 1),
        ("judged", 1),
        ("user", 1),
        ("stores", 1),
        ("reads", 1),
        ("matrix", 2),
        ("scenario", 2),
        ("row", 9),
        ("line", 9),
        ("yaml", 9),
        ("json file", 9),
    ] {
        assert_eq!(rows.iter().filter(|row| row["testCase"]["description"] == name).count(), count, "{name}");
    }
    let texts = rows.iter().find(|row| row["testCase"]["description"] == "texts").unwrap();
    assert_eq!(
        (&texts["namedScores"]["text"], &texts["namedScores"]["clean_base"], &texts["namedScores"]["set"]),
        (&1.0.into(), &1.0.into(), &1.0.into())
    );
    let judged = rows.iter().find(|row| row["testCase"]["description"] == "judged").unwrap();
    let scores: Vec<f64> =
        judged["gradingResult"]["componentResults"].as_array().unwrap().iter().map(|part| part["score"].as_f64().unwrap()).collect();
    assert_eq!(scores, [1.0, 0.9, 1.0, 1.0, 0.8, 1.0, 1.0, 1.0, 0.9]);
    assert!(
        results["results"]["prompts"].as_array().unwrap().iter().any(|column| column["metrics"]["namedScores"]["share"].is_number()),
        "{results:#}"
    );
    assert_eq!(folder.read("out.jsonl").lines().count(), rows.len());
    assert!(folder.read("out.xml").contains(&format!("tests=\"{}\"", rows.len())));
}

/// One mistake of every kind. All are reported at once, each at its line, and no provider is called.
#[test]
fn mistakes_of_every_kind_are_reported_at_once() {
    let folder = TestFolder::new();
    folder.write("t.csv", "a,__nope\n1,2\n");
    folder.write("t.yaml", "- vars: { a: 1 }\n- assert:\n    - { type: contians, value: x }\n");
    folder.write("t.jsonl", "{\"vars\": {}, \"assert\": [{\"type\": \"equals\", \"value\": 1}]}\n{ not json }\n");
    folder.write("x.py", "True\n");
    folder.write("bad.js", "module.exports = (output => output;\n");
    let lines = [
        ("promts: [x]", "a config has no key \"promts\"; did you mean \"prompts\"?"),
        ("prompts: [file://none.txt, 3]", "there is no file none.txt"),
        ("providers:", ""),
        ("  - exec:touch started", ""),
        ("  - foo:bar", "the provider \"foo:bar\" is not supported"),
        ("  - { config: {} }", "a provider has no id"),
        ("  - { id: echo, tranform: x }", "a provider has no key \"tranform\"; did you mean \"transform\"?"),
        ("  - { id: echo, transform: 'output.(' }", "the code of transform cannot be read: SyntaxError"),
        ("  - { id: echo, delay: 5 }", "delay of a provider is not supported"),
        ("  - file://missing.js", "missing.js: it does not exist"),
        (
            "  - { id: 'http://127.0.0.1:1/', config: { transformResponse: 'json.(' } }",
            "the code of transformResponse cannot be read: SyntaxError",
        ),
        ("  - http", "an http provider needs config.url"),
        ("  - \"exec:sh 'open\"", "the command of exec: cannot be split into words"),
        ("evaluateOptions: { maxConcurency: 3 }", "evaluateOptions has no key \"maxConcurency\""),
        ("derivedMetrics: [{ name: x }]", "a derived metric needs name and value"),
        ("redteam: { plugins: [x] }", "redteam: attacks are made by bardo-eval redteam"),
        ("tracing: { enabled: true }", "tracing: there is no receiver of traces"),
        ("extensions: [file://x.js]", "extensions: hooks of extensions do not run here"),
        ("scenarios: [{ tests: [] }]", "a scenario has no config"),
        ("tests:", ""),
        ("  - { vars: { a: file://none.md }, assert: [{ type: is-json }] }", "there is no file none.md"),
        ("  - { assert: [{ type: min-length, value: 3 }] }", "there is no assertion of type \"min-length\""),
        ("  - { assert: [{ type: contains }] }", "contains lacks \"value\""),
        ("  - { assert: [{ type: regex, value: '' }] }", "regex needs a pattern"),
        ("  - { assert: [{ value: x }] }", "an assertion has no type"),
        ("  - { assert: [{ type: equals, vaule: x, value: y }] }", "an assertion has no key \"vaule\"; did you mean \"value\"?"),
        ("  - { assert: [{ type: python, value: x }] }", "python is decided by Python, which is not supported here"),
        ("  - { assert: [{ type: javascript, value: file://x.py }] }", "x.py is not JavaScript"),
        ("  - { assert: [{ type: javascript, value: 'output.includes(' }] }", "the code of javascript cannot be read: SyntaxError"),
        ("  - { assert: [{ type: javascript, value: file://bad.js }] }", "the code of javascript cannot be read: SyntaxError"),
        ("  - { assert: [{ type: rouge-n, value: a, threshold: '0.5' }] }", "threshold is \"0.5\""),
        ("  - { assert: [{ type: rouge-n, value: a, threshold: 0 }] }", "rouge-n with threshold 0 cannot fail"),
        ("  - { assert: [{ type: equals, value: a, weight: heavy }] }", "weight is \"heavy\""),
        ("  - { assert: [{ type: assert-set, assert: [] }] }", "an assert-set has no assertions"),
        ("  - { assert: { type: equals, value: a } }", "assert is a list"),
        ("  - { assert: [{ type: llm-rubric }] }", "llm-rubric has no rubric"),
        ("  - { assert: [{ type: llm-rubric, value: good }] }", "llm-rubric has no provider that judges"),
        ("  - { assert: [{ type: factuality, value: good }] }", "factuality has no provider that judges"),
        ("  - { assert: [{ type: equals, value: a, contextTransform: x }] }", "contextTransform of an assertion is not supported"),
        ("  - { assert: [{ type: 'promptfoo:redteam:bola' }] }", "promptfoo:redteam:bola is graded by promptfoo's service"),
        ("  - { asserts: [] }", "a test has no key \"asserts\"; did you mean \"assert\"?"),
        ("  - { options: { tranform: x }, assert: [{ type: is-json }] }", "options.tranform has no effect here"),
        ("  - { options: { transform: ')' }, assert: [{ type: is-json }] }", "the code of options.transform cannot be read: SyntaxError"),
        (
            "  - { options: { transformVars: '({' }, assert: [{ type: is-json }] }",
            "the code of options.transformVars cannot be read: SyntaxError",
        ),
        ("  - { assertScoringFunction: file://x.js, assert: [{ type: is-json }] }", "assertScoringFunction is not supported"),
        (
            "  - { provider: { id: 'promptfoo:simulated-user' }, assert: [{ type: is-json }] }",
            "promptfoo:simulated-user has no model that plays the user",
        ),
        ("  - file://t.csv", ""),
        ("  - file://t.yaml", ""),
        ("  - file://t.jsonl", ""),
        ("  - file://missing.json", "there is no file missing.json"),
        ("  - file://x.py", "tests in .py files are not supported"),
        ("  - 3", "a test is a mapping"),
    ];
    let config: String = lines.iter().map(|(line, _)| format!("{line}\n")).collect();
    folder.write("c.yaml", config);
    let ran = folder.run(&["run", "c.yaml"]).assert_exit(2);
    for (n, (line, expected)) in (1..).zip(lines) {
        let place = format!("c.yaml:{n}  {expected}");
        assert!(expected.is_empty() || ran.stderr.contains(&place), "{line}: {place} is not in\n{}", ran.stderr);
    }
    for expected in [
        "c.yaml:2  a prompt cannot be \"3\"",
        "t.csv:2  the column \"__nope\" is not known",
        "t.yaml:3  there is no assertion of type \"contians\"; did you mean \"contains\"?",
        "t.jsonl:2  this line is not JSON",
    ] {
        assert!(ran.stderr.contains(expected), "{expected} is not in\n{}", ran.stderr);
    }
    let found = lines.iter().filter(|(_, expected)| !expected.is_empty()).count() + 4;
    assert!(ran.stderr.contains(&format!("{found} problems; nothing was run")), "{found}: {}", ran.stderr);
    assert!(!folder.files().contains(&"started".to_owned()));
}

/// More ways to check nothing: each passes in promptfoo or could be taken for a pass.
#[test]
fn configs_that_check_nothing_do_not_pass() {
    let test = |assert: &str| format!("prompts: [hi]\nproviders: [echo]\ntests: [{{ assert: [{assert}] }}]\n");
    let script = |source: &str| test(&format!("{{ type: javascript, value: {} }}", serde_json::to_string(source).unwrap()));
    let inverted = |source: &str| test(&format!("{{ type: not-javascript, value: {} }}", serde_json::to_string(source).unwrap()));
    let with_provider = |source: &str, assert: &str| {
        (format!("prompts: [hi]\nproviders: [file://p.js]\ntests: [{{ assert: [{assert}] }}]\n"), source.to_owned())
    };
    let inert = "{ type: not-contains, value: x }";
    let mut cases: Vec<(String, String, String, i32)> = vec![];
    for source in [
        "undefined",
        "NaN",
        "'yes'",
        "Infinity",
        "null",
        "[]",
        "({ pass: 'true', score: 1, reason: '' })",
        "Promise.resolve('yes')",
        "Promise.resolve()",
        "Promise.reject(new Error('no'))",
        "() => true",
        "Symbol()",
        "10n",
    ] {
        cases.push((format!("returns {source}"), script(source), String::new(), 3));
        cases.push((format!("not- of {source}"), inverted(source), String::new(), 3));
    }
    cases.push(("false".to_owned(), script("false"), String::new(), 1));
    cases.push(("promise of false".to_owned(), script("Promise.resolve(false)"), String::new(), 1));
    cases.push(("zero".to_owned(), script("0"), String::new(), 1));
    for (name, source) in [
        ("no output", "module.exports = () => undefined"),
        ("null", "module.exports = () => ({ output: null })"),
        ("empty object", "module.exports = () => ({ error: 'down' })"),
        ("throws", "module.exports = () => { throw new Error('down') }"),
    ] {
        let (config, provider) = with_provider(source, inert);
        cases.push((name.to_owned(), config, provider, 3));
    }
    for (name, config, exit) in [
        ("transform that throws", "prompts: [hi]\nproviders: [{ id: echo, transform: output.nope() }]\ntests: [{ assert: [{ type: not-contains, value: x }] }]\n".to_owned(), 3),
        ("transform of null", "prompts: [hi]\nproviders: [echo]\ntests: [{ options: { transform: 'null' }, assert: [{ type: not-contains, value: x }] }]\n".to_owned(), 3),
        ("transform of an assertion that throws", test("{ type: not-contains, value: x, transform: output.nope() }"), 3),
        ("vars that throw", "prompts: [hi]\nproviders: [echo]\ntests: [{ options: { transformVars: vars.a.b }, assert: [{ type: not-contains, value: x }] }]\n".to_owned(), 3),
        ("no skills known", test("{ type: not-skill-used, value: x }"), 3),
        ("repeat 0 is once", "prompts: [hi]\nproviders: [echo]\nevaluateOptions: { repeat: 0 }\ntests: [{ assert: [{ type: equals, value: no }] }]\n".to_owned(), 1),
        ("csv with headers alone", "prompts: [hi]\nproviders: [echo]\ntests: file://empty.csv\n".to_owned(), 3),
        ("csv with empty expectation", "prompts: [hi]\nproviders: [echo]\ntests: file://blank.csv\n".to_owned(), 3),
        ("empty list of tests in a file", "prompts: [hi]\nproviders: [echo]\ntests: file://empty.json\n".to_owned(), 3),
        ("empty jsonl", "prompts: [hi]\nproviders: [echo]\ntests: file://empty.jsonl\n".to_owned(), 3),
        ("no providers", "prompts: [hi]\nproviders: []\ntests: [{ assert: [{ type: equals, value: hi }] }]\n".to_owned(), 3),
        ("no prompts", "prompts: []\nproviders: [echo]\ntests: [{ assert: [{ type: equals, value: hi }] }]\n".to_owned(), 3),
        ("default alone", "prompts: [hi]\nproviders: [echo]\ndefaultTest: { assert: [{ type: equals, value: no }] }\ntests: []\n".to_owned(), 3),
        ("default switched off", "prompts: [hi]\nproviders: [echo]\ndefaultTest: { assert: [{ type: equals, value: hi }] }\ntests: [{ options: { disableDefaultAsserts: true } }]\n".to_owned(), 3),
        ("empty scenario", "prompts: [hi]\nproviders: [echo]\nscenarios: [{ config: [] }]\n".to_owned(), 2),
        ("set threshold 0", test("{ type: assert-set, threshold: 0, assert: [{ type: equals, value: no }] }"), 1),
        ("negative weight", test("{ type: equals, value: no, weight: -1 }, { type: equals, value: hi }"), 2),
        ("empty list", test("{ type: contains-any, value: [] }"), 2),
        ("all of an empty list", test("{ type: contains-all, value: [] }"), 2),
        ("more cells than columns", "prompts: [hi]\nproviders: [echo]\ntests: file://wide.csv\n".to_owned(), 2),
        ("negated empty list", test("{ type: not-contains-any, value: [] }"), 2),
        ("empty config", String::new(), 2),
        ("a list", "- a\n".to_owned(), 2),
    ] {
        cases.push((name.to_owned(), config, String::new(), exit));
    }
    let folder = TestFolder::new();
    folder.write("empty.csv", "a,__expected\n");
    folder.write("blank.csv", "a,__expected\n1,\n");
    folder.write("wide.csv", "a,__expected\nx,contains: h,contains: no\n");
    folder.write("empty.json", "[]");
    folder.write("empty.jsonl", "\n");
    let mut wrong = vec![];
    for (name, config, provider, exit) in cases {
        folder.write("c.yaml", config);
        folder.write("p.js", provider);
        let ran = folder.run(&["run", "c.yaml"]);
        if ran.code != Some(exit) {
            wrong.push(format!("{name}: {:?} instead of {exit}: {}", ran.code, ran.stderr));
        }
    }
    for args in [
        ["--filter-providers", "other"],
        ["--filter-prompts", "other"],
        ["--filter-range", "5:9"],
        ["--filter-metadata", "a=b"],
        ["-n", "0"],
        ["--filter-sample", "0"],
    ] {
        folder.write("c.yaml", test("{ type: equals, value: hi }"));
        let ran = folder.run(&[&["run", "c.yaml"][..], &args[..]].concat());
        if !matches!(ran.code, Some(2 | 3)) {
            wrong.push(format!("{args:?}: {:?} {}", ran.code, ran.stderr));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn result_files_are_not_logs() {
    let folder = TestFolder::with_minimal();
    folder.write("c.yaml", "prompts: [hi]\nproviders: [echo]\ntests: [{ assert: [{ type: equals, value: hi }] }]\n");
    folder.run(&["run", "c.yaml", "-o", "r.json"]).assert_exit(0);
    let ran = folder.run(&["score", "r.json"]).assert_exit(2);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("this is a result file of promptfoo") && said.contains("golden diff"), "{said}");
}

/// JavaScript and skills in a native case: the run asks the script and stores its answer, and scoring again reads it.
#[test]
fn native_scripts_are_asked_by_the_run_and_stored() {
    const SUITE: &str = "evals/suites/behavior/trader.yaml";
    let case = |assertions: &str| {
        let folder = TestFolder::with_minimal();
        folder.edit(SUITE, "forbid: [token_transfer]", &format!("forbid: [token_transfer]\n      assert:\n{assertions}"));
        folder
    };
    let good = "        - { type: javascript, value: \"JSON.parse(output).status === 'success' && context.toolCalls.some(c => c.name === 'swap_execute')\" }\n        - { type: not-javascript, value: 'context.transcript.length < 2' }\n        - { type: not-skill-used, value: withdraw }";
    let folder = case(good);
    folder.run(&["run", "--subject", "reference"]).assert_exit(0);
    folder.run(&["score"]).assert_exit(0);
    folder.run(&["show", "sell_usdc_for_ether"]).assert_exit(0).assert_stdout("assert:javascript");
    let folder = case("        - { type: javascript, value: \"output === 'nothing'\" }");
    folder.run(&["run", "--subject", "reference"]).assert_exit(1);
    let shown = folder.run(&["show", "sell_usdc_for_ether"]).assert_exit(0);
    assert!(shown.stdout.contains("the script returned false"), "{}", shown.stdout);
    for hostile in ["while (true) {}\\n;", "process.exit(0)", "'yes'", "output.nope()"] {
        let folder = case(&format!(
            "        - {{ type: javascript, value: \"{hostile}\" }}\n        - {{ type: not-javascript, value: \"{hostile}\" }}"
        ));
        folder.run(&["run", "--subject", "reference"]).assert_exit(3);
    }
    let folder = case("        - { type: skill-used, value: rebalance }");
    folder.run(&["run", "--subject", "reference"]).assert_exit(1);
    let folder = case("        - { type: javascript, value: x, on: { called: swap_execute } }");
    let ran = folder.run(&["run", "--subject", "reference"]).assert_exit(2);
    assert!(format!("{}{}", ran.stdout, ran.stderr).contains("javascript reads the whole trial"), "{ran:?}");
}

/// Recorded answers of promptfoo 0.123.1, one a line.
const RECORDED: &str = include_str!("../../../score/fixtures/promptfoo_assertions.jsonl");

/// All recorded answers as one config, whose providers answer with the recorded output and trace: every one agrees in promptfoo's mode, and in
/// the strict mode only the documented types differ.
#[test]
fn recorded_answers_agree_as_one_config() {
    let folder = TestFolder::new();
    let recorded: Vec<Value> = RECORDED.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut tests = vec![];
    for (n, row) in recorded.iter().enumerate() {
        let mut answer = serde_json::json!({ "output": row["output"] });
        if row["spans"].is_array() {
            answer["metadata"] = serde_json::json!({ "trace": { "spans": row["spans"] } });
        }
        let text = serde_json::to_string(&answer.to_string()).unwrap();
        folder.write(&format!("p/{n}.js"), format!("module.exports = () => JSON.parse({text});\n"));
        let mut test =
            serde_json::json!({ "description": n.to_string(), "provider": format!("file://p/{n}.js"), "assert": [row["assertion"]] });
        if row["vars"].is_object() {
            test["vars"] = row["vars"].clone();
            test["options"] = serde_json::json!({ "disableVarExpansion": true });
        }
        tests.push(test.to_string());
    }
    folder.write("c.yaml", "prompts: [x]\nproviders: [echo]\ntests: file://t.jsonl\n");
    folder.write("t.jsonl", tests.join("\n"));
    let rows = |file: &str| -> BTreeMap<usize, Value> {
        let results: Value = serde_json::from_str(&folder.read(file)).unwrap();
        let rows = results["results"]["results"].as_array().unwrap().clone();
        rows.into_iter().map(|row| (row["testCase"]["description"].as_str().unwrap().parse().unwrap(), row)).collect()
    };
    let reading =
        |row: &Value| (row["failureReason"] == 2, row["success"] == true, row["gradingResult"]["componentResults"][0]["score"].as_f64());
    folder.run(&["run", "c.yaml", "--compat", "promptfoo", "-o", "compat.json"]).assert_exit(100);
    let compat = rows("compat.json");
    let differing: Vec<usize> = (0..recorded.len())
        .filter(|n| {
            let (expect, (is_error, pass, score)) = (&recorded[*n]["expect"], reading(&compat[n]));
            let agrees = match (expect["pass"].as_bool(), expect["score"].as_f64(), score) {
                (Some(wanted), Some(expected), Some(score)) => !is_error && pass == wanted && (score - expected).abs() < 1e-9,
                (_, _, _) => is_error && expect["error"] == true,
            };
            !agrees
        })
        .collect();
    assert_eq!((compat.len(), differing), (1480, Vec::<usize>::new()));

    // Mistakes are found before the run; each is an error in promptfoo, a threshold that everything reaches, or code that does not compile.
    let refused = folder.run(&["run", "c.yaml", "-o", "strict.json"]).assert_exit(2);
    let lines: BTreeSet<usize> = refused
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix("t.jsonl:")?.split_once(' ')?.0.parse::<usize>().ok())
        .map(|line| line - 1)
        .collect();
    for n in &lines {
        let (row, source) = (&recorded[*n], recorded[*n]["assertion"]["value"].as_str().unwrap_or_default());
        let is_known = row["expect"]["error"] == true || row["assertion"]["threshold"].as_f64() == Some(0.0) || source.contains("throw");
        assert!(is_known, "{row}");
    }
    let kept: Vec<&str> = tests.iter().enumerate().filter(|(n, _)| !lines.contains(n)).map(|(_, test)| test.as_str()).collect();
    folder.write("t.jsonl", kept.join("\n"));
    folder.run(&["run", "c.yaml", "-o", "strict.json"]).assert_exit(1);
    let strict = rows("strict.json");
    let differing: BTreeSet<&str> = strict
        .iter()
        .filter(|(n, row)| reading(row) != reading(&compat[*n]))
        .map(|(n, _)| recorded[*n]["assertion"]["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        differing.into_iter().collect::<Vec<_>>(),
        ["is-refusal", "javascript", "not-javascript", "not-regex", "not-tool-call-f1", "regex"]
    );
    assert_eq!(strict.len() + lines.len(), 1480);
}
