use super::tool::read_tools;
use super::*;
use crate::problem::ProblemReport;
use crate::yaml::YamlNode;
use crate::yaml::test_support::{assert_problems, assert_required_keys, read_ok};
use serde_json::json;

const TOOLS: &str = r#"category: wallet
server: everything 1.0
tools:
  - ttl_s: 30
    name: token_transfer
    description: Sends tokens.
    capability: write
    risk: layer2
    acts: send
    via: { role: router, contract: SwapRouter02, market: lend, gives: USDC, takes: WETH, message: Permit }
    aliases: [send_token]
    params:
      recipient: { kind: address(recipient), type: string, description: Who gets it. }
      slippage: { kind: bps, type: integer, default: 50, maximum: 500, description: At most. }
      memo: { kind: text, type: string, optional: true, maxLength: 10, description: A note. }
"#;

const IMPORTED: &str = r#"category: everything
tools:
  - name: echo
    description: " Echoes. "
    capability: write
    risk: layer1
    acts: pass_through
    pinned: "abc"
    output_schema: { type: object }
    input_schema: { type: object, properties: { to: { type: string, description: The recipient., default: me }, chain: { type: string } }, required: [chain] }
    kinds: { to: address(recipient) }
"#;

const QUOTE: &str = r#"category: swaps
tools:
  - name: swap_quote
    description: Quotes.
    capability: read
    risk: layer1
    acts: quote
    view: price
    prepares: swap_execute
"#;

fn tools(text: &str) -> Vec<Tool> {
    read_ok(text, read_tools)
}

#[test]
fn a_tool_is_read() {
    let tool = tools(TOOLS).remove(0);
    assert_eq!((tool.name.as_str(), tool.category.as_str(), tool.description.as_str()), ("token_transfer", "wallet", "Sends tokens."));
    assert_eq!((tool.name.at.line, tool.at.line, tool.acts.at.line), (5, 4, 9));
    assert_eq!(
        (tool.capability, tool.risk, tool.acts.value, tool.ttl_s),
        (ToolCapability::Write, RiskLayer::Layer2, ToolOp::Send, Some(30))
    );
    assert!(tool.writes() && tool.has_name("token_transfer") && tool.has_name("send_token") && !tool.has_name("send"));
    let OpTarget { role, contract, market, gives, takes, message } = &tool.via;
    assert_eq!((role.map(|role| role.word()), contract.as_ref().map(|name| name.as_str())), (Some("router"), Some("SwapRouter02")));
    assert_eq!((gives.as_ref().map(|name| name.as_str()), takes.as_ref().map(|name| name.as_str())), (Some("USDC"), Some("WETH")));
    assert_eq!((market.as_deref(), message.as_deref()), (Some("lend"), Some("Permit")));
    assert!(tool.prepares.is_none() && tool.view.is_none() && tool.pinned.is_none() && tool.output.is_none());
}

#[test]
fn param_kinds_add_bounds_to_the_tool_schema() {
    let tool = tools(TOOLS).remove(0);
    let params: Vec<(&str, bool)> = tool.params.iter().map(|(name, param)| (name.as_str(), param.required)).collect();
    assert_eq!(params, [("recipient", true), ("slippage", false), ("memo", false), ("dry_run", false), ("action_id", false)]);
    assert_eq!(tool.params["slippage"].default, Some(json!(50)));
    let schema = &tool.schema.value;
    assert_eq!(
        (&schema["type"], &schema["required"], &schema["additionalProperties"]),
        (&json!("object"), &json!(["recipient"]), &json!(false))
    );
    let own = &schema["properties"];
    assert_eq!(own["recipient"], json!({ "type": "string", "pattern": "^0x[0-9a-fA-F]{40}$", "description": "Who gets it." }));
    // Bounds of the author are kept; the kind adds the rest.
    assert_eq!(own["slippage"], json!({ "type": "integer", "maximum": 500, "minimum": 0, "description": "At most.", "default": 50 }));
    assert_eq!(own["memo"], json!({ "type": "string", "maxLength": 10, "description": "A note." }));
    assert_eq!((&own["dry_run"]["type"], &own["action_id"]["maxLength"]), (&json!("boolean"), &json!(128)));
    assert!(tool.schema.accepts(&json!({ "recipient": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "dry_run": true })));
    assert!(!tool.schema.accepts(&json!({ "recipient": "me" })));
}

#[test]
fn prepares_names_one_tool_or_a_map_of_tools() {
    let quote = tools(QUOTE).remove(0);
    assert_eq!((quote.writes(), quote.view.map(LiveView::word), quote.params.len()), (false, Some("price"), 0));
    let names =
        |tool: &Tool| -> Vec<String> { tool.prepares.iter().flat_map(PrepareTarget::tools).map(|name| name.value.clone()).collect() };
    assert_eq!(names(&quote), ["swap_execute"]);
    let several = "prepares: { word: kind, args: arguments, tools: { swap: swap_execute, send: token_transfer } }";
    let several = tools(&QUOTE.replace("prepares: swap_execute", several)).remove(0);
    assert_eq!(names(&several), ["swap_execute", "token_transfer"]);
    assert!(matches!(&several.prepares, Some(PrepareTarget::ByParam { word, args, .. }) if word == "kind" && args == "arguments"));
}

#[test]
fn imported_schema_is_kept_unchanged() {
    let tool = tools(IMPORTED).remove(0);
    assert_eq!(tool.schema.value["required"], json!(["chain"]));
    assert_eq!(tool.schema.value["properties"]["to"], json!({ "type": "string", "description": "The recipient.", "default": "me" }));
    let to = &tool.params["to"];
    assert_eq!(
        (to.kind.as_ref().map(ToString::to_string).as_deref(), to.required, &to.default),
        (Some("address(recipient)"), false, &Some(json!("me")))
    );
    let chain = &tool.params["chain"];
    assert_eq!((chain.kind.is_none(), chain.required, chain.description.as_str()), (true, true, ""));
    assert_eq!((tool.pinned.as_ref().map(|hash| hash.as_str()), &tool.output), (Some("abc"), &Some(json!({ "type": "object" }))));
    let other = tools(&IMPORTED.replace("\" Echoes. \"", "Echoes.")).remove(0);
    assert_eq!(tool.listing().hash(), other.listing().hash());
    let changed = tools(&IMPORTED.replace("The recipient.", "The payee.")).remove(0);
    assert_ne!(tool.listing().hash(), changed.listing().hash());
}

#[test]
fn a_tool_needs_its_keys() {
    assert_required_keys(TOOLS, read_tools, "a tool file", 1, &["category"]);
    assert_required_keys(TOOLS, read_tools, "a tool", 4, &["name", "description", "capability", "risk", "acts"]);
}

#[test]
fn broken_tools_say_what_is_wrong() {
    assert_problems(
        TOOLS,
        read_tools,
        &[
            ("capability: write", "capability: writes", "7: \"writes\" is not a known value | did you mean \"write\"?"),
            ("risk: layer2", "risk: high", "8: \"high\" is not a known value | one of: layer1, layer2, layer3"),
            ("acts: send", "acts: sends", "9: \"sends\" is not a known value | did you mean \"send\"?"),
            ("role: router", "role: rooter", "10: \"rooter\" is not a known value | did you mean \"router\"?"),
            (
                "aliases: [send_token]",
                "aliases: send_token",
                "11: expected a list, found \"send_token\" | write [a, b] or lines starting with -",
            ),
            ("kind: address(recipient)", "kind: adress(recipient)", "13: \"adress\" is not a kind | did you mean \"address\"?"),
            ("kind: bps, type: integer", "kind: bps, type: string", "14: kind bps cannot be of type string | write type: integer"),
            (
                "kind: bps, type: integer, ",
                "kind: bps, ",
                "14: a parameter lacks \"type\" | one of: string, integer, number, boolean, array, object",
            ),
            ("kind: text, ", "kind: enum, ", "15: kind enum needs a list of values | add enum: [a, b]"),
            ("optional: true", "optional: yes", "15: expected true or false, found \"yes\""),
            ("maxLength: 10", "maxlength: 10", "15: a parameter has no key \"maxlength\" | did you mean \"maxLength\"?"),
            (", description: A note.", "", "15: a parameter lacks \"description\" | add description: …"),
        ],
    );
    assert_problems(
        IMPORTED,
        read_tools,
        &[("kinds: { to:", "kinds: { too:", "10: kinds names \"too\", which is not a parameter | remove it or correct the name")],
    );
    assert_problems(
        QUOTE,
        read_tools,
        &[
            ("view: price", "view: prices", "8: \"prices\" is not a known value | did you mean \"price\"?"),
            (
                "prepares: swap_execute",
                "prepares: { word: kind, tools: { swap: swap_execute } }",
                "9: prepares lacks \"args\" | add args: …",
            ),
        ],
    );
}

#[test]
fn profile_lists_tools_or_excludes_categories() {
    let catalogue: Vec<Tool> = [TOOLS, IMPORTED, QUOTE].into_iter().flat_map(tools).collect();
    let shown =
        |profile: &ToolProfile| -> Vec<String> { profile.select(&catalogue).into_iter().map(|tool| tool.name.value.clone()).collect() };
    let listed = read_ok("profile: trader\nabout: Trades.\ntools: [swap_quote, token_transfer, gone]\n", read_profile);
    assert_eq!((listed.name.as_str(), listed.about.as_str(), listed.at.line), ("trader", "Trades.", 1));
    assert_eq!(shown(&listed), ["swap_quote", "token_transfer"]);
    let most = read_ok("profile: full\nabout: All.\ntools: all\nexcept_categories: [everything]\n", read_profile);
    assert_eq!(shown(&most), ["token_transfer", "swap_quote"]);
    assert_problems(
        "profile: full\nabout: All.\ntools: all\nexcept_categories: [everything]\n",
        read_profile,
        &[
            (
                "tools: all",
                "tools: every",
                "3: expected a list, found \"every\" | write [a, b] or lines starting with -\n4: a profile has no key \"except_categories\" | known keys: profile, about, tools, tools",
            ),
            ("about: All.\n", "", "1: a profile lacks \"about\" | add about: …"),
        ],
    );
}

#[test]
fn kind_and_type_determine_schema_bounds() {
    let read = |text: &str| read_ok(text, |node: &YamlNode, report: &ProblemReport| read_param(node, report)).schema;
    for (written, keyword, bound) in [
        ("kind: amount(base of token), type: string", "pattern", json!("^[0-9]{1,78}$")),
        ("kind: amount(human of token), type: number", "minimum", json!(0)),
        ("kind: percent, type: number", "maximum", json!(100)),
        ("kind: tick, type: integer", "minimum", json!(-887_272)),
        ("kind: fee_tier, type: integer", "maximum", json!(100_000)),
        ("kind: chain, type: string", "pattern", json!("^[A-Za-z0-9][A-Za-z0-9-]{0,31}$")),
        ("kind: token(in), type: string", "maxLength", json!(64)),
        ("kind: id(order), type: integer", "minimum", json!(0)),
        ("kind: data, type: string", "pattern", json!("^0x([0-9a-fA-F]{2})*$")),
        ("kind: url, type: string", "maxLength", json!(4000)),
    ] {
        assert_eq!(read(&format!("{{ {written}, description: A. }}"))[keyword], bound, "{written}");
    }
    let list = read("{ kind: list(address(recipient)), type: array, items: { type: string }, description: A. }");
    assert_eq!((&list["maxItems"], &list["items"]["pattern"]), (&json!(100), &json!("^0x[0-9a-fA-F]{40}$")));
    let word = read("{ kind: enum, type: string, enum: [a, b], description: A. }");
    assert_eq!(word, json!({ "type": "string", "enum": ["a", "b"], "description": "A." }));
}
