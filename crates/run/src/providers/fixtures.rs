//! Calls, replies and a scripted provider for the tests of the wrappers.

use super::Provider;
use super::chat::{ChatMessage, ContentBlock, MessageRole, ModelCall, ModelReply, ModelRequest, StopReason, TokenUsage, ToolChoice};
use super::fault::{FaultKind, ProviderFault};
use super::tool_names::VendorLimits;
use crate::ledger::{CallId, CallRole};
use async_trait::async_trait;
use model::ContentHash;
use serde_json::Map;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) const ACCEPTS: VendorLimits = VendorLimits { max_tools: None, max_name_len: 64 };

pub(crate) fn model_call(text: &str) -> ModelCall {
    let call = CallId { trial: ContentHash::of_text(text), role: CallRole::Subject, n: 0 };
    let request = ModelRequest {
        model: "example".into(),
        system: "Be brief.".into(),
        messages: vec![ChatMessage { by: MessageRole::User, blocks: vec![ContentBlock::text(text)] }],
        tools: Arc::from([]),
        choice: ToolChoice::Free,
        temperature: None,
        max_output: 100,
        extra: Map::new(),
    };
    ModelCall::new(call, 7, request)
}

pub(crate) fn reply(text: &str) -> ModelReply {
    ModelReply {
        blocks: vec![ContentBlock::text(text)],
        stop: StopReason::End,
        usage: Some(TokenUsage { input: 10, output: 5, ..TokenUsage::default() }),
        model: "example".into(),
        request_id: None,
        latency_ms: 50,
        rest: Map::new(),
    }
}

/// Returns its answers in order and repeats the last one.
#[derive(Debug)]
pub(crate) struct ScriptedProvider {
    answers: Mutex<VecDeque<Result<&'static str, FaultKind>>>,
    asked: Mutex<Vec<ModelCall>>,
}

impl ScriptedProvider {
    pub(crate) fn new(answers: Vec<Result<&'static str, FaultKind>>) -> Self {
        Self { answers: Mutex::new(answers.into()), asked: Mutex::default() }
    }

    pub(crate) fn always(text: &'static str) -> Self {
        Self::new(vec![Ok(text)])
    }

    pub(crate) fn call_count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

#[async_trait]
impl Provider for Arc<ScriptedProvider> {
    fn vendor_limits(&self) -> VendorLimits {
        ACCEPTS
    }

    async fn ask(&self, ask: &ModelCall) -> Result<ModelReply, ProviderFault> {
        self.asked.lock().unwrap().push(ask.clone());
        tokio::time::sleep(Duration::from_millis(5)).await;
        let mut answers = self.answers.lock().unwrap();
        let next = if answers.len() > 1 { answers.pop_front() } else { answers.front().copied() };
        match next {
            Some(Ok(text)) => Ok(reply(text)),
            Some(Err(kind)) => Err(ProviderFault::new(kind, "")),
            None => panic!("the script is empty"),
        }
    }
}

pub(crate) fn model_call_with_system(text: &str, system: &str) -> ModelCall {
    let plain = model_call(text);
    ModelCall::new(plain.call.clone(), plain.seed(), ModelRequest { system: system.to_owned(), ..plain.request().clone() })
}
