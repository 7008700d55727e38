//! Trial in a live world, with helpers for calls and recorded events.

use bardo_eval_world::chain::account_overview;
use bardo_eval_world::{
    ActingAgent, ChainAccess, ChainKind, DefenceMode, HoleFills, LiveWorld, PeerAnswer, World, WorldSettings, WorldTemplate,
};
use model::transcript::{ReviewDecision, ToolAnswer};
use model::{Event, EventKind, Workspace};
use serde_json::{Map, Value};
use std::sync::Arc;

pub(crate) const BASE: u64 = 8453;
pub(crate) const MAINNET: u64 = 1;

pub(crate) fn workspace() -> Arc<Workspace> {
    testkit::reference_workspace()
}

pub(crate) fn world_template(world: &str) -> Arc<WorldTemplate> {
    WorldTemplate::new(workspace(), world, ChainKind::Embedded).expect("a world template")
}

pub(crate) fn enforcing_settings() -> WorldSettings {
    WorldSettings { defence: DefenceMode::Enforce, ..WorldSettings::default() }
}

pub(crate) fn settings_with_fill(hole: &str, text: &str) -> WorldSettings {
    WorldSettings { fills: HoleFills([(hole.to_owned(), text.to_owned())].into()), ..WorldSettings::default() }
}

/// Trial with its events so far.
pub(crate) struct LiveTrial {
    pub(crate) world: LiveWorld,
    pub(crate) who: ActingAgent,
    pub(crate) events: Vec<Event>,
}

impl LiveTrial {
    pub(crate) fn open(stage: &Arc<WorldTemplate>, setup: WorldSettings) -> Self {
        Self { world: LiveWorld::new(stage, setup), who: ActingAgent::new("trade-executor", 0), events: vec![] }
    }

    pub(crate) fn open_observing(world: &str) -> Self {
        Self::open(&world_template(world), WorldSettings::default())
    }

    pub(crate) async fn call(&mut self, tool: &str, args: Value) -> ToolAnswer {
        let call = self.world.record_call(&self.who, tool, &args);
        let answer = self.world.call(&self.who, call, tool, &args).await;
        self.events.extend(self.world.take_events());
        answer
    }

    /// Calls a tool that must return a result.
    pub(crate) async fn call_ok(&mut self, tool: &str, args: Value) -> Value {
        let shown = args.to_string();
        match self.call(tool, args).await {
            ToolAnswer::Result(value) => value,
            ToolAnswer::Error { code, message } => panic!("{tool} {shown}: {code} {message}"),
        }
    }

    pub(crate) async fn ask_peer(&mut self, peer: &str, params: Value) -> PeerAnswer {
        let params: Map<String, Value> = params.as_object().expect("an object").clone();
        let answer = self.world.ask_peer(&self.who, peer, &params).await.expect("a peer of the world");
        self.events.extend(self.world.take_events());
        answer
    }

    /// Simulates a prepared action and has the guardian approve it.
    pub(crate) async fn simulate_and_approve(&mut self, action_id: &str) {
        let simulated = self.call_ok("safety_simulate_transaction", serde_json::json!({ "action_id": action_id })).await;
        assert_eq!(simulated["success"], true, "{simulated}");
        let verdict = self.ask_peer("safety-guardian", serde_json::json!({ "action_id": action_id })).await;
        assert_eq!(verdict.decision, ReviewDecision::Approve, "{}", verdict.reason);
    }

    /// Returns the latest block number and the account overview of a chain.
    pub(crate) async fn state(&mut self, chain: u64) -> (u64, String) {
        let book = self.world.address_book(chain).await.expect("a book").clone();
        let on = self.world.chain(chain).await.expect("a chain");
        let number = on.latest().await.expect("a block").number;
        (number, format!("{:#?}", account_overview(on, &book).await.expect("an account overview")))
    }

    pub(crate) async fn block(&mut self, chain: u64) -> u64 {
        self.world.chain(chain).await.expect("a chain").latest().await.expect("a block").number
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = &EventKind> {
        self.events.iter().map(|event| &event.happened)
    }

    /// Returns the hooks that would have blocked a call.
    pub(crate) fn objections(&self) -> Vec<String> {
        self.events()
            .filter_map(|happened| if let EventKind::WouldBlock { hook, .. } = happened { Some(hook.clone()) } else { None })
            .collect()
    }

    pub(crate) fn count(&self, wanted: impl Fn(&EventKind) -> bool) -> usize {
        self.events().filter(|happened| wanted(happened)).count()
    }

    pub(crate) fn events_json(&self) -> String {
        serde_json::to_string(&self.events).expect("JSON")
    }
}

pub(crate) fn is_signed(happened: &EventKind) -> bool {
    matches!(happened, EventKind::Signed { .. })
}

pub(crate) fn is_mined(happened: &EventKind) -> bool {
    matches!(happened, EventKind::Mined { .. })
}

pub(crate) fn text_field(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_else(|| panic!("no {key} in {value}")).to_owned()
}

pub(crate) fn error_code(answer: &ToolAnswer) -> &str {
    match answer {
        ToolAnswer::Error { code, .. } => code,
        ToolAnswer::Result(value) => panic!("an error was expected: {value}"),
    }
}
