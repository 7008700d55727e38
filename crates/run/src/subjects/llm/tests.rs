//! Tests of the tool loop with a scripted model: requests, and the moves that replies become.

use super::*;
use crate::providers::{CallArguments, ChatMessage, ContentBlock, MessageRole, Provider, TokenUsage, VendorLimits};
use model::transcript::{ToolAnswer, ToolCall};
use model::view::{DelegateInfo, Observation};
use model::{Money, SkillListing, ToolListing};
use serde_json::json;
use std::sync::Mutex;

/// Answers from a list and records the calls.
#[derive(Default)]
struct ReplyListProvider {
    replies: Mutex<Vec<ModelReply>>,
    asked: Mutex<Vec<ModelCall>>,
}

#[async_trait]
impl Provider for ReplyListProvider {
    fn vendor_limits(&self) -> VendorLimits {
        VendorLimits { max_tools: None, max_name_len: 64 }
    }

    async fn ask(&self, ask: &ModelCall) -> Result<ModelReply, ProviderFault> {
        self.asked.lock().unwrap().push(ask.clone());
        let mut replies = self.replies.lock().unwrap();
        if replies.is_empty() {
            return Err(ProviderFault::new(FaultKind::Server, "no scripted reply left"));
        }
        Ok(replies.remove(0))
    }
}

impl ReplyListProvider {
    fn nth_request(&self, n: usize) -> ModelRequest {
        self.asked.lock().unwrap()[n].request().clone()
    }
}

fn reply(blocks: Vec<ContentBlock>) -> ModelReply {
    let stop = if blocks.iter().any(|block| matches!(block, ContentBlock::Call { .. })) { StopReason::Calls } else { StopReason::End };
    let usage = Some(TokenUsage { input: 100, output: 10, ..TokenUsage::default() });
    ModelReply { blocks, stop, usage, model: "scripted".into(), request_id: None, latency_ms: 20, rest: Map::new() }
}

fn call(id: &str, tool: &str, args: Value) -> ContentBlock {
    ContentBlock::Call { id: id.into(), tool: tool.into(), args: CallArguments::parse(args), rest: Map::new() }
}

fn seat(agent: &str) -> AgentContext {
    let tool = |name: &str| ToolListing {
        name: name.into(),
        description: format!("Does {name}."),
        input_schema: json!({ "type": "object" }).into(),
    };
    AgentContext {
        agent: agent.into(),
        prompt: format!("You are {agent}."),
        tools: vec![tool("get_quote"), tool("execute_swap")],
        skills: vec![],
        delegates: vec!["guardian".into()],
        delegate_infos: vec![DelegateInfo { name: "guardian".into(), role: "Approves.".into(), needs: vec!["spend".into()] }],
        output: Some(json!({ "type": "object", "required": ["status"] }).into()),
    }
}

fn price() -> ModelPrice {
    ModelPrice {
        input_per_mtok: Money::from_dollars(2),
        output_per_mtok: Money::from_dollars(10),
        cache_read_per_mtok: None,
        cache_write_per_mtok: None,
        as_of: "2026-11-15".into(),
    }
}

#[tokio::test]
async fn totals_of_replies_are_absent_where_a_reply_lacks_the_number() {
    let text = || vec![ContentBlock::text("ok")];
    let seat = seat("trader");
    let totals = async |replies: Vec<ModelReply>| {
        let turns = replies.len();
        let (mut llm, _) = llm(replies, 100_000);
        let mut heard = vec![];
        for _ in 0..turns {
            heard.push(user("Go on."));
            llm.next(&View { context: &seat, depth: 0, observations: &heard }).await.unwrap();
        }
        llm.reply_totals()
    };
    let once = reply(text());
    let cost = crate::providers::cost(&price(), once.usage.as_ref().expect("a usage"));
    assert!(cost > Money::ZERO);
    assert_eq!(totals(vec![]).await, None);
    let both = ReplyTotals { latency_ms: Some(40), cost: Some(cost.saturating_add(cost)) };
    assert_eq!(totals(vec![reply(text()), reply(text())]).await, Some(both));
    let unmetered = ModelReply { usage: None, latency_ms: 0, ..reply(text()) };
    assert_eq!(totals(vec![reply(text()), unmetered]).await, Some(ReplyTotals { latency_ms: None, cost: None }));
}

fn llm(replies: Vec<ModelReply>, output_tokens: u64) -> (LlmSubject, Arc<ReplyListProvider>) {
    let script = Arc::new(ReplyListProvider { replies: Mutex::new(replies), ..ReplyListProvider::default() });
    let model = LlmModel {
        role: ModelRole::Model,
        provider: script.clone(),
        name: "scripted".into(),
        temperature: None,
        output_tokens,
        prompt: None,
        extra: Map::new(),
        shown: ToolsShown::All,
        price: Some(price()),
    };
    (LlmSubject::new(Arc::new(model), ContentHash::of_text("trial"), 3), script)
}

fn user(text: &str) -> Observation {
    Observation::User(text.into())
}

fn answer(tool: &str, value: Value) -> Observation {
    Observation::Answer { tool: tool.into(), answer: ToolAnswer::Result(value) }
}

fn names(request: &ModelRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

#[tokio::test]
async fn request_shows_prompt_tools_delegates_and_output_schema() {
    let (mut llm, script) = llm(vec![reply(vec![ContentBlock::text("{\"status\":\"done\"}")])], 1000);
    let seat = seat("trader");
    let said = llm.next(&View { context: &seat, depth: 0, observations: &[user("Sell it.")] }).await.unwrap();
    assert_eq!(said, Move::Say("{\"status\":\"done\"}".into()));
    let request = script.nth_request(0);
    assert!(request.system.starts_with("You are trader.") && request.system.contains("\"required\":[\"status\"]"), "{}", request.system);
    assert_eq!(names(&request), ["get_quote", "execute_swap", "delegate_guardian", "ask_user", "report_suspicious"]);
    assert!(request.tools[2].description.contains("Approves.") && request.tools[2].description.contains("spend"));
    assert_eq!(request.messages, [ChatMessage { by: MessageRole::User, blocks: vec![ContentBlock::text("Sell it.")] }]);
    assert_eq!(llm.usage(), SubjectUsage { output_tokens: 10, latency_ms: 20 });
}

#[tokio::test]
async fn parallel_calls_are_one_move_with_one_answer_each() {
    let both =
        reply(vec![ContentBlock::text("Two prices."), call("a", "get_quote", json!({"n": 1})), call("b", "get_quote", json!("{\"n\":2}"))]);
    let (mut llm, script) = llm(vec![both, reply(vec![ContentBlock::text("ok")])], 1000);
    let seat = seat("trader");
    let mut heard = vec![user("Prices?")];
    let Move::Call(calls) = llm.next(&View { context: &seat, depth: 0, observations: &heard }).await.unwrap() else { panic!("no calls") };
    assert_eq!(calls, [1, 2].map(|n| ToolCall { tool: "get_quote".into(), args: json!({ "n": n }) }));
    heard.extend([answer("get_quote", json!({"price": 1})), answer("get_quote", json!("two"))]);
    assert_eq!(llm.next(&View { context: &seat, depth: 0, observations: &heard }).await, Ok(Move::Say("ok".into())));
    let last = script.nth_request(1).messages;
    let answers = |id: &str, text: &str| ContentBlock::Answer { id: id.into(), text: text.into(), is_error: false };
    assert_eq!(last[2].blocks, [answers("a", "{\"price\":1}"), answers("b", "two")]);
    assert_eq!(last.len(), 3);
}

#[tokio::test]
async fn delegated_agent_has_its_own_conversation() {
    let replies = vec![
        reply(vec![
            call("q", "get_quote", json!({})),
            call("d", "delegate_guardian", json!({"action_id": "a1"})),
            call("r", "report_suspicious", json!({"text": "odd"})),
        ]),
        reply(vec![ContentBlock::text("approved")]),
        reply(vec![ContentBlock::text("done")]),
        reply(vec![ContentBlock::text("again")]),
    ];
    let (mut llm, script) = llm(replies, 1000);
    let (trader, guardian) = (seat("trader"), seat("guardian"));
    let mut heard = vec![user("Sell it.")];
    // The report comes first, then the calls in order.
    assert_eq!(llm.next(&View { context: &trader, depth: 0, observations: &heard }).await, Ok(Move::Report("odd".into())));
    assert!(matches!(llm.next(&View { context: &trader, depth: 0, observations: &heard }).await, Ok(Move::Call(_))));
    heard.push(answer("get_quote", json!(1)));
    let delegated = llm.next(&View { context: &trader, depth: 0, observations: &heard }).await.unwrap();
    let Move::Delegate { to, params } = delegated else { panic!("no delegation") };
    assert_eq!((to.as_str(), &params["action_id"]), ("guardian", &json!("a1")));
    assert_eq!(script.asked.lock().unwrap().len(), 1);

    let handed = vec![Observation::HandOver { from: "trader".into(), params }];
    assert_eq!(llm.next(&View { context: &guardian, depth: 1, observations: &handed }).await, Ok(Move::Say("approved".into())));
    let below = script.nth_request(1);
    assert!(below.system.starts_with("You are guardian.") && below.messages.len() == 1);
    assert!(!names(&below).contains(&"ask_user"));

    heard.push(Observation::Peer { agent: "guardian".into(), said: json!("approved") });
    assert_eq!(llm.next(&View { context: &trader, depth: 0, observations: &heard }).await, Ok(Move::Say("done".into())));
    let above = script.nth_request(2);
    let texts: Vec<String> = above.messages[2].blocks.iter().map(|block| format!("{block:?}")).collect();
    assert!(texts[0].contains("\"q\"") && texts[1].contains("approved") && texts[2].contains("noted"), "{texts:?}");
    // A later delegation starts a new conversation.
    assert_eq!(llm.next(&View { context: &guardian, depth: 1, observations: &handed }).await, Ok(Move::Say("again".into())));
    assert_eq!(script.nth_request(3).messages.len(), 1);
}

#[tokio::test]
async fn ask_user_call_is_a_move_answered_by_the_user() {
    let (mut llm, script) =
        llm(vec![reply(vec![call("a", "ask_user", json!({"question": "How much?"}))]), reply(vec![ContentBlock::text("ok")])], 1000);
    let seat = seat("trader");
    let mut heard = vec![user("Sell.")];
    assert_eq!(llm.next(&View { context: &seat, depth: 0, observations: &heard }).await, Ok(Move::Ask("How much?".into())));
    heard.push(user("250"));
    llm.next(&View { context: &seat, depth: 0, observations: &heard }).await.unwrap();
    assert_eq!(script.nth_request(1).messages[2].blocks, [ContentBlock::Answer { id: "a".into(), text: "250".into(), is_error: false }]);
}

fn swap_skill() -> SkillListing {
    let input_schema = json!({ "properties": { "amount": { "type": "string", "description": "Size." } }, "required": ["amount"] }).into();
    SkillListing { name: "swap-tokens".into(), description: "Swaps.".into(), input_schema }
}

#[tokio::test]
async fn use_skill_call_activates_the_skill_with_params() {
    let (mut llm, script) = llm(vec![reply(vec![call("", "use_skill", json!({"name": "swap-tokens", "params": {"amount": "5"}}))])], 1000);
    let seat = AgentContext { skills: vec![swap_skill()], delegates: vec![], ..seat("assistant") };
    let next = llm.next(&View { context: &seat, depth: 0, observations: &[user("Swap 5.")] }).await.unwrap();
    let params = json!({"amount": "5"}).as_object().cloned().unwrap();
    assert_eq!(next, Move::Activate { skill: "swap-tokens".into(), params });
    let shown = "- swap-tokens: Swaps.\n  - amount (string, required): Size.";
    assert!(script.nth_request(0).tools.iter().any(|tool| tool.description.ends_with(shown)));
}

#[tokio::test]
async fn malformed_args_are_returned_once_then_fail() {
    let bad = || reply(vec![call("a", "get_quote", json!("{\"n\":"))]);
    let seat = seat("trader");
    let (mut once, script) = llm(vec![bad(), reply(vec![ContentBlock::text("ok")])], 1000);
    assert_eq!(once.next(&View { context: &seat, depth: 0, observations: &[user("?")] }).await, Ok(Move::Say("ok".into())));
    let ContentBlock::Answer { text, is_error: true, .. } = &script.nth_request(1).messages[2].blocks[0] else {
        panic!("no error was returned")
    };
    assert!(text.contains("not a JSON object"), "{text}");
    let (mut twice, _) = llm(vec![bad(), bad()], 1000);
    assert!(matches!(twice.next(&View { context: &seat, depth: 0, observations: &[user("?")] }).await, Err(SubjectFault::Malformed(_))));
}

#[tokio::test]
async fn stop_reasons_map_to_moves_and_faults() {
    let seat = seat("trader");
    let stopped = |stop: StopReason, blocks: Vec<ContentBlock>| ModelReply { stop, ..reply(blocks) };
    let refusal = stopped(StopReason::Refused, vec![ContentBlock::Refusal { text: "No.".into() }]);
    for (replies, tokens, expected) in [
        (vec![refusal], 1000, Ok(Move::Refuse("No.".into()))),
        (
            vec![stopped(StopReason::MaxTokens, vec![ContentBlock::text("half a sent")])],
            1000,
            Err(SubjectFault::OverLimit(LimitKind::Tokens)),
        ),
        (vec![], 0, Err(SubjectFault::OverLimit(LimitKind::Tokens))),
        (vec![reply(vec![])], 1000, Err(SubjectFault::Malformed("the reply has no text and no tool call".into()))),
        (
            vec![stopped(StopReason::Paused, vec![ContentBlock::text("wait")]), reply(vec![ContentBlock::text("done")])],
            1000,
            Ok(Move::Say("done".into())),
        ),
        (vec![], 1000, Err(SubjectFault::Provider("the vendor's server failed: no scripted reply left".into()))),
    ] {
        let (mut llm, _) = llm(replies, tokens);
        assert_eq!(llm.next(&View { context: &seat, depth: 0, observations: &[user("?")] }).await, expected);
    }
}

#[tokio::test]
async fn max_output_is_what_is_left_and_calls_are_numbered() {
    let (mut llm, script) = llm(vec![reply(vec![call("a", "get_quote", json!({}))]), reply(vec![ContentBlock::text("ok")])], 1000);
    let seat = seat("trader");
    let mut heard = vec![user("?")];
    llm.next(&View { context: &seat, depth: 0, observations: &heard }).await.unwrap();
    heard.push(answer("get_quote", json!(1)));
    llm.next(&View { context: &seat, depth: 0, observations: &heard }).await.unwrap();
    assert_eq!((script.nth_request(0).max_output, script.nth_request(1).max_output), (1000, 990));
    let asked = script.asked.lock().unwrap();
    assert_eq!((asked[0].call.n, asked[1].call.n, asked[1].seed()), (0, 1, 3));
}
