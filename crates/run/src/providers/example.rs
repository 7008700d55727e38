//! Questions, replies and a vendor without a network, for the tests of the wrappers.

use super::Provider;
use super::fault::{FaultKind, ProviderFault};
use super::names::Accepts;
use super::talk::{Ask, Block, By, Choice, Message, Reply, Request, Stop, Usage};
use crate::ledger::{CallId, Role};
use async_trait::async_trait;
use model::Hash;
use serde_json::Map;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) const ACCEPTS: Accepts = Accepts { max_tools: None, name_len: 64 };

pub(crate) fn ask(text: &str) -> Ask {
    let call = CallId { trial: Hash::of_text(text), role: Role::Subject, n: 0 };
    let request = Request {
        model: "example".into(),
        system: "Be brief.".into(),
        messages: vec![Message { by: By::User, blocks: vec![Block::text(text)] }],
        tools: Arc::from([]),
        choice: Choice::Free,
        temperature: None,
        max_output: 100,
        extra: Map::new(),
    };
    Ask::new(call, 7, request)
}

pub(crate) fn reply(text: &str) -> Reply {
    Reply {
        blocks: vec![Block::text(text)],
        stop: Stop::End,
        usage: Some(Usage { input: 10, output: 5, ..Usage::default() }),
        model: "example".into(),
        request_id: None,
        latency_ms: 50,
        rest: Map::new(),
    }
}

/// Plays its answers in order, the last one for ever.
#[derive(Debug)]
pub(crate) struct Scripted {
    answers: Mutex<VecDeque<Result<&'static str, FaultKind>>>,
    asked: Mutex<Vec<Ask>>,
}

impl Scripted {
    pub(crate) fn new(answers: Vec<Result<&'static str, FaultKind>>) -> Self {
        Self { answers: Mutex::new(answers.into()), asked: Mutex::default() }
    }

    pub(crate) fn answering(text: &'static str) -> Self {
        Self::new(vec![Ok(text)])
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

#[async_trait]
impl Provider for Arc<Scripted> {
    fn accepts(&self) -> Accepts {
        ACCEPTS
    }

    async fn ask(&self, ask: &Ask) -> Result<Reply, ProviderFault> {
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

pub(crate) fn with_system(text: &str, system: &str) -> Ask {
    let plain = ask(text);
    Ask::new(plain.call.clone(), plain.seed(), Request { system: system.to_owned(), ..plain.request().clone() })
}
