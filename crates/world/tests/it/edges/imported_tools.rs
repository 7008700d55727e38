//! Imported tools in a trial: live from a public npm server, recorded, replayed, stubbed, and without a source.

use std::sync::Arc;

use bardo_eval_world::mcp::source::{PassthroughSource, RecordingSource, ReplaySource};
use bardo_eval_world::{
    ActingAgent, ChainKind, ForeignSource, LiveServer, LiveServers, LiveSource, LiveWorld, World, WorldSettings, WorldTemplate, mcp,
};
use model::transcript::ToolAnswer;
use model::{EventKind, Workspace};
use serde_json::{Value, json};

use crate::edges::sources::{SharedBuffer, everything_server, generous_limits};

/// Reference workspace with the tools of the public server, as written by `tools import`.
async fn workspace() -> Arc<Workspace> {
    let mut files = testkit::reference_files().clone();
    let listed = mcp::list_tools(&everything_server(), &generous_limits()).await.unwrap();
    let tool = |listing: &model::ToolListing| {
        let acts = if listing.name.starts_with("get") { ("read", "read") } else { ("write", "pass_through") };
        let mut tool = json!({
            "name": listing.name, "description": listing.description, "capability": acts.0, "risk": "layer1", "acts": acts.1,
            "pinned": listing.hash().to_string(), "input_schema": listing.input_schema,
        });
        if let Some(output) = listed.outputs.get(&listing.name) {
            tool["output_schema"] = output.clone();
        }
        tool
    };
    let wanted = ["echo", "get-sum", "get-structured-content"];
    let tools: Vec<Value> = listed.tools.iter().filter(|listing| wanted.contains(&listing.name.as_str())).map(tool).collect();
    assert_eq!(tools.len(), wanted.len(), "{:?}", listed.tools.iter().map(|tool| &tool.name).collect::<Vec<_>>());
    files.insert("tools/everything.yaml".to_owned(), json!({ "category": "everything", "tools": tools }).to_string());
    testkit::load_workspace(&files)
}

async fn ask(world: &mut LiveWorld, tool: &str, args: Value) -> ToolAnswer {
    let who = ActingAgent::new("trade-executor", 0);
    let call = world.record_call(&who, tool, &args);
    world.call(&who, call, tool, &args).await
}

fn code(answer: &ToolAnswer) -> &str {
    match answer {
        ToolAnswer::Error { code, .. } => code,
        ToolAnswer::Result(value) => panic!("{value}"),
    }
}

#[tokio::test]
async fn imported_tools_work_with_every_foreign_source() {
    let workspace = workspace().await;
    let stage = WorldTemplate::new(workspace.clone(), "defi_small", ChainKind::Embedded).unwrap();
    let paper = SharedBuffer::default();
    let passed = PassthroughSource::open(&everything_server(), &generous_limits()).await.unwrap();
    let line = LiveSource::new(RecordingSource::new(passed, Box::new(paper.clone()), &ReplaySource::default()));
    let tools = ["echo", "get-structured-content"].map(str::to_owned).into();
    let servers = LiveServers::new(vec![LiveServer { tools, source: line }], ForeignSource::NoSource, &workspace);
    let foreign = ForeignSource::Live(servers);
    let mut live = LiveWorld::new(&stage, WorldSettings { foreign: foreign.clone(), ..WorldSettings::default() });
    let (echo, weather) = (json!({ "message": "hello" }), json!({ "location": "New York" }));
    assert_eq!(ask(&mut live, "echo", echo.clone()).await, ToolAnswer::Result(json!("Echo: hello")));
    let structured = ask(&mut live, "get-structured-content", weather.clone()).await;
    // Arguments are validated before the source is called.
    assert_eq!(code(&ask(&mut live, "echo", json!({ "message": 7 })).await), "VALIDATION_INVALID_ARGUMENTS");
    assert_eq!(live.harness_fault(), None);
    let events = live.take_events();
    assert!(events.iter().any(|event| matches!(&event.happened, EventKind::Answered { answer, .. } if *answer == structured)));

    // A tool of another server is not called on this one, although it has a tool of that name.
    let mut elsewhere = LiveWorld::new(&stage, WorldSettings { foreign, ..WorldSettings::default() });
    assert_eq!(code(&ask(&mut elsewhere, "get-sum", json!({ "a": 1, "b": 2 })).await), "EXTERNAL_TOOL_UNAVAILABLE");
    assert!(
        elsewhere.harness_fault().unwrap().contains("get-sum is a tool of the MCP server everything"),
        "{:?}",
        elsewhere.harness_fault()
    );

    // Two trials from one recording do not disturb each other.
    let recorded = ReplaySource::parse(&paper.text()).unwrap();
    let setup = WorldSettings { foreign: ForeignSource::Recorded(recorded), ..WorldSettings::default() };
    for _ in 0..2 {
        let mut replayed = LiveWorld::new(&stage, setup.clone());
        assert_eq!(ask(&mut replayed, "echo", echo.clone()).await, ToolAnswer::Result(json!("Echo: hello")));
        assert_eq!(ask(&mut replayed, "get-structured-content", weather.clone()).await, structured);
        assert_eq!(replayed.harness_fault(), None);
        let missing = ask(&mut replayed, "echo", json!({ "message": "never said" })).await;
        assert_eq!(code(&missing), "EXTERNAL_TOOL_UNAVAILABLE");
        let missing = replayed.missing_recording();
        assert!(missing.as_ref().is_some_and(|why| why.contains("no recording of echo")), "{missing:?}");
        assert_eq!(replayed.harness_fault(), None);
    }

    let setup = WorldSettings { foreign: ForeignSource::stubs(&workspace, 1), ..WorldSettings::default() };
    let (mut one, mut other) = (LiveWorld::new(&stage, setup.clone()), LiveWorld::new(&stage, setup));
    let made = ask(&mut one, "get-structured-content", weather.clone()).await;
    assert!(matches!(&made, ToolAnswer::Result(value) if value["temperature"].is_number()), "{made:?}");
    assert_eq!(ask(&mut other, "get-structured-content", weather).await, made);
    assert_eq!(code(&ask(&mut one, "echo", echo.clone()).await), "EXTERNAL_TOOL_UNAVAILABLE");
    assert!(one.harness_fault().unwrap().contains("no output schema"), "{:?}", one.harness_fault());

    let mut alone = LiveWorld::new(&stage, WorldSettings::default());
    assert_eq!(code(&ask(&mut alone, "echo", echo).await), "EXTERNAL_TOOL_UNAVAILABLE");
    assert!(alone.harness_fault().unwrap().contains("no source is configured"), "{:?}", alone.harness_fault());
}
