//! A trial in a live world, with short words for what an agent does in it and for what was recorded.

use bardo_eval_world::chain::survey;
use bardo_eval_world::{ChainAccess, ChainKind, Defence, Fills, LiveWorld, PeerAnswer, Setup, Who, World, WorldTemplate};
use model::transcript::{Decision, ToolAnswer};
use model::{Event, Happened, Workspace};
use serde_json::{Map, Value};
use std::sync::Arc;

pub(crate) const BASE: u64 = 8453;
pub(crate) const MAINNET: u64 = 1;

pub(crate) fn workspace() -> Arc<Workspace> {
    testkit::reference_workspace()
}

pub(crate) fn stage(world: &str) -> Arc<WorldTemplate> {
    WorldTemplate::new(workspace(), world, ChainKind::Embedded).expect("a world template")
}

pub(crate) fn enforcing() -> Setup {
    Setup { defence: Defence::Enforce, ..Setup::default() }
}

pub(crate) fn filled(hole: &str, text: &str) -> Setup {
    Setup { fills: Fills([(hole.to_owned(), text.to_owned())].into()), ..Setup::default() }
}

/// One trial and all that was recorded of it so far.
pub(crate) struct Trial {
    pub(crate) world: LiveWorld,
    pub(crate) who: Who,
    pub(crate) events: Vec<Event>,
}

impl Trial {
    pub(crate) fn open(stage: &Arc<WorldTemplate>, setup: Setup) -> Self {
        Self { world: LiveWorld::new(stage, setup), who: Who::new("trade-executor", 0), events: vec![] }
    }

    pub(crate) fn observing(world: &str) -> Self {
        Self::open(&stage(world), Setup::default())
    }

    pub(crate) async fn call(&mut self, tool: &str, args: Value) -> ToolAnswer {
        let call = self.world.asked(&self.who, tool, &args);
        let answer = self.world.call(&self.who, call, tool, &args).await;
        self.events.extend(self.world.take_events());
        answer
    }

    /// The same where only a result will do.
    pub(crate) async fn get(&mut self, tool: &str, args: Value) -> Value {
        let shown = args.to_string();
        match self.call(tool, args).await {
            ToolAnswer::Result(value) => value,
            ToolAnswer::Error { code, message } => panic!("{tool} {shown}: {code} {message}"),
        }
    }

    pub(crate) async fn ask(&mut self, peer: &str, params: Value) -> PeerAnswer {
        let params: Map<String, Value> = params.as_object().expect("an object").clone();
        let answer = self.world.ask_peer(&self.who, peer, &params).await.expect("a peer of the world");
        self.events.extend(self.world.take_events());
        answer
    }

    /// Simulates a prepared action and has the guardian approve it.
    pub(crate) async fn clear(&mut self, action_id: &str) {
        let simulated = self.get("safety_simulate_transaction", serde_json::json!({ "action_id": action_id })).await;
        assert_eq!(simulated["success"], true, "{simulated}");
        let verdict = self.ask("safety-guardian", serde_json::json!({ "action_id": action_id })).await;
        assert_eq!(verdict.decision, Decision::Approve, "{}", verdict.reason);
    }

    /// What stands on a chain: its latest block, and everything the account has there.
    pub(crate) async fn state(&mut self, chain: u64) -> (u64, String) {
        let book = self.world.book(chain).await.expect("a book").clone();
        let on = self.world.chain(chain).await.expect("a chain");
        let number = on.latest().await.expect("a block").number;
        (number, format!("{:#?}", survey(on, &book).await.expect("a survey")))
    }

    pub(crate) async fn block(&mut self, chain: u64) -> u64 {
        self.world.chain(chain).await.expect("a chain").latest().await.expect("a block").number
    }

    pub(crate) fn happened(&self) -> impl Iterator<Item = &Happened> {
        self.events.iter().map(|event| &event.happened)
    }

    /// The hooks that would have stopped a call.
    pub(crate) fn objections(&self) -> Vec<String> {
        self.happened()
            .filter_map(|happened| if let Happened::WouldBlock { hook, .. } = happened { Some(hook.clone()) } else { None })
            .collect()
    }

    pub(crate) fn count(&self, wanted: impl Fn(&Happened) -> bool) -> usize {
        self.happened().filter(|happened| wanted(happened)).count()
    }

    pub(crate) fn written(&self) -> String {
        serde_json::to_string(&self.events).expect("JSON")
    }
}

pub(crate) fn signed(happened: &Happened) -> bool {
    matches!(happened, Happened::Signed { .. })
}

pub(crate) fn mined(happened: &Happened) -> bool {
    matches!(happened, Happened::Mined { .. })
}

pub(crate) fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_else(|| panic!("no {key} in {value}")).to_owned()
}

pub(crate) fn code(answer: &ToolAnswer) -> &str {
    match answer {
        ToolAnswer::Error { code, .. } => code,
        ToolAnswer::Result(value) => panic!("an error was expected: {value}"),
    }
}
