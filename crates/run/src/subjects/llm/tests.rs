//! The tool loop against a model that answers from a script: what it is shown, and what its replies become.

use super::*;
use crate::providers::{Accepts, Args, Block, By, Message, Provider, Usage};
use model::Listing;
use model::seat::{Colleague, Heard};
use model::transcript::{ToolAnswer, ToolCall};
use serde_json::json;
use std::sync::Mutex;

/// Answers from a list and keeps what it was asked.
#[derive(Default)]
struct Script {
    replies: Mutex<Vec<Reply>>,
    asked: Mutex<Vec<Ask>>,
}

#[async_trait]
impl Provider for Script {
    fn accepts(&self) -> Accepts {
        Accepts { max_tools: None, name_len: 64 }
    }

    async fn ask(&self, ask: &Ask) -> Result<Reply, ProviderFault> {
        self.asked.lock().unwrap().push(ask.clone());
        let mut replies = self.replies.lock().unwrap();
        if replies.is_empty() {
            return Err(ProviderFault::new(FaultKind::Server, "the script is over"));
        }
        Ok(replies.remove(0))
    }
}

impl Script {
    fn asked(&self, n: usize) -> Request {
        self.asked.lock().unwrap()[n].request().clone()
    }
}

fn reply(blocks: Vec<Block>) -> Reply {
    let stop = if blocks.iter().any(|block| matches!(block, Block::Call { .. })) { Stop::Calls } else { Stop::End };
    let usage = Some(Usage { input: 100, output: 10, ..Usage::default() });
    Reply { blocks, stop, usage, model: "scripted".into(), request_id: None, latency_ms: 20, rest: Map::new() }
}

fn call(id: &str, tool: &str, args: Value) -> Block {
    Block::Call { id: id.into(), tool: tool.into(), args: Args::read(args), rest: Map::new() }
}

fn seat(agent: &str) -> Seat {
    let tool =
        |name: &str| Listing { name: name.into(), description: format!("Does {name}."), input_schema: json!({ "type": "object" }).into() };
    Seat {
        agent: agent.into(),
        prompt: format!("You are {agent}."),
        tools: vec![tool("get_quote"), tool("execute_swap")],
        skills: vec![],
        delegates: vec!["guardian".into()],
        colleagues: vec![Colleague { name: "guardian".into(), role: "Approves.".into(), needs: vec!["spend".into()] }],
        output: Some(json!({ "type": "object", "required": ["status"] }).into()),
    }
}

fn llm(replies: Vec<Reply>, output_tokens: u64) -> (Llm, Arc<Script>) {
    let script = Arc::new(Script { replies: Mutex::new(replies), ..Script::default() });
    let model = Model {
        provider: script.clone(),
        name: "scripted".into(),
        temperature: None,
        output_tokens,
        prompt: None,
        extra: Map::new(),
        shown: ToolsShown::All,
    };
    (Llm::new(Arc::new(model), Hash::of_text("trial"), 3), script)
}

fn user(text: &str) -> Heard {
    Heard::User(text.into())
}

fn answer(tool: &str, value: Value) -> Heard {
    Heard::Answer { tool: tool.into(), answer: ToolAnswer::Result(value) }
}

fn names(request: &Request) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

#[tokio::test]
async fn an_agent_is_shown_its_prompt_its_tools_its_edges_and_the_shape_of_its_answer() {
    let (mut llm, script) = llm(vec![reply(vec![Block::text("{\"status\":\"done\"}")])], 1000);
    let seat = seat("trader");
    let said = llm.next(&View { seat: &seat, depth: 0, heard: &[user("Sell it.")] }).await.unwrap();
    assert_eq!(said, Move::Say("{\"status\":\"done\"}".into()));
    let request = script.asked(0);
    assert!(request.system.starts_with("You are trader.") && request.system.contains("\"required\":[\"status\"]"), "{}", request.system);
    assert_eq!(names(&request), ["get_quote", "execute_swap", "delegate_guardian", "ask_user", "report_suspicious"]);
    assert!(request.tools[2].description.contains("Approves.") && request.tools[2].description.contains("spend"));
    assert_eq!(request.messages, [Message { by: By::User, blocks: vec![Block::text("Sell it.")] }]);
    assert_eq!(llm.used(), Used { output_tokens: 10, latency_ms: 20 });
}

#[tokio::test]
async fn calls_made_at_once_are_one_move_and_each_gets_its_answer() {
    let both = reply(vec![Block::text("Two prices."), call("a", "get_quote", json!({"n": 1})), call("b", "get_quote", json!("{\"n\":2}"))]);
    let (mut llm, script) = llm(vec![both, reply(vec![Block::text("ok")])], 1000);
    let seat = seat("trader");
    let mut heard = vec![user("Prices?")];
    let Move::Call(calls) = llm.next(&View { seat: &seat, depth: 0, heard: &heard }).await.unwrap() else { panic!("no calls") };
    assert_eq!(calls, [1, 2].map(|n| ToolCall { tool: "get_quote".into(), args: json!({ "n": n }) }));
    heard.extend([answer("get_quote", json!({"price": 1})), answer("get_quote", json!("two"))]);
    assert_eq!(llm.next(&View { seat: &seat, depth: 0, heard: &heard }).await, Ok(Move::Say("ok".into())));
    let last = script.asked(1).messages;
    let answers = |id: &str, text: &str| Block::Answer { id: id.into(), text: text.into(), is_error: false };
    assert_eq!(last[2].blocks, [answers("a", "{\"price\":1}"), answers("b", "two")]);
    assert_eq!(last.len(), 3);
}

#[tokio::test]
async fn a_delegated_agent_has_its_own_conversation_and_hands_its_answer_back() {
    let replies = vec![
        reply(vec![
            call("q", "get_quote", json!({})),
            call("d", "delegate_guardian", json!({"action_id": "a1"})),
            call("r", "report_suspicious", json!({"text": "odd"})),
        ]),
        reply(vec![Block::text("approved")]),
        reply(vec![Block::text("done")]),
        reply(vec![Block::text("again")]),
    ];
    let (mut llm, script) = llm(replies, 1000);
    let (trader, guardian) = (seat("trader"), seat("guardian"));
    let mut heard = vec![user("Sell it.")];
    // The warning first, then the calls in the order they were made.
    assert_eq!(llm.next(&View { seat: &trader, depth: 0, heard: &heard }).await, Ok(Move::Report("odd".into())));
    assert!(matches!(llm.next(&View { seat: &trader, depth: 0, heard: &heard }).await, Ok(Move::Call(_))));
    heard.push(answer("get_quote", json!(1)));
    let delegated = llm.next(&View { seat: &trader, depth: 0, heard: &heard }).await.unwrap();
    let Move::Delegate { to, params } = delegated else { panic!("no delegation") };
    assert_eq!((to.as_str(), &params["action_id"]), ("guardian", &json!("a1")));
    assert_eq!(script.asked.lock().unwrap().len(), 1);

    let handed = vec![Heard::HandOver { from: "trader".into(), params }];
    assert_eq!(llm.next(&View { seat: &guardian, depth: 1, heard: &handed }).await, Ok(Move::Say("approved".into())));
    let below = script.asked(1);
    assert!(below.system.starts_with("You are guardian.") && below.messages.len() == 1);
    assert!(!names(&below).contains(&"ask_user"));

    heard.push(Heard::Peer { agent: "guardian".into(), said: json!("approved") });
    assert_eq!(llm.next(&View { seat: &trader, depth: 0, heard: &heard }).await, Ok(Move::Say("done".into())));
    let above = script.asked(2);
    let texts: Vec<String> = above.messages[2].blocks.iter().map(|block| format!("{block:?}")).collect();
    assert!(texts[0].contains("\"q\"") && texts[1].contains("approved") && texts[2].contains("noted"), "{texts:?}");
    // The next time the guardian is asked, it remembers nothing.
    assert_eq!(llm.next(&View { seat: &guardian, depth: 1, heard: &handed }).await, Ok(Move::Say("again".into())));
    assert_eq!(script.asked(3).messages.len(), 1);
}

#[tokio::test]
async fn asking_the_user_is_a_move_and_the_answer_is_the_answer_to_the_call() {
    let (mut llm, script) =
        llm(vec![reply(vec![call("a", "ask_user", json!({"question": "How much?"}))]), reply(vec![Block::text("ok")])], 1000);
    let seat = seat("trader");
    let mut heard = vec![user("Sell.")];
    assert_eq!(llm.next(&View { seat: &seat, depth: 0, heard: &heard }).await, Ok(Move::Ask("How much?".into())));
    heard.push(user("250"));
    llm.next(&View { seat: &seat, depth: 0, heard: &heard }).await.unwrap();
    assert_eq!(script.asked(1).messages[2].blocks, [Block::Answer { id: "a".into(), text: "250".into(), is_error: false }]);
}

#[tokio::test]
async fn skills_are_activated_by_name_with_their_parameters() {
    let (mut llm, script) = llm(vec![reply(vec![call("", "use_skill", json!({"name": "swap-tokens", "params": {"amount": "5"}}))])], 1000);
    let seat = Seat { skills: vec![("swap-tokens".into(), "Swaps.".into())], delegates: vec![], ..seat("assistant") };
    let next = llm.next(&View { seat: &seat, depth: 0, heard: &[user("Swap 5.")] }).await.unwrap();
    let params = json!({"amount": "5"}).as_object().cloned().unwrap();
    assert_eq!(next, Move::Activate { skill: "swap-tokens".into(), params });
    assert!(script.asked(0).tools.iter().any(|tool| tool.description.contains("- swap-tokens: Swaps.")));
}

#[tokio::test]
async fn malformed_arguments_are_handed_back_once_and_then_are_a_malformed_move() {
    let bad = || reply(vec![call("a", "get_quote", json!("{\"n\":"))]);
    let seat = seat("trader");
    let (mut once, script) = llm(vec![bad(), reply(vec![Block::text("ok")])], 1000);
    assert_eq!(once.next(&View { seat: &seat, depth: 0, heard: &[user("?")] }).await, Ok(Move::Say("ok".into())));
    let Block::Answer { text, is_error: true, .. } = &script.asked(1).messages[2].blocks[0] else { panic!("no error was handed back") };
    assert!(text.contains("no JSON object"), "{text}");
    let (mut twice, _) = llm(vec![bad(), bad()], 1000);
    assert!(matches!(twice.next(&View { seat: &seat, depth: 0, heard: &[user("?")] }).await, Err(SubjectFault::Malformed(_))));
}

#[tokio::test]
async fn refusals_limits_and_silence_have_their_own_endings() {
    let seat = seat("trader");
    let stopped = |stop: Stop, blocks: Vec<Block>| Reply { stop, ..reply(blocks) };
    let refusal = stopped(Stop::Refused, vec![Block::Refusal { text: "No.".into() }]);
    for (replies, tokens, expected) in [
        (vec![refusal], 1000, Ok(Move::Refuse("No.".into()))),
        (vec![stopped(Stop::MaxTokens, vec![Block::text("half a sent")])], 1000, Err(SubjectFault::OverLimit(Limit::Tokens))),
        (vec![], 0, Err(SubjectFault::OverLimit(Limit::Tokens))),
        (vec![reply(vec![])], 1000, Err(SubjectFault::Malformed("the reply says nothing and calls nothing".into()))),
        (vec![stopped(Stop::Paused, vec![Block::text("wait")]), reply(vec![Block::text("done")])], 1000, Ok(Move::Say("done".into()))),
        (vec![], 1000, Err(SubjectFault::Provider("the vendor's server failed: the script is over".into()))),
    ] {
        let (mut llm, _) = llm(replies, tokens);
        assert_eq!(llm.next(&View { seat: &seat, depth: 0, heard: &[user("?")] }).await, expected);
    }
}

#[tokio::test]
async fn the_room_for_output_is_what_the_trial_has_left_and_calls_are_numbered() {
    let (mut llm, script) = llm(vec![reply(vec![call("a", "get_quote", json!({}))]), reply(vec![Block::text("ok")])], 1000);
    let seat = seat("trader");
    let mut heard = vec![user("?")];
    llm.next(&View { seat: &seat, depth: 0, heard: &heard }).await.unwrap();
    heard.push(answer("get_quote", json!(1)));
    llm.next(&View { seat: &seat, depth: 0, heard: &heard }).await.unwrap();
    assert_eq!((script.asked(0).max_output, script.asked(1).max_output), (1000, 990));
    let asked = script.asked.lock().unwrap();
    assert_eq!((asked[0].call.n, asked[1].call.n, asked[1].seed()), (0, 1, 3));
}
