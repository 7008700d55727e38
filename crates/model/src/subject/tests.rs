use super::*;
use crate::yaml::test_support::{assert_problems, assert_required_keys, read_ok};

const MODEL: &str = r#"subject: sonnet
provider: anthropic
model: claude-sonnet-4-5
temperature: 0.2
limits: { turns: 3, calls: 4, output_tokens: 500, seconds: 6 }
tools: pruned(15)
key_env: ANTHROPIC_API_KEY
base_url: https://example.org
api: responses
stream: true
prompt: Be brief.
extra: { reasoning_effort: low }
price: { input_per_mtok: 3, output_per_mtok: 15, cache_read_per_mtok: 0.3, cache_write_per_mtok: 3.75, as_of: "2026-11-15" }
about: A model.
"#;

const PROGRAM: &str = "subject: mine
provider: process
command: [node, agent.mjs]
env: [MY_KEY]
read: [~/.my-agent, data]
connect: [443, 8443]
about: A program.
";

const SERVICE: &str = "subject: mine
provider: http
url: http://127.0.0.1:8000/ask
about: A service.
";

#[test]
fn a_subject_with_a_model_is_read() {
    let subject = read_ok(MODEL, read_subject);
    assert_eq!((subject.name.as_str(), subject.provider, subject.at.line), ("sonnet", ProviderKind::Anthropic, 1));
    assert_eq!((subject.model.as_deref(), subject.temperature), (Some("claude-sonnet-4-5"), Some(0.2)));
    assert_eq!(subject.limits, SubjectLimits { turns: 3, calls: 4, output_tokens: 500, verdict_tokens: 400, seconds: 6 });
    assert_eq!((subject.tools, subject.api, subject.stream), (ToolsShown::Pruned(15), Some(OpenAiApi::Responses), true));
    assert_eq!((subject.key_env.as_deref(), subject.base_url.as_deref()), (Some("ANTHROPIC_API_KEY"), Some("https://example.org")));
    assert_eq!((subject.prompt.as_deref(), subject.about.as_str()), (Some("Be brief."), "A model."));
    assert_eq!(Value::Object(subject.extra), json!({ "reasoning_effort": "low" }));
    assert_eq!(
        subject.price,
        Some(ModelPrice {
            input_per_mtok: Money::from_dollars(3),
            output_per_mtok: Money::from_dollars(15),
            cache_read_per_mtok: Some(Money::from_nanos(300_000_000)),
            cache_write_per_mtok: Some(Money::from_nanos(3_750_000_000)),
            as_of: "2026-11-15".into(),
        })
    );
    assert_eq!(subject.external, None);
}

#[test]
fn a_subject_without_a_model_has_defaults() {
    let subject = read_ok("subject: b\nprovider: baseline\nlimits: { calls: 1 }\nabout: Words.\n", read_subject);
    assert_eq!(subject.limits, SubjectLimits { calls: 1, ..SubjectLimits::default() });
    assert_eq!((subject.tools, subject.stream, subject.model, subject.price), (ToolsShown::All, false, None, None));
    assert!(subject.extra.is_empty() && subject.prompt.is_none() && subject.external.is_none());
}

#[test]
fn every_provider_has_one_word() {
    for (word, kind) in ProviderKind::ALL {
        assert_eq!(kind.word(), *word);
    }
    let models: Vec<&str> = ProviderKind::ALL.iter().filter(|(_, kind)| kind.is_llm()).map(|(word, _)| *word).collect();
    assert_eq!(models, ["anthropic", "openai", "openai-compatible", "ollama"]);
}

#[test]
fn external_agent_has_a_command_or_a_url() {
    let program = read_ok(PROGRAM, read_subject).external;
    let command = AgentEndpoint::Command(vec!["node".into(), "agent.mjs".into()]);
    let (env, read) = (vec!["MY_KEY".into()], vec!["~/.my-agent".into(), "data".into()]);
    assert_eq!(program, Some(ExternalAgent { endpoint: command.clone(), env, read, connect: vec![443, 8443] }));
    let mcp = read_ok(&PROGRAM.replace("process", "mcp"), read_subject);
    assert_eq!((mcp.provider, mcp.external.map(|agent| agent.endpoint)), (ProviderKind::Mcp, Some(command)));
    let service = read_ok(SERVICE, read_subject).external;
    assert_eq!(service, Some(ExternalAgent::new(AgentEndpoint::Url("http://127.0.0.1:8000/ask".into()))));
}

/// The identity is part of trial ids, so it must change with behaviour and with nothing else.
#[test]
fn subject_identity_covers_what_changes_behaviour() {
    let identity = |text: &str| read_ok(text, read_subject).identity();
    let same = identity(MODEL);
    for (from, to) in [
        ("subject: sonnet", "subject: other"),
        ("about: A model.", "about: Another text."),
        ("input_per_mtok: 3", "input_per_mtok: 4"),
        ("ANTHROPIC_API_KEY", "OTHER_KEY"),
        ("stream: true", "stream: false"),
    ] {
        assert_eq!(identity(&MODEL.replace(from, to)), same, "{from}");
    }
    for (from, to) in [
        ("provider: anthropic", "provider: openai"),
        ("claude-sonnet-4-5", "claude-sonnet-4-6"),
        ("temperature: 0.2", "temperature: 0.3"),
        ("turns: 3", "turns: 4"),
        ("seconds: 6", "seconds: 7"),
        ("pruned(15)", "all"),
        ("example.org", "example.com"),
        ("api: responses", "api: chat"),
        ("Be brief.", "Be long."),
        ("reasoning_effort: low", "reasoning_effort: high"),
    ] {
        assert_ne!(identity(&MODEL.replace(from, to)), same, "{from}");
    }
    assert_ne!(identity(PROGRAM), identity(&PROGRAM.replace("agent.mjs", "other.mjs")));
    assert_ne!(identity(PROGRAM), identity(&PROGRAM.replace("connect: [443, 8443]\n", "")));
    assert_ne!(identity(PROGRAM), identity(&PROGRAM.replace("read: [~/.my-agent, data]\n", "")));
    assert_ne!(identity(SERVICE), identity(&SERVICE.replace("8000", "8001")));
}

#[test]
fn a_subject_needs_name_provider_and_about() {
    assert_required_keys(MODEL, read_subject, "a subject", 1, &["subject", "provider", "about"]);
}

#[test]
fn broken_subjects_say_what_is_wrong() {
    assert_problems(
        MODEL,
        read_subject,
        &[
            ("provider: anthropic", "provider: antropic", "2: \"antropic\" is not a known value | did you mean \"anthropic\"?"),
            ("model: claude-sonnet-4-5\n", "", "1: a subject with an LLM provider lacks \"model\" | add model: …"),
            ("turns: 3", "turn: 3", "5: limits has no key \"turn\" | did you mean \"turns\"?"),
            ("tools: pruned(15)", "tools: pruned(0)", "6: \"pruned(0)\" does not say which tools are shown | write all or pruned(15)"),
            ("tools: pruned(15)", "tools: some", "6: \"some\" does not say which tools are shown | write all or pruned(15)"),
            (
                "key_env: ANTHROPIC_API_KEY",
                "key_env: sk-ant-api03-secret",
                "7: expected the name of an environment variable | use capital letters, digits and _; never the key itself",
            ),
            ("api: responses", "api: rest", "9: \"rest\" is not a known value | one of: chat, responses"),
            ("{ reasoning_effort: low }", "[low]", "12: expected fields of the request, found a list | extra: { reasoning_effort: low }"),
            (
                "{ reasoning_effort: low }",
                "{ max_tokens: 5, model: x }",
                "12: extra must not set max_tokens, model | the program sets these itself",
            ),
            (
                "input_per_mtok: 3,",
                "input_per_mtok: 3e1,",
                "13: expected dollars, found \"3e1\" | digits with at most nine after the point",
            ),
            ("output_per_mtok: 15, ", "", "13: a price lacks \"output_per_mtok\" | add output_per_mtok: …"),
        ],
    );
}

#[test]
fn broken_external_agents_say_what_is_wrong() {
    let (command, address) = (
        "1: this subject needs a command | write command: [program, argument, …] and no url",
        "1: this subject needs a url | write url: http://… and no command",
    );
    assert_problems(
        PROGRAM,
        read_subject,
        &[
            ("command: [node, agent.mjs]\n", "", command),
            ("[node, agent.mjs]", "[]", command),
            ("command: [node, agent.mjs]", "command: [node]\nurl: http://127.0.0.1:1", command),
            ("provider: process", "provider: http", address),
            ("~/.my-agent", "/", "5: read grants \"/\" as a whole | name the files or folders that the agent needs"),
            ("~/.my-agent", "~/", "5: read grants \"~/\" as a whole | name the files or folders that the agent needs"),
            ("8443", "0", "6: 0 is not a TCP port | write a number from 1 to 65535, such as 443"),
            ("8443", "70000", "6: 70000 is not a TCP port | write a number from 1 to 65535, such as 443"),
            (
                "MY_KEY",
                "my-key",
                "4: expected the name of an environment variable | use capital letters, digits and _; never the key itself",
            ),
            (
                "provider: process",
                "provider: echo",
                "1: command, url, env, read and connect are only for external agents | remove them, or use provider: process, mcp, http, chat or a2a",
            ),
        ],
    );
    assert_problems(
        SERVICE,
        read_subject,
        &[
            ("http://127.0.0.1:8000/ask", "ftp://127.0.0.1", address),
            ("http://127.0.0.1:8000/ask", "http://", address),
            (
                "about:",
                "connect: [443]\nabout:",
                "1: read and connect are only for programs that we start | remove them: a service has the rights that you gave it",
            ),
        ],
    );
}
