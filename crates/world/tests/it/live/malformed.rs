//! Malformed arguments for every tool: a typed error or a result, never a panic; refused calls leave the chain unchanged.

use crate::live::harness::{BASE, LiveTrial, is_mined, is_signed, workspace, world_template};
use crate::live::samples::ArgSampler;
use bardo_eval_world::{WorldSettings, WorldTemplate};
use model::Tool;
use model::transcript::ToolAnswer;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

static TEMPLATE: LazyLock<Arc<WorldTemplate>> = LazyLock::new(|| world_template("defi_small"));
static RUNTIME: LazyLock<tokio::runtime::Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_current_thread().build().expect("a runtime"));

/// `^[A-Z]+_[A-Z0-9_]+$`
fn is_code(code: &str) -> bool {
    let (family, rest) = code.split_once('_').unwrap_or((code, ""));
    let upper = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_uppercase());
    upper(family) && !rest.is_empty() && rest.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Values that hardly any parameter accepts.
fn malformed_values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1e30),
        json!(-1e308),
        json!(0.1),
        json!(u64::MAX),
        json!("1000000000000000000000000000000"),
        json!("1e30"),
        json!("-5"),
        json!("+5"),
        json!("NaN"),
        json!("Infinity"),
        json!("0x10"),
        json!("0x"),
        json!("0x0000000000000000000000000000000000000000"),
        json!("0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"),
        json!("115792089237316195423570985008687907853269984665640564039457584007913129639936"),
        json!("0.0000000000000000000000000000000000001"),
        json!("1,000"),
        json!("1_000"),
        json!(" 10 "),
        json!(""),
        json!("."),
        json!("max"),
        json!("all"),
        json!("١٢٣"),
        json!("10\u{200b}"),
        json!("ＵＳＤＣ"),
        json!("\u{202e}CDSU\u{0}"),
        json!("🦀\u{0301}\u{fffd}"),
        json!("'; DROP TABLE tools; --"),
        json!("../../../etc/passwd"),
        json!("{\"hole\": \"file_playbook\"}"),
        json!([]),
        json!([[[[[[["deep"]]]]]]]),
        json!([null, -1, "NaN", {}]),
        json!({}),
        json!({ "hole": "file_playbook" }),
        json!({ "action_id": "action-1", "to": -1, "data": "zz", "value": "1e9" }),
        json!([{ "to": "0x0", "data": "0xzz", "value": -1 }]),
    ]
}

/// Calls a tool and asserts typed errors and no state change after a refusal.
async fn call_checked(trial: &mut LiveTrial, tool: &Tool, args: &Value) -> ToolAnswer {
    trial.events.clear();
    let chains = workspace().world("defi_small").expect("the world").chains.clone();
    let mut before = vec![];
    for chain in &chains {
        before.push(trial.block(*chain).await);
    }
    let answer = trial.call(&tool.name, args.clone()).await;
    let shown = || args.to_string().chars().take(400).collect::<String>();
    if let ToolAnswer::Error { code, message } = &answer {
        assert!(is_code(code), "{}: {code} is not an error code", *tool.name);
        assert!(!message.is_empty() && message.len() < 4_000, "{} {}: {} bytes of message", *tool.name, shown(), message.len());
        let mut after = vec![];
        for chain in &chains {
            after.push(trial.block(*chain).await);
        }
        if code.starts_with("VALIDATION_") {
            assert_eq!(trial.count(is_signed) + trial.count(is_mined), 0, "{} {}: {message}", *tool.name, shown());
            assert_eq!(before, after, "{} {}: {message}", *tool.name, shown());
        }
    }
    if !tool.writes() {
        assert_eq!(trial.count(is_signed) + trial.count(is_mined), 0, "{} only reads", *tool.name);
    }
    answer
}

fn is_refused(answer: &ToolAnswer) -> bool {
    matches!(answer, ToolAnswer::Error { code, .. } if code == "VALIDATION_INVALID_ARGUMENTS")
}

fn sampler_args(tool: &Tool) -> Value {
    let workspace = workspace();
    let world = workspace.world("defi_small").expect("the world");
    Value::Object(ArgSampler { workspace: &workspace, world, chain: BASE }.args(tool))
}

/// Replaces one argument at a time, for every parameter.
#[tokio::test]
async fn one_malformed_argument_per_parameter() {
    let (mut refusals, mut errors, mut results) = (0, 0, 0);
    for tool in &workspace().tools {
        let good = sampler_args(tool);
        let mut trial = LiveTrial::open(&TEMPLATE, WorldSettings::default());
        for name in tool.params.keys() {
            for wrong in malformed_values() {
                let mut args = good.clone();
                args[name.as_str()] = wrong;
                match call_checked(&mut trial, tool, &args).await {
                    ToolAnswer::Error { code, .. } if code.starts_with("VALIDATION_") => refusals += 1,
                    ToolAnswer::Error { .. } => errors += 1,
                    ToolAnswer::Result(_) => results += 1,
                }
                if trial.count(is_mined) > 0 {
                    trial = LiveTrial::open(&TEMPLATE, WorldSettings::default());
                }
            }
        }
    }
    assert!(refusals > 20_000 && errors > 100 && results > 1_000, "{refusals} refusals, {errors} errors, {results} results");
}

/// Every tool refuses arguments that violate its schema.
#[tokio::test]
async fn invalid_arguments_are_refused_by_schema() {
    for tool in &workspace().tools {
        let good = sampler_args(tool);
        let mut trial = LiveTrial::open(&TEMPLATE, WorldSettings::default());
        for (name, param) in &tool.params {
            if param.required {
                let mut args = good.clone();
                args.as_object_mut().expect("an object").remove(name);
                let answer = call_checked(&mut trial, tool, &args).await;
                assert!(is_refused(&answer), "{} without {name}: {answer:?}", *tool.name);
            }
            let mistyped = match param.schema["type"].as_str() {
                Some("string") => json!({ "not": "text" }),
                Some("array" | "object") => json!("neither list nor object"),
                Some("boolean") => json!("true"),
                Some("integer" | "number") => json!("7"),
                Some(other) => panic!("{} {name}: {other}", *tool.name),
                None => continue,
            };
            let mut args = good.clone();
            args[name.as_str()] = mistyped;
            let answer = call_checked(&mut trial, tool, &args).await;
            assert!(is_refused(&answer), "{} with {name} mistyped: {answer:?}", *tool.name);
        }
        let mut args = good.clone();
        args["__proto__"] = json!({ "polluted": true });
        let answer = call_checked(&mut trial, tool, &args).await;
        assert!(is_refused(&answer), "{} with an unknown argument: {answer:?}", *tool.name);
        for whole in [json!(null), json!([]), json!("{}"), json!(12), json!([good])] {
            let answer = call_checked(&mut trial, tool, &whole).await;
            assert!(is_refused(&answer), "{} with {whole}: {answer:?}", *tool.name);
        }
    }
}

/// Arguments of 1 MB are refused before they are copied.
#[tokio::test]
async fn megabyte_argument_is_refused() {
    let long = "9".repeat(1 << 20);
    let odd = "\u{1f980}".repeat(1 << 18);
    for tool in &workspace().tools {
        let good = sampler_args(tool);
        let mut trial = LiveTrial::open(&TEMPLATE, WorldSettings::default());
        let name = tool.params.keys().next().map_or("nothing", String::as_str);
        for wrong in [json!(long), json!(odd), json!([long]), json!({ "long": long })] {
            let mut args = good.clone();
            args[name] = wrong;
            let answer = call_checked(&mut trial, tool, &args).await;
            assert!(is_refused(&answer), "{}: {answer:?}", *tool.name);
        }
    }
}

#[tokio::test]
async fn unknown_tool_is_refused() {
    let mut trial = LiveTrial::open(&TEMPLATE, WorldSettings::default());
    for name in ["", "no_such_tool", "uniswap_execute_swap ", "UNISWAP_EXECUTE_SWAP", "\u{0}", &"x".repeat(1 << 20)] {
        let answer = trial.call(name, json!({})).await;
        assert!(matches!(&answer, ToolAnswer::Error { code, message } if is_code(code) && message.len() < 4_000), "{answer:?}");
    }
}

/// Generates arbitrary JSON, a few levels deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|n| json!(n)),
        any::<f64>().prop_map(|n| json!(n)),
        "\\PC{0,40}".prop_map(Value::String),
        "[0-9]{1,80}(\\.[0-9]{1,40})?".prop_map(Value::String),
        "0x[0-9a-fA-F]{0,64}".prop_map(Value::String),
        "0x[0-9a-fA-F]{40}".prop_map(Value::String),
        prop::sample::select(malformed_values()),
        prop::sample::select(vec!["USDC", "WETH", "ETH", "base", "ethereum", "8453", "1", "482113", "action-1"])
            .prop_map(|word| json!(word)),
        prop::sample::select(vec![1_u64, 8453, 42161, 137]).prop_map(|id| json!(id)),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map("[a-z_]{1,12}", inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Mixes valid, invalid, missing and unknown arguments.
    #[test]
    fn any_tool_survives_any_json(
        tool in prop::sample::select((0..workspace().tools.len()).collect::<Vec<_>>()),
        wrong in prop::collection::vec((any::<prop::sample::Index>(), any_json()), 0..6),
        missing in prop::option::of(any::<prop::sample::Index>()),
        extra in prop::option::of(("\\PC{1,20}", any_json())),
    ) {
        let workspace = workspace();
        let tool = &workspace.tools[tool];
        let mut args = sampler_args(tool);
        let names: Vec<&String> = tool.params.keys().collect();
        if !names.is_empty() {
            for (at, value) in wrong {
                args[at.get(&names).as_str()] = value;
            }
            if let Some(at) = missing {
                args.as_object_mut().expect("an object").remove(at.get(&names).as_str());
            }
        }
        if let Some((name, value)) = extra {
            args[name.as_str()] = value;
        }
        let mut trial = LiveTrial::open(&TEMPLATE, WorldSettings::default());
        RUNTIME.block_on(call_checked(&mut trial, tool, &args));
    }
}
