//! Tests of the provider stack as built for a run: settled replies, cache, recordings and tool limits.

use crate::providers::vendor_cases::{KEY, ReplyScenario, VendorCase, WireName, hello, model_call};
use model::suite::CaseSurface;
use model::{Money, ToolListing, ToolsShown};
use run::check_tool_limit;
use run::ledger::{CallId, CallRole, Ledger, MemoryLedger};
use run::providers::cassette::MemoryCassette;
use run::providers::{
    ApiKey, CassetteMode, FaultKind, ModelCall, ModelRequest, Provider, ProviderConfig, SharedProvider, build_provider, ceiling,
};
use run::{Budget, Clock};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use testkit::{LoopbackServer, VendorReply};

const CHAT: VendorCase = VendorCase { wire: WireName::Chat, stream: false };

struct StackFixture {
    server: LoopbackServer,
    ledger: Arc<MemoryLedger>,
}

impl StackFixture {
    async fn open() -> Self {
        Self::answering_after(Duration::from_millis(20)).await
    }

    async fn answering_after(wait: Duration) -> Self {
        let server = LoopbackServer::slow_model(wait, CHAT.reply_body(ReplyScenario::Hello)).await;
        Self { server, ledger: Arc::new(MemoryLedger::default()) }
    }

    fn build(&self, budget: &Arc<Budget>, cache: bool, cassette: CassetteMode) -> SharedProvider {
        let terms = ProviderConfig { cache, ..ProviderConfig::new(budget.clone(), self.ledger.clone(), Clock::system()) };
        build_provider(&CHAT.subject_file(&self.server.url), ApiKey::new(KEY), &terms, cassette).unwrap()
    }
}

#[tokio::test]
async fn settled_call_is_replayed_unless_the_request_differs() {
    let fixture = StackFixture::open().await;
    let budget = Budget::new(Some(Money::from_dollars(1)));
    let first = fixture.build(&budget, false, CassetteMode::Off).ask(&model_call(0, hello())).await.unwrap();
    let spent = budget.spent();
    // Simulates a new process: same ledger, new budget.
    let resumed = Budget::new(Some(Money::from_dollars(1).saturating_sub(spent)));
    let provider = fixture.build(&resumed, false, CassetteMode::Off);
    assert_eq!(provider.ask(&model_call(0, hello())).await.unwrap(), first);
    assert_eq!((fixture.server.count(), resumed.spent()), (1, Money::ZERO));
    provider.ask(&model_call(0, vec![])).await.unwrap();
    assert_eq!(fixture.server.count(), 2);
}

#[tokio::test]
async fn cache_is_shared_by_seed_and_off_by_default() {
    let fixture = StackFixture::open().await;
    let budget = Budget::new(None);
    let other = |n| {
        let plain = model_call(n, hello());
        let call = CallId { trial: model::ContentHash::of_text("another trial"), role: CallRole::Judge, n };
        ModelCall::new(call, plain.seed(), plain.request().clone())
    };
    let cached = fixture.build(&budget, true, CassetteMode::Off);
    let first = cached.ask(&model_call(0, hello())).await.unwrap();
    assert_eq!(cached.ask(&other(0)).await.unwrap(), first);
    assert_eq!(fixture.server.count(), 1);
    fixture.build(&budget, false, CassetteMode::Off).ask(&other(1)).await.unwrap();
    assert_eq!(fixture.server.count(), 2);
    // Record mode bypasses the cache.
    fixture.build(&budget, true, CassetteMode::Record(Arc::new(MemoryCassette::default()))).ask(&other(2)).await.unwrap();
    assert_eq!(fixture.server.count(), 3);
}

#[tokio::test]
async fn unfunded_call_is_not_sent() {
    let fixture = StackFixture::open().await;
    let budget = Budget::new(Some(Money::from_nanos(1000)));
    let fault = fixture.build(&budget, false, CassetteMode::Off).ask(&model_call(0, hello())).await.unwrap_err();
    assert_eq!((fault.kind, fixture.server.count(), budget.spent()), (FaultKind::Unfunded, 0, Money::ZERO));
    assert!(fixture.ledger.entries().open.is_empty());
}

#[tokio::test]
async fn dropped_call_is_charged_its_ceiling() {
    let fixture = StackFixture::answering_after(Duration::from_secs(60)).await;
    let budget = Budget::new(Some(Money::from_dollars(1)));
    let provider = fixture.build(&budget, false, CassetteMode::Off);
    let cut = tokio::time::timeout(Duration::from_millis(50), provider.ask(&model_call(0, hello()))).await;
    assert!(cut.is_err());
    let entries = fixture.ledger.entries();
    assert!(budget.spent() > Money::ZERO);
    assert_eq!((entries.spent(), entries.open.len()), (budget.spent(), 1));
    assert_eq!(fixture.ledger.find_settled(&model_call(0, hello()).call).await.unwrap(), None);
}

#[tokio::test]
async fn too_many_tools_are_refused_before_spending() {
    let fixture = StackFixture::open().await;
    let budget = Budget::new(Some(Money::from_dollars(1)));
    let tool = |n: usize| ToolListing { name: format!("tool_{n}"), description: String::new(), input_schema: json!({}).into() };
    let plain = model_call(0, hello());
    let many = ModelRequest { tools: (0..129).map(tool).collect(), ..plain.request().clone() };
    let fault = fixture.build(&budget, false, CassetteMode::Off).ask(&ModelCall::new(plain.call, 7, many)).await.unwrap_err();
    assert_eq!((fault.kind, fixture.server.count(), budget.spent()), (FaultKind::Unfit, 0, Money::ZERO));
    assert!(fault.to_string().contains("pruned"), "{fault}");
}

#[test]
fn check_tool_limit_finds_oversized_cases() {
    let workspace = testkit::reference_workspace();
    let full = workspace.cases().find(|case| matches!(&case.brief.surface, CaseSurface::Profile(name) if name.as_str() == "full")).unwrap();
    let small = workspace.cases().find(|case| matches!(&case.brief.surface, CaseSurface::Agent(_))).unwrap();
    let mut file = CHAT.subject_file("http://127.0.0.1:1");
    assert!(check_tool_limit(&workspace, &file, full).is_err_and(|why| why.to_string().contains("at most 128")));
    assert_eq!(check_tool_limit(&workspace, &file, small), Ok(()));
    file.tools = ToolsShown::Pruned(100);
    assert_eq!(check_tool_limit(&workspace, &file, full), Ok(()));
    let anthropic = VendorCase { wire: WireName::Anthropic, stream: false }.subject_file("http://127.0.0.1:1");
    assert_eq!(check_tool_limit(&workspace, &anthropic, full), Ok(()));
    for subject in workspace.subjects.iter().filter(|subject| subject.provider.is_llm()) {
        assert_eq!(
            check_tool_limit(&workspace, subject, full),
            Ok(()),
            "the shipped subject {} cannot take the full profile",
            subject.name.value
        );
    }
}

#[tokio::test]
async fn reply_without_usage_is_charged_the_ceiling() {
    for usage in ["null", "{}", "{\"prompt_tokens\":0,\"completion_tokens\":0}", "\"many\"", "{\"prompt_tokens\":-5}"] {
        let body = format!(r#"{{"choices":[{{"message":{{"content":"Hi"}},"finish_reason":"stop"}}],"usage":{usage}}}"#);
        let bench = crate::providers::vendor_cases::ProviderFixture::open(CHAT, 1, move |_, _| VendorReply::ok(body.clone())).await;
        bench.provider.ask(&model_call(0, hello())).await.unwrap();
        let sent = bench.server.requests()[0].raw.len() as u64;
        assert_eq!(bench.budget.spent(), ceiling(&crate::providers::vendor_cases::price(), sent, 500), "{usage}");
    }
}
