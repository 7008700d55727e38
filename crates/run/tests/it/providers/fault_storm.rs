//! LLM subject that trades in a trial's world, first without faults, then with three of ten requests failing.

use crate::providers::vendor_cases::{KEY, VendorCase, WireName};
use model::transcript::FaultSource;
use model::{ContentHash, Ending, Event, EventKind, Money, SubjectFile, Trial, Workspace};
use run::ledger::MemoryLedger;
use run::providers::{ApiKey, CassetteMode, ProviderConfig, RetryPolicy};
use run::subjects::TrialScript;
use run::user::FixedTurns;
use run::{Budget, Clock, SubjectDeps, SubjectInWorld, SubjectPool, TrialContext, TrialLimits, drive};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use testkit::faults;
use testkit::trader::next_step;
use testkit::{LoopbackServer, VendorReply};
use world::{ChainKind, LiveWorld, WorldSettings, WorldTemplate};

const CASE: &str = "sell_usdc_for_ether";

/// Run of one subject: its pool and the template of its worlds.
struct FaultRun {
    workspace: Arc<Workspace>,
    stage: Arc<WorldTemplate>,
    subjects: SubjectPool,
    file: SubjectFile,
    budget: Arc<Budget>,
    ledger: Arc<MemoryLedger>,
}

impl FaultRun {
    fn new(server: &LoopbackServer, patience: RetryPolicy, time_limit: Duration) -> Self {
        let workspace = testkit::minimal_workspace();
        let case = workspace.case(CASE).unwrap();
        let stage = WorldTemplate::new(workspace.clone(), &case.brief.world, ChainKind::Embedded).unwrap();
        let file = VendorCase { wire: WireName::Compatible, stream: false }.subject_file(&server.url);
        let (budget, ledger) = (Budget::new(Some(Money::from_dollars(1000))), Arc::new(MemoryLedger::default()));
        let terms = ProviderConfig {
            retry_policy: patience,
            time_limit: Some(time_limit),
            max_concurrent: 32,
            ..ProviderConfig::new(budget.clone(), ledger.clone(), Clock::system())
        };
        let deps = SubjectDeps {
            provider_config: Some(terms),
            key: &|_| ApiKey::new(KEY),
            cassette: &|_| CassetteMode::Off,
            ..SubjectDeps::offline(Clock::system())
        };
        let subjects = SubjectPool::build(&workspace, &[&file], &deps).unwrap();
        Self { workspace, stage, subjects, file, budget, ledger }
    }

    async fn run_trial(&self, seed: u64) -> (ContentHash, Vec<Event>, Ending) {
        let case = self.workspace.case(CASE).unwrap();
        let trial = Trial::new(case, &self.file.name, &self.file.identity(), seed);
        let mut user = FixedTurns::new(["Sell 250 USDC for wrapped ether on Base, no more than half a percent slippage.".to_owned()]);
        let world = LiveWorld::new(&self.stage, WorldSettings { peers: case.brief.peers.clone(), ..WorldSettings::default() });
        let acting = self.subjects.instantiate(&trial, &case.brief, world, TrialScript::empty).await.unwrap();
        let SubjectInWorld { mut subject, mut world } = acting;
        let scene = TrialContext { workspace: &self.workspace, brief: &case.brief, limits: TrialLimits::from(self.file.limits) };
        let (events, ending) = drive(scene, subject.as_mut(), &mut user, world.as_mut()).await;
        (trial.id, events, ending)
    }
}

#[tokio::test]
async fn llm_subject_trades_and_balances_change() {
    let server = LoopbackServer::start(|_, seen| VendorReply::ok(next_step(&seen.body).to_string())).await;
    let run = FaultRun::new(&server, RetryPolicy::default(), Duration::from_secs(30));
    let (_, events, ending) = run.run_trial(1).await;
    assert_eq!(ending, Ending::Finished);
    let happened: Vec<&EventKind> = events.iter().map(|event| &event.happened).collect();
    let place =
        |wanted: &dyn Fn(&EventKind) -> bool| happened.iter().position(|one| wanted(one)).unwrap_or_else(|| panic!("{happened:#?}"));
    let quoted = place(&|one| matches!(one, EventKind::Called { tool, .. } if tool == "swap_get_quote"));
    let simulated = place(&|one| matches!(one, EventKind::Simulated { .. }));
    let delegated = place(&|one| matches!(one, EventKind::Delegated { to, .. } if to == "safety-guardian"));
    let decided = place(&|one| matches!(one, EventKind::Decided { .. }));
    let executed = place(&|one| matches!(one, EventKind::Called { tool, .. } if tool == "swap_execute"));
    assert!(quoted < simulated && simulated < delegated && delegated < decided && decided < executed, "{happened:#?}");
    let mined = format!("{:?}", &happened[executed..]);
    assert!(mined.contains("Mined") && mined.contains("WETH"), "no balance changed: {mined}");
    assert!(matches!(happened.last(), Some(EventKind::Said { text }) if text.contains("success")));
    assert_eq!((server.count(), run.ledger.entries().settled.len()), (5, 5));
    // Requests contain only the view: no intent, expectations or ids of the case.
    let case = run.workspace.case(CASE).unwrap();
    for seen in server.requests() {
        assert!(
            !seen.raw.contains(CASE) && !seen.raw.contains(case.hash.as_str()) && !seen.raw.contains("before(simulate"),
            "{}",
            seen.raw
        );
    }
}

#[tokio::test]
async fn same_replies_give_the_same_transcript() {
    let server = LoopbackServer::start(|n, seen| {
        VendorReply::ok(next_step(&seen.body).to_string()).after(Duration::from_millis((n as u64 % 3) * 7))
    })
    .await;
    let run = FaultRun::new(&server, RetryPolicy::default(), Duration::from_secs(30));
    let (_, first, _) = run.run_trial(1).await;
    let asked = server.count();
    let (_, again, _) = run.run_trial(1).await;
    assert_eq!((first, asked), (again, server.count()), "settled calls are not sent again and give the same transcript");
}

const TRIALS: u64 = 300;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn provider_faults_are_errors_not_scores() {
    let bad = Arc::new(std::sync::Mutex::new(vec![]));
    let recorded = bad.clone();
    let server = LoopbackServer::start(move |n, seen| {
        let Some(kind) = faults::fault_kind(n) else { return VendorReply::ok(next_step(&seen.body).to_string()) };
        recorded.lock().unwrap().push(kind);
        faults::fault_reply(kind)
    })
    .await;
    let patience = RetryPolicy { attempts: 3, first_pause: Duration::from_millis(2), longest_pause: Duration::from_millis(50) };
    let run = Arc::new(FaultRun::new(&server, patience, Duration::from_secs(6)));
    let gate = Arc::new(tokio::sync::Semaphore::new(32));
    let trials: Vec<_> = (0..TRIALS)
        .map(|seed| {
            let (run, gate) = (run.clone(), gate.clone());
            tokio::spawn(async move {
                let _turn = gate.acquire().await.unwrap();
                run.run_trial(seed).await
            })
        })
        .collect();
    let mut endings = BTreeMap::new();
    for trial in trials {
        let (id, events, ending) = trial.await.unwrap();
        endings.insert(id, (events.len(), ending));
    }
    assert_eq!(endings.len() as u64, TRIALS);

    let entries = run.ledger.entries();
    let bad = bad.lock().unwrap();
    assert_eq!(bad.iter().copied().collect::<BTreeSet<_>>().len(), faults::FAULT_KINDS, "every kind of fault must occur");
    // Every request is settled or failed exactly once, and none is left open.
    assert_eq!(entries.settled.len() + entries.failed.len(), server.count());
    assert_eq!((entries.failed.len(), entries.open.len()), (bad.len(), 0));
    assert_eq!(entries.spent(), run.budget.spent());

    let (mut finished, mut aborted) = (0, 0);
    for (id, (_, ending)) in &endings {
        let faults: Vec<&str> = entries.failed.iter().filter(|(call, _, _)| call.trial == *id).map(|(_, _, why)| why.as_str()).collect();
        let answers = entries.settled.keys().filter(|call| call.trial == *id).count();
        match ending {
            // Retries repaired all faults: all five steps were answered.
            Ending::Finished => {
                finished += 1;
                assert_eq!(answers, 5, "{faults:?}");
            }
            Ending::Aborted { by: FaultSource::Provider, why } => {
                aborted += 1;
                assert!(!ending.is_scorable() && answers < 5);
                assert!(faults.last().is_some_and(|last| why.contains(last)), "{why} is not the last of {faults:?}");
            }
            other => panic!("a vendor fault ended as {other}"),
        }
    }
    println!("{TRIALS} trials: {finished} finished, {aborted} aborted; {} requests, {} faults", server.count(), bad.len());
    assert!(finished > 50 && aborted > 50, "{finished} finished, {aborted} aborted");
}
