use super::*;
use model::{MINIMAL_WORKSPACE, WorkspaceFiles};
use serde_json::json;

const CAP_POLICY: &str = include_str!("../../../../../contracts/artifacts/examples/CapPolicy.json");

/// Loads the minimal workspace with this contract in its policy.
fn load(contract: &str, artifact: &str) -> Result<Workspace, Vec<Problem>> {
    let mut files: WorkspaceFiles = MINIMAL_WORKSPACE.iter().copied().collect();
    let policy = format!("{}\ncontract: {contract}\n", files.get("policy.yaml").expect("a policy"));
    files.insert("policy.yaml", policy);
    files.insert("contracts/Own.json", artifact);
    Workspace::load(&files)
}

fn problem(contract: &str, artifact: &str) -> String {
    match load(contract, artifact) {
        Err(problems) => problems[0].what.clone(),
        Ok(workspace) => policy_deployment(&workspace).expect_err("a problem").what,
    }
}

fn edited(edit: impl FnOnce(&mut Value)) -> String {
    let mut artifact: Value = serde_json::from_str(CAP_POLICY).expect("JSON");
    edit(&mut artifact);
    artifact.to_string()
}

const GOOD: &str = r#"{ artifact: contracts/Own.json, constructor: [operator, "1000000"] }"#;
const WITH_STORAGE: &str = r#"{ artifact: contracts/Own.json, storage: { "0": "0x10" } }"#;

#[test]
fn artifacts_of_every_compiler_are_read() {
    let creation = |artifact: &str| {
        let workspace = load(GOOD, artifact).expect("a workspace");
        policy_deployment(&workspace).expect("no problem").expect("a contract").code.creation_with_args("x", Address::ZERO).expect("code")
    };
    let foundry = creation(CAP_POLICY);
    let hardhat = edited(|artifact| {
        for key in ["bytecode", "deployedBytecode"] {
            artifact[key] = artifact[key]["object"].clone();
        }
    });
    let solc = edited(|artifact| {
        let bare = artifact["bytecode"]["object"].as_str().expect("code")[2..].to_owned();
        artifact["evm"] = json!({ "bytecode": { "object": bare } });
        artifact.as_object_mut().expect("an object").remove("bytecode");
    });
    assert_eq!(creation(&hardhat), foundry);
    assert_eq!(creation(&solc), foundry);
    let tail = &foundry[foundry.len() - 64..];
    assert_eq!(U256::from_be_slice(&tail[32..]), U256::from(1_000_000));
}

#[test]
fn bad_artifacts_get_a_clear_error() {
    let object = |code: &str| edited(|artifact| artifact["bytecode"]["object"] = json!(code));
    for (contract, artifact, what) in [
        (GOOD, "{".to_owned(), "contracts/Own.json is not JSON: EOF while parsing an object at line 1 column 1"),
        (GOOD, "{}".to_owned(), "contracts/Own.json has no abi"),
        (GOOD, r#"{"abi": 7}"#.to_owned(), "contracts/Own.json has an invalid abi"),
        (
            GOOD,
            r#"{"abi": []}"#.to_owned(),
            "contracts/Own.json lacks execute(address,uint256,bytes) and executeBatch((address,uint256,bytes)[])",
        ),
        (GOOD, edited(|artifact| artifact["bytecode"] = json!(7)), "contracts/Own.json has no bytecode: a text, or an object with a text"),
        (GOOD, object("0x"), "contracts/Own.json has no bytecode"),
        (GOOD, object("0x60__$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa$__"), "bytecode of contracts/Own.json is not linked with its libraries"),
        (GOOD, object("0x6z"), "bytecode of contracts/Own.json is not hex"),
        (GOOD, object(&"60".repeat(49_153)), "bytecode of contracts/Own.json has 49153 bytes, a chain takes at most 49152"),
        (GOOD, " ".repeat(10 << 20), "contracts/Own.json has 10485760 bytes, more than 2097152"),
        (WITH_STORAGE, CAP_POLICY.to_owned(), "contracts/Own.json has immutables, which only its constructor sets"),
    ] {
        let found = problem(contract, &artifact);
        assert!(found.starts_with(what), "{found}\n{what}");
    }
}

#[test]
fn bad_settings_get_a_clear_error() {
    let runtime = edited(|artifact| artifact["deployedBytecode"] = json!("0x00"));
    for (contract, what) in [
        ("{ artifact: contracts/None.json }", "there is no artifact contracts/None.json in the workspace"),
        ("{ artifact: policy.yaml }", "there is no artifact policy.yaml in the workspace"),
        ("{ artifact: contracts/Own.json }", "the constructor of contracts/Own.json takes (address, uint256), 0 arguments given"),
        (
            "{ artifact: contracts/Own.json, constructor: [operator, much] }",
            "constructor of contracts/Own.json: much is not of type uint256",
        ),
        (
            "{ artifact: contracts/Own.json, constructor: [someone, 1] }",
            "constructor of contracts/Own.json: someone is not of type address",
        ),
        ("{ artifact: contracts/Own.json, storage: { x: 1 } }", "storage of contracts/Own.json: x is not a number of 32 bytes"),
        ("{ artifact: contracts/Own.json, constructor: [], storage: {} }", "the policy contract has a constructor and storage"),
        (
            "{ artifact: contracts/Own.json, address: \"0x50aC8018f621Bf864fc7ECBB0ad757A426441334\" }",
            "the policy contract cannot stand at 0x50aC8018f621Bf864fc7ECBB0ad757A426441334",
        ),
    ] {
        let found = problem(contract, &runtime);
        assert!(found.starts_with(what), "{found}\n{what}");
    }
}

#[test]
fn notice_names_what_is_not_decoded() {
    let notice = policy_notice(&load(GOOD, CAP_POLICY).expect("a workspace")).expect("a notice");
    for part in ["contracts/Own.json", "OverCap(uint256,uint256)", "Passed(address,uint256)", "no halt(), so emergency_halt reverts"] {
        assert!(notice.contains(part), "{notice}");
    }
    assert!(!notice.contains("NotOperator") && !notice.contains("native coin"), "{notice}");
    assert_eq!(policy_notice(&Workspace::load(&MINIMAL_WORKSPACE.iter().copied().collect()).expect("a workspace")), None);
}
