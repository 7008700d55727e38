//! The whole stack as it is built for a run: settled replies, cache, recordings, and the refusal of what cannot be taken.

use crate::providers::vendors::{KEY, Says, Vendor, WireName, ask, hello};
use model::suite::Surface;
use model::{Listing, Money, ToolsShown};
use run::fits;
use run::ledger::{CallId, Ledger, MemoryLedger, Role};
use run::providers::cassette::MemoryTape;
use run::providers::{Ask, Cassette, FaultKind, Key, Provider, Request, SharedProvider, Terms, ceiling, provider};
use run::{Budget, Clock};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use testkit::{LoopbackServer, VendorReply};

const CHAT: Vendor = Vendor { wire: WireName::Chat, stream: false };

struct Stand {
    server: LoopbackServer,
    ledger: Arc<MemoryLedger>,
}

impl Stand {
    async fn open() -> Self {
        Self::answering_after(Duration::from_millis(20)).await
    }

    async fn answering_after(wait: Duration) -> Self {
        let server = LoopbackServer::slow_model(wait, CHAT.says(Says::Hello)).await;
        Self { server, ledger: Arc::new(MemoryLedger::default()) }
    }

    fn build(&self, budget: &Arc<Budget>, cache: bool, cassette: Cassette) -> SharedProvider {
        let terms = Terms { cache, ..Terms::new(budget.clone(), self.ledger.clone(), Clock::system()) };
        provider(&CHAT.file(&self.server.url), Key::new(KEY), &terms, cassette).unwrap()
    }
}

#[tokio::test]
async fn a_settled_call_is_never_asked_again_but_another_request_under_its_name_is() {
    let stand = Stand::open().await;
    let budget = Budget::new(Some(Money::dollars(1)));
    let first = stand.build(&budget, false, Cassette::Off).ask(&ask(0, hello())).await.unwrap();
    let spent = budget.spent();
    // A new process: the same ledger, another budget.
    let resumed = Budget::new(Some(Money::dollars(1).less(spent)));
    let provider = stand.build(&resumed, false, Cassette::Off);
    assert_eq!(provider.ask(&ask(0, hello())).await.unwrap(), first);
    assert_eq!((stand.server.count(), resumed.spent()), (1, Money::ZERO));
    provider.ask(&ask(0, vec![])).await.unwrap();
    assert_eq!(stand.server.count(), 2);
}

#[tokio::test]
async fn the_cache_answers_other_trials_with_the_same_seed_and_is_off_unless_asked_for() {
    let stand = Stand::open().await;
    let budget = Budget::new(None);
    let other = |n| {
        let plain = ask(n, hello());
        let call = CallId { trial: model::Hash::of_text("another trial"), role: Role::Judge, n };
        Ask::new(call, plain.seed(), plain.request().clone())
    };
    let cached = stand.build(&budget, true, Cassette::Off);
    let first = cached.ask(&ask(0, hello())).await.unwrap();
    assert_eq!(cached.ask(&other(0)).await.unwrap(), first);
    assert_eq!(stand.server.count(), 1);
    stand.build(&budget, false, Cassette::Off).ask(&other(1)).await.unwrap();
    assert_eq!(stand.server.count(), 2);
    // Recording anew means asking anew.
    stand.build(&budget, true, Cassette::Record(Arc::new(MemoryTape::default()))).ask(&other(2)).await.unwrap();
    assert_eq!(stand.server.count(), 3);
}

#[tokio::test]
async fn a_call_the_budget_cannot_pay_is_not_sent() {
    let stand = Stand::open().await;
    let budget = Budget::new(Some(Money::nanos(1000)));
    let fault = stand.build(&budget, false, Cassette::Off).ask(&ask(0, hello())).await.unwrap_err();
    assert_eq!((fault.kind, stand.server.count(), budget.spent()), (FaultKind::Unfunded, 0, Money::ZERO));
    assert!(stand.ledger.books().open.is_empty());
}

#[tokio::test]
async fn a_call_that_is_cut_off_counts_at_its_ceiling_here_and_in_the_ledger() {
    let stand = Stand::answering_after(Duration::from_secs(60)).await;
    let budget = Budget::new(Some(Money::dollars(1)));
    let provider = stand.build(&budget, false, Cassette::Off);
    let cut = tokio::time::timeout(Duration::from_millis(50), provider.ask(&ask(0, hello()))).await;
    assert!(cut.is_err());
    let books = stand.ledger.books();
    assert!(budget.spent() > Money::ZERO);
    assert_eq!((books.spent(), books.open.len()), (budget.spent(), 1));
    assert_eq!(stand.ledger.settled(&ask(0, hello()).call).await.unwrap(), None);
}

#[tokio::test]
async fn more_tools_than_the_vendor_takes_are_refused_before_anything_is_spent() {
    let stand = Stand::open().await;
    let budget = Budget::new(Some(Money::dollars(1)));
    let tool = |n: usize| Listing { name: format!("tool_{n}"), description: String::new(), input_schema: json!({}).into() };
    let plain = ask(0, hello());
    let many = Request { tools: (0..129).map(tool).collect(), ..plain.request().clone() };
    let fault = stand.build(&budget, false, Cassette::Off).ask(&Ask::new(plain.call, 7, many)).await.unwrap_err();
    assert_eq!((fault.kind, stand.server.count(), budget.spent()), (FaultKind::Unfit, 0, Money::ZERO));
    assert!(fault.to_string().contains("pruned"), "{fault}");
}

#[test]
fn a_case_with_more_tools_than_the_vendor_takes_is_found_before_the_run() {
    let workspace = testkit::reference_workspace();
    let full = workspace.cases().find(|case| matches!(&case.brief.surface, Surface::Profile(name) if name.as_str() == "full")).unwrap();
    let small = workspace.cases().find(|case| matches!(&case.brief.surface, Surface::Agent(_))).unwrap();
    let mut file = CHAT.file("http://127.0.0.1:1");
    assert!(fits(&workspace, &file, full).is_err_and(|why| why.to_string().contains("at most 128")));
    assert_eq!(fits(&workspace, &file, small), Ok(()));
    file.tools = ToolsShown::Pruned(100);
    assert_eq!(fits(&workspace, &file, full), Ok(()));
    let anthropic = Vendor { wire: WireName::Anthropic, stream: false }.file("http://127.0.0.1:1");
    assert_eq!(fits(&workspace, &anthropic, full), Ok(()));
    for subject in workspace.subjects.iter().filter(|subject| subject.provider.is_llm()) {
        assert_eq!(fits(&workspace, subject, full), Ok(()), "the subject {} we ship cannot take the full profile", subject.name.value);
    }
}

#[tokio::test]
async fn a_server_that_does_not_count_is_paid_the_ceiling() {
    for usage in ["null", "{}", "{\"prompt_tokens\":0,\"completion_tokens\":0}", "\"many\"", "{\"prompt_tokens\":-5}"] {
        let body = format!(r#"{{"choices":[{{"message":{{"content":"Hi"}},"finish_reason":"stop"}}],"usage":{usage}}}"#);
        let bench = crate::providers::vendors::Bench::open(CHAT, 1, move |_, _| VendorReply::ok(body.clone())).await;
        bench.provider.ask(&ask(0, hello())).await.unwrap();
        let sent = bench.server.requests()[0].raw.len() as u64;
        assert_eq!(bench.budget.spent(), ceiling(&crate::providers::vendors::price(), sent, 500), "{usage}");
    }
}
