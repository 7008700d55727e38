//! Configs of promptfoo, run as they are.

use crate::harness::TestFolder;
use serde_json::Value;
use std::time::{Duration, Instant};

const GREETINGS: &str = "\
prompts: ['Hello {{name}}']
providers: [echo]
tests:
  - { description: ada, vars: { name: Ada }, assert: [{ type: contains, value: '{{name}}', metric: named }, { type: javascript, value: output.length > 3 }] }
  - { description: bob, vars: { name: Bob }, assert: [{ type: equals, value: Hello Ada }] }
";

fn rows(folder: &TestFolder, file: &str) -> Vec<Value> {
    let results: Value = serde_json::from_str(&folder.read(file)).unwrap();
    assert_eq!(results["results"]["version"], 3);
    results["results"]["results"].as_array().unwrap().clone()
}

fn row<'r>(rows: &'r [Value], description: &str) -> &'r Value {
    rows.iter().find(|row| row["testCase"]["description"] == description).unwrap_or_else(|| panic!("{description} has no row"))
}

#[test]
fn results_have_the_shape_of_promptfoo() {
    let folder = TestFolder::new();
    folder.write("c.yaml", GREETINGS);
    let output = folder.run(&["run", "c.yaml", "-o", "r.json"]).assert_exit(1);
    assert!(output.stderr.contains("2 tests: 1 passed, 1 failed, 0 in error"), "{}", output.stderr);
    let rows = rows(&folder, "r.json");
    let ada = row(&rows, "ada");
    assert_eq!((ada["success"].clone(), ada["score"].clone(), ada["failureReason"].clone()), (true.into(), 1.0.into(), 0.into()));
    assert_eq!(ada["response"]["output"], "Hello Ada");
    assert_eq!(ada["namedScores"]["named"], 1.0);
    assert_eq!(ada["gradingResult"]["componentResults"].as_array().unwrap().len(), 2);
    let bob = row(&rows, "bob");
    assert_eq!((bob["success"].clone(), bob["failureReason"].clone()), (false.into(), 1.into()));
    folder.run(&["run", "c.yaml", "-o", "r.xml"]).assert_exit(1);
    let junit = folder.read("r.xml");
    assert!(junit.contains("tests=\"2\" failures=\"1\" errors=\"0\"") && junit.contains("<failure message="), "{junit}");
}

#[test]
fn exit_codes_follow_the_mode() {
    let folder = TestFolder::new();
    folder.write("c.yaml", GREETINGS);
    folder.run(&["run", "c.yaml", "--compat", "promptfoo"]).assert_exit(100);
    folder.run(&["run", "c.yaml", "--filter-pattern", "ada"]).assert_exit(0);
    folder.run(&["run", "c.yaml", "--filter-pattern", "no-such-test"]).assert_exit(3);
    folder.run(&["run", "c.yaml", "--filter-pattern", "no-such-test", "--compat", "promptfoo"]).assert_exit(0);
    folder.write("wrong.yaml", "providers: [echo]\ntests: [{ assert: [{ type: not-empty }] }]\n");
    folder.run(&["run", "wrong.yaml"]).assert_exit(2);
    folder.run(&["run", "wrong.yaml", "--compat", "promptfoo"]).assert_exit(100);
    folder.write("broken.yaml", "providers: [nope]\n");
    folder.run(&["run", "broken.yaml", "--compat", "promptfoo"]).assert_exit(1);
}

#[test]
fn mistakes_are_found_before_anything_runs() {
    let folder = TestFolder::new();
    folder.write("c.yaml", "prompts: [x]\nproviders:\n  - exec:touch started\ntests:\n  - assert:\n      - { type: contians, value: x }\n      - { type: equals, vaule: x }\n");
    let output = folder.run(&["run", "c.yaml"]).assert_exit(2);
    assert!(
        output.stderr.contains("c.yaml:6  there is no assertion of type \"contians\"; did you mean \"contains\"?"),
        "{}",
        output.stderr
    );
    assert!(!folder.files().contains(&"started".to_owned()));
}

#[test]
fn data_is_inert_except_in_promptfoos_mode() {
    let folder = TestFolder::new();
    folder.write(
        "c.yaml",
        "prompts: ['say {{x}}']\nproviders: [echo]\ndefaultTest: { assert: [{ type: contains, value: say }] }\ntests:\n  - { description: sum, vars: { x: '{{ 7 * 7 }}' } }\n  - { description: code, vars: { x: '{{ range.constructor(\"return 1+1\")() }}' } }\n",
    );
    folder.run(&["run", "c.yaml", "-o", "strict.json"]).assert_exit(0);
    assert_eq!(row(&rows(&folder, "strict.json"), "sum")["response"]["output"], "say {{ 7 * 7 }}");
    folder.run(&["run", "c.yaml", "-o", "compat.json", "--compat", "promptfoo"]).assert_exit(0);
    let compat = rows(&folder, "compat.json");
    assert_eq!(
        (row(&compat, "sum")["response"]["output"].clone(), row(&compat, "code")["response"]["output"].clone()),
        ("say 49".into(), "say 2".into())
    );
}

#[test]
fn providers_transforms_and_metrics_work_together() {
    let folder = TestFolder::new();
    folder.write("p.js", "module.exports = class { id() { return 'mine' } async callApi(prompt, context) { return { output: [{ type: 'function', function: { name: 'swap', arguments: JSON.stringify({ token: context.vars.token }) } }], cost: 0.5 } } };\n");
    folder.write("check.js", "module.exports = (output, context) => ({ pass: output.includes(context.vars.token), score: 0.5, reason: 'half', namedScores: { deep: 0.25 } });\n");
    folder.write("tests.csv", "token,__expected,__description\nETH,contains: ETH,row\n");
    folder.write(
        "c.yaml",
        "prompts:\n  - '[{\"role\":\"user\",\"content\":\"swap {{token}}\"}]'\nproviders:\n  - file://p.js\n  - id: exec:sh -c 'printf \"got %s\" \"$0\"'\n    label: shell\n    transform: output.toUpperCase()\n\
         defaultTest: { metadata: { team: a } }\n\
         tests:\n  - file://tests.csv\n  - { description: calls, vars: { token: ETH }, providers: [file://p.js], assert: [{ type: tool-call-f1, value: swap }, { type: 'trajectory:tool-args-match', value: { name: swap, args: { token: ETH } } }, { type: cost, threshold: 1 }] }\n\
         \n  - { description: file, vars: { token: ETH }, providers: [shell], assert: [{ type: javascript, value: file://check.js, metric: half }] }\n\
         derivedMetrics: [{ name: doubled, value: half * 2 / __count }]\n",
    );
    let output = folder.run(&["run", "c.yaml", "-o", "r.json", "--filter-metadata", "team=a"]).assert_exit(0);
    let rows = rows(&folder, "r.json");
    assert_eq!(rows.len(), 4, "{}", output.stderr);
    let shell = row(&rows, "file");
    assert!(shell["response"]["output"].as_str().unwrap().starts_with("GOT [\n  {\n    \"ROLE\": \"USER\""), "{shell}");
    assert_eq!((shell["namedScores"]["deep"].clone(), shell["score"].clone()), (0.25.into(), 0.5.into()));
    let results: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    assert_eq!(results["results"]["prompts"][1]["metrics"]["namedScores"]["doubled"], 0.5, "0.5 * 2 over two tests of this column");
}

/// Each script is ended, the test is in error with its reason, and the test after it is decided.
#[test]
fn hostile_scripts_are_contained() {
    // Without a reason: memory or time ends the script, whichever is used up first.
    let scripts = [
        ("loop", "while (true) {}", "took longer than 1000 ms"),
        ("caught loop", "try { while (true) {} } catch (e) { while (true) {} }", "took longer than 1000 ms"),
        ("native loop", "return JSON.stringify(new Array(6e7)).length > new Array(1e8).join('x').length", "was stopped"),
        ("regex bomb", "return /^(a+)+$/.test('a'.repeat(40) + 'b')", "took longer than 1000 ms"),
        (
            "memory",
            "const a = []; while (a.length < 16) a.push(new Uint8Array(256 * 1024 ** 2)); return a.length > 0",
            "more than 64 MiB of memory",
        ),
        ("array", "return new Array(4 * 1024 ** 3 / 8).fill(1.5).length > 0", ""),
        ("buffer", "return new ArrayBuffer(4 * 1024 ** 3).byteLength > 0", ""),
        ("string", "return 'x'.repeat(2 ** 29).repeat(7).length > 0", ""),
        ("sort", "return new Array(2 ** 32 - 1).fill(0).sort().length > 0", ""),
        ("recursion", "function f() { return f() + 1 } return f() > 0", "Maximum call stack size exceeded"),
        ("process", "return process.env.HOME !== ''", "process is not defined"),
        ("require", "return require('fs') !== null", "require is not defined"),
        ("fetch", "return fetch('http://127.0.0.1:1/')", "fetch is not defined"),
        ("global", "return Function('return this')()", "which is not a boolean"),
        ("exit", "return Function('return this')().process.exit(0)", "cannot read property"),
        (
            "pollution",
            "Object.assign(Object.prototype, { pass: true, score: 1, reason: 'x' }); Array.prototype.includes = () => true; globalThis.x = 1; return 'no verdict'",
            "which is not a boolean",
        ),
    ];
    let folder = TestFolder::new();
    let mut config = "prompts: [hi]\nproviders: [echo]\ntests:\n".to_owned();
    for (name, source, _) in scripts {
        config.push_str(&format!(
            "  - {{ description: {name}, assert: [{{ type: javascript, value: {} }}] }}\n",
            serde_json::to_string(&format!("{source}\n;")).unwrap()
        ));
        let clean = "typeof x === 'undefined' && typeof process === 'undefined' && typeof fetch === 'undefined' && ({}).pass === undefined && ![1].includes(2)";
        config.push_str(&format!("  - {{ description: after {name}, assert: [{{ type: javascript, value: \"{clean}\" }}] }}\n"));
    }
    folder.write("c.yaml", &config);
    let begin = Instant::now();
    folder.run(&["run", "c.yaml", "-j", "1", "--script-timeout", "1000", "-o", "r.json"]).assert_exit(3);
    let took = begin.elapsed();
    let rows = rows(&folder, "r.json");
    for (name, _, reason) in scripts {
        let bad = row(&rows, name);
        assert_eq!(bad["failureReason"], 2, "{name}: {bad}");
        assert!(bad["error"].as_str().is_some_and(|why| !why.is_empty() && why.contains(reason)), "{name}: {}", bad["error"]);
        let after = row(&rows, &format!("after {name}"));
        assert_eq!(after["success"], true, "after {name}: {after}");
    }
    assert!(took < Duration::from_secs(180), "{took:?}");
}
