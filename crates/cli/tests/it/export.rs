//! `tools export`: tool lists in the published formats of vendors.

use crate::harness::{TestFolder, column};
use serde_json::{Value, json};

const SHAPES: &[(&str, &str)] = &[
    ("anthropic", include_str!("shapes/anthropic.json")),
    ("openai-chat", include_str!("shapes/openai-chat.json")),
    ("openai-responses", include_str!("shapes/openai-responses.json")),
    ("mcp", include_str!("shapes/mcp.json")),
];

fn export(folder: &TestFolder, args: &[&str]) -> Value {
    let ran = folder.run(&[&["tools", "export"], args].concat()).assert_exit(0);
    assert!(ran.stderr.lines().all(|line| line.starts_with("note: there is no workspace here")), "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Returns a list as the published schemas expect it; only MCP's is an object already.
fn wrap_list(list: &Value) -> Value {
    if list.is_array() { json!({ "tools": list }) } else { list.clone() }
}

fn names(list: &Value) -> Vec<String> {
    let tools = wrap_list(list)["tools"].as_array().unwrap().clone();
    let name = |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).unwrap().to_owned();
    tools.iter().map(name).collect()
}

#[test]
fn export_of_every_profile_and_shape_is_valid() {
    let folder = TestFolder::new();
    let document = export(&folder, &[]);
    let profiles: Vec<&String> = document.as_object().unwrap().keys().collect();
    assert_eq!(profiles, ["data", "erc8004", "fees", "full", "lp", "trader", "vault"]);
    for (shape, schema) in SHAPES {
        let schema: Value = serde_json::from_str(schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(!validator.is_valid(&json!({ "tools": [{ "nome": "x" }] })), "the shape {shape} accepts anything");
        for (profile, lists) in document.as_object().unwrap() {
            let errors: Vec<String> = validator.iter_errors(&wrap_list(&lists[shape])).take(5).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{profile} as {shape}: {errors:#?}");
        }
    }
}

#[test]
fn export_parameters_are_valid_json_schemas() {
    let document = export(&TestFolder::new(), &["--profile", "full", "--shape", "mcp"]);
    for tool in document["full"]["mcp"]["tools"].as_array().unwrap() {
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], "object", "{tool:#}");
        jsonschema::validator_for(schema).unwrap_or_else(|error| panic!("{}: {error}", tool["name"]));
    }
}

#[test]
fn export_keeps_profile_names_and_order() {
    let folder = TestFolder::with_reference();
    let document = export(&folder, &[]);
    for (profile, lists) in document.as_object().unwrap() {
        let text = folder.read(&format!("evals/profiles/{profile}.yaml"));
        let listed: Vec<String> = text.lines().filter_map(|line| line.strip_prefix("  - ")).map(|name| name.trim().to_owned()).collect();
        for (shape, list) in lists.as_object().unwrap() {
            if profile == "full" {
                let left_out = ["pi", "testnet", "bootstrap"];
                let tools = folder.list("tools");
                let kept: Vec<Value> = tools.into_iter().filter(|tool| !left_out.contains(&tool["category"].as_str().unwrap())).collect();
                assert_eq!(names(list), column(&kept, "tool"), "{profile} as {shape}");
            } else {
                assert!(!listed.is_empty());
                assert_eq!(names(list), listed, "{profile} as {shape}");
            }
        }
    }
}

#[test]
fn export_files_equal_stdout() {
    let folder = TestFolder::new();
    let ran = folder.run(&["tools", "export", "--out", "lists/here"]).assert_exit(0);
    assert_eq!(ran.stdout, "wrote 28 lists to lists/here\n");
    let document = export(&folder, &[]);
    let files = folder.files();
    assert_eq!(files.len(), 28, "{files:?}");
    for (profile, lists) in document.as_object().unwrap() {
        for (shape, list) in lists.as_object().unwrap() {
            let file = folder.read(&format!("lists/here/{profile}.{shape}.json"));
            assert_eq!(&serde_json::from_str::<Value>(&file).unwrap(), list);
        }
    }
}

#[test]
fn export_filters_profiles_and_shapes() {
    let document = export(&TestFolder::new(), &["--profile", "trader", "--profile", "lp", "--shape", "anthropic"]);
    let profiles: Vec<&String> = document.as_object().unwrap().keys().collect();
    assert_eq!(profiles, ["trader", "lp"]);
    assert!(document.as_object().unwrap().values().all(|lists| lists.as_object().unwrap().keys().eq(["anthropic"])));
}

#[test]
fn export_is_deterministic() {
    let folder = TestFolder::new();
    assert_eq!(folder.run(&["tools", "export"]).stdout, folder.run(&["tools", "export"]).stdout);
}

#[test]
fn export_unknown_profile_is_a_usage_error() {
    let ran = TestFolder::new().run(&["tools", "export", "--profile", "tradr", "--profile", "lp", "--profile", "zzzz"]).assert_exit(2);
    assert!(ran.stdout.is_empty());
    ran.assert_stderr("there is no profile \"tradr\"; did you mean \"trader\"?")
        .assert_stderr("there is no profile \"zzzz\"")
        .assert_stderr("nothing was run");
}

#[test]
fn export_reports_unwritable_folder() {
    let folder = TestFolder::new();
    folder.write("taken", "a file");
    folder.run(&["tools", "export", "--out", "taken"]).assert_exit(2).assert_stderr("taken could not be written: ");
    assert_eq!(folder.read("taken"), "a file");
}

#[test]
fn confusable_ranks_similar_tool_pairs() {
    let folder = TestFolder::new();
    let document = folder.json(&["tools", "confusable", "--profile", "trader", "--top", "5"], 0);
    let pairs = document["profiles"][0]["pairs"].as_array().unwrap();
    let similar: Vec<f64> = pairs.iter().map(|pair| pair["similarity"].as_f64().unwrap()).collect();
    assert!(similar.len() == 5 && similar.is_sorted_by(|a, b| a >= b), "{similar:?}");
    assert!(pairs.iter().all(|pair| !pair["words"].as_array().unwrap().is_empty()), "{pairs:#?}");
    folder.run(&["tools", "confusable", "--profile", "tradr"]).assert_exit(2).assert_stderr("did you mean \"trader\"?");
}
