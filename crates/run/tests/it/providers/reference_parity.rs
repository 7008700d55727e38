//! An LLM subject that replays the reference run of a case produces the same transcript as the reference subject.

use crate::providers::vendor_cases::{KEY, VendorCase, WireName};
use model::suite::{ArgValue, Case, CaseSurface, PeerMode, ReferenceAction, ReferenceStep, SuiteKind};
use model::{Ending, Event, EventKind, SubjectFile, Trial, Workspace};
use run::ledger::MemoryLedger;
use run::providers::{ApiKey, CassetteMode, ProviderConfig};
use run::subjects::{ReferenceSubject, Subject, TrialScript};
use run::user::scripted_user;
use run::{Budget, Clock, SubjectDeps, SubjectPool, TrialContext, TrialLimits, drive};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use testkit::chat;
use testkit::{LoopbackServer, VendorReply};
use world::{ChainKind, LiveWorld, WorldSettings, WorldTemplate};

/// Reference script of one trial, played by the vendor server.
#[derive(Default)]
struct ReferenceScript {
    steps: Vec<ReferenceStep>,
    next: usize,
    /// Results of the steps, read from later requests.
    answers: BTreeMap<String, Value>,
}

impl ReferenceScript {
    fn reply(&mut self, request: &Value) -> Value {
        for message in request["messages"].as_array().into_iter().flatten().filter(|message| message["role"] == "tool") {
            let step = message["tool_call_id"].as_str().and_then(|id| id.strip_prefix("call_")).and_then(|n| n.parse::<usize>().ok());
            let name = step.and_then(|n| self.steps.get(n)).and_then(|step| step.name.clone());
            if let (Some(name), Some(text)) = (name, message["content"].as_str()) {
                self.answers.insert(name, serde_json::from_str(text).unwrap_or(json!(text)));
            }
        }
        let n = self.next;
        self.next += 1;
        let Some(step) = self.steps.get(n).cloned() else {
            return chat::text_reply("That is all.");
        };
        match &step.action {
            ReferenceAction::Call { tool, args } => chat::tool_call_reply(n, tool, &self.fill(args)),
            ReferenceAction::Delegate { to, params } => chat::tool_call_reply(n, &format!("delegate_{}", to.value), &self.fill(params)),
            ReferenceAction::Activate { skill, params } => {
                chat::tool_call_reply(n, "use_skill", &json!({ "name": skill.value, "params": self.fill(params) }))
            }
            ReferenceAction::Ask(text) => chat::tool_call_reply(n, "ask_user", &json!({ "question": text })),
            ReferenceAction::Report(text) => chat::tool_call_reply(n, "report_suspicious", &json!({ "text": text })),
            ReferenceAction::Say(text) => chat::text_reply(text),
        }
    }

    fn fill<'a>(&self, args: impl IntoIterator<Item = (&'a str, &'a ArgValue)>) -> Value {
        let filled = args.into_iter().map(|(name, value)| {
            let value = match value {
                ArgValue::Given(value) => value.clone(),
                ArgValue::From { step, path } => {
                    let answer = self.answers.get(step).cloned().unwrap_or_default();
                    answer.pointer(&format!("/{}", path.replace('.', "/"))).cloned().unwrap_or_default()
                }
            };
            (name.to_owned(), value)
        });
        Value::Object(filled.collect::<Map<_, _>>())
    }
}

struct ParityFixture {
    workspace: Arc<Workspace>,
    stages: BTreeMap<String, Arc<WorldTemplate>>,
    subjects: SubjectPool,
    file: SubjectFile,
    script: Arc<Mutex<ReferenceScript>>,
    _server: LoopbackServer,
}

impl ParityFixture {
    async fn open() -> Self {
        let workspace = testkit::reference_workspace();
        let script = Arc::new(Mutex::new(ReferenceScript::default()));
        let played = script.clone();
        let server = LoopbackServer::start(move |_, seen| VendorReply::ok(played.lock().unwrap().reply(&seen.body).to_string())).await;
        let mut file = VendorCase { wire: WireName::Compatible, stream: false }.subject_file(&server.url);
        file.limits.output_tokens = 1_000_000;
        let terms = ProviderConfig::new(Budget::new(None), Arc::new(MemoryLedger::default()), Clock::system());
        let deps = SubjectDeps {
            provider_config: Some(terms),
            key: &|_| ApiKey::new(KEY),
            cassette: &|_| CassetteMode::Off,
            ..SubjectDeps::offline(Clock::system())
        };
        let subjects = SubjectPool::build(&workspace, &[&file], &deps).unwrap();
        Self { workspace, stages: BTreeMap::new(), subjects, file, script, _server: server }
    }

    async fn run_trial(&mut self, case: &Case, subject: &mut dyn Subject) -> (Vec<Event>, Ending) {
        let name = case.brief.world.value.clone();
        let workspace = self.workspace.clone();
        let stage =
            self.stages.entry(name.clone()).or_insert_with(|| WorldTemplate::new(workspace.clone(), &name, ChainKind::Embedded).unwrap());
        let mut user = scripted_user(&workspace, &case.brief.user_script, 7);
        let mut world = LiveWorld::new(stage, WorldSettings { peers: case.brief.peers.clone(), ..WorldSettings::default() });
        let scene = TrialContext { workspace: &workspace, brief: &case.brief, limits: TrialLimits::from(self.file.limits) };
        drive(scene, subject, user.as_mut(), &mut world).await
    }

    /// Returns the transcripts of the reference and of the LLM subject.
    async fn run_both(&mut self, case: &Case) -> [(Vec<Event>, Ending); 2] {
        *self.script.lock().unwrap() = ReferenceScript { steps: case.reference.clone(), ..ReferenceScript::default() };
        let reference = self.run_trial(case, &mut ReferenceSubject::new(case.reference.clone(), false)).await;
        let trial = Trial::new(case, &self.file.name, &self.file.identity(), 7);
        let mut model = self.subjects.instantiate_alone(&trial, TrialScript::empty).unwrap();
        let model = self.run_trial(case, model.as_mut()).await;
        [reference, model]
    }
}

fn mined_count(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event.happened, EventKind::Mined { .. })).count()
}

#[tokio::test]
async fn llm_and_reference_transcripts_match_for_delegated_trade() {
    let mut fixture = ParityFixture::open().await;
    let workspace = fixture.workspace.clone();
    let case = workspace.case("check_then_sell_ether").unwrap();
    let [(reference, _), (model, ending)] = fixture.run_both(case).await;
    assert_eq!(ending, Ending::Finished);
    let to: Vec<&str> = model
        .iter()
        .filter_map(|event| if let EventKind::Delegated { to, .. } = &event.happened { Some(to.as_str()) } else { None })
        .collect();
    assert_eq!(to, ["token-analyst", "pool-researcher", "trade-executor", "risk-assessor", "safety-guardian"]);
    assert!(mined_count(&model) > 0, "nothing was mined");
    assert_eq!(model, reference);
}

/// Checks every composition case and every fifth other case, except single-move tool selection.
#[tokio::test]
async fn llm_and_reference_transcripts_match_for_all_suites() {
    let mut fixture = ParityFixture::open().await;
    let workspace = fixture.workspace.clone();
    let (mut compared, mut different) = (0, vec![]);
    for suite in &workspace.suites {
        let every = if suite.kind == SuiteKind::Composition { 1 } else { 5 };
        for case in suite.cases.iter().step_by(every) {
            if matches!(case.brief.surface, CaseSurface::Profile(_)) || matches!(case.brief.peers, PeerMode::Subject(_)) {
                continue;
            }
            let [reference, model] = fixture.run_both(case).await;
            // Another test checks that every reference passes.
            if !reference.1.is_orderly() {
                continue;
            }
            compared += 1;
            if reference != model {
                let first = reference.0.iter().zip(&model.0).find(|(a, b)| a != b);
                different.push(format!("{}: {} and {}; {first:?}", case.id.value, reference.1, model.1));
            }
        }
    }
    println!("{compared} cases compared, {} different", different.len());
    assert!(compared > 40 && different.is_empty(), "{} of {compared}:\n{}", different.len(), different.join("\n"));
}
