//! The three ways to talk to a finished agent, with one thing in common: it is told something, and its next move comes.

use super::Host;
use super::child::{Contained, Home};
use super::http::Http;
use super::message::{self, Said};
use super::place::{PROMPT, Place};
use super::process::Process;
use super::program::Program;
use crate::subjects::SubjectFault;
use model::seat::{Heard, Seat};
use model::transcript::Move;
use model::{FinishedAgent, ProviderKind, Reached};
use serde_json::{Value, json};
use world::edges::Edges;

#[derive(Debug)]
pub(super) struct Line {
    agent: FinishedAgent,
    kind: ProviderKind,
    chains: Vec<u64>,
    hello: Value,
    /// What it has heard so far, as values and in words.
    heard: Vec<Value>,
    words: Vec<(&'static str, String)>,
    home: Option<Home>,
    open: Open,
}

#[derive(Debug)]
enum Open {
    Not,
    Process(Box<Process>),
    Http(Box<Http>),
    Program(Box<Program>),
}

impl Line {
    pub(super) fn new(agent: &FinishedAgent, kind: ProviderKind, seat: &Seat, edges: &Edges, chains: Vec<u64>) -> Self {
        let hello = message::hello(seat, edges, &chains);
        Self { agent: agent.clone(), kind, chains, hello, heard: vec![], words: vec![], home: None, open: Open::Not }
    }

    /// It is the agent's turn: everything that reached it since its last move.
    pub(super) fn tell(&mut self, host: &Host, edges: &Edges, heard: &[Heard]) -> Result<(), SubjectFault> {
        let news: Vec<Value> = heard.iter().map(message::news).collect();
        let first = self.heard.is_empty();
        self.heard.extend(news.iter().cloned());
        if self.kind == ProviderKind::Http {
            return self.post(news.len());
        }
        if self.kind == ProviderKind::Process {
            let message = if first { json!({ "hello": self.hello, "news": news }) } else { json!({ "news": news }) };
            return self.send(host, edges, &message);
        }
        self.words.extend(heard.iter().filter_map(message::in_words).map(|words| ("User", words)));
        self.start_program(host, edges)
    }

    /// Whether it is at work, as far as that can be seen; a service cannot be looked into.
    pub(super) fn is_busy(&self) -> bool {
        match &self.open {
            Open::Not | Open::Http(_) => false,
            Open::Process(process) => process.child().is_busy(),
            Open::Program(program) => program.child().is_busy(),
        }
    }

    /// May be dropped and asked again.
    pub(super) async fn hear(&mut self) -> Result<Said, SubjectFault> {
        match &mut self.open {
            Open::Not => std::future::pending().await,
            Open::Process(process) => process.hear().await,
            Open::Http(http) => http.hear().await,
            Open::Program(program) => {
                let said = program.hear().await?;
                // The next turn starts another.
                self.open = Open::Not;
                if let Some(Move::Say(words)) = &said.does {
                    self.words.push(("Assistant", words.clone()));
                }
                Ok(said)
            }
        }
    }

    fn post(&mut self, new: usize) -> Result<(), SubjectFault> {
        let Reached::Url(url) = &self.agent.reached else { return Err(unreachable()) };
        if matches!(self.open, Open::Not) {
            self.open = Open::Http(Box::new(Http::new(url)?));
        }
        // Everything every time, so that an agent need not remember; the token tells conversations apart.
        let message = json!({ "hello": self.hello, "heard": self.heard, "new": new });
        if let Open::Http(http) = &mut self.open {
            http.tell(message);
        }
        Ok(())
    }

    fn send(&mut self, host: &Host, edges: &Edges, message: &Value) -> Result<(), SubjectFault> {
        if matches!(self.open, Open::Not) {
            let (child, stdin, stdout) = self.start(host, edges, None)?;
            self.open = Open::Process(Box::new(Process::new(child, stdin, stdout)));
        }
        if let Open::Process(process) = &self.open {
            process.tell(message);
        }
        Ok(())
    }

    fn start_program(&mut self, host: &Host, edges: &Edges) -> Result<(), SubjectFault> {
        let prompt = match self.words.as_slice() {
            [(_, only)] => only.clone(),
            all => all.iter().map(|(who, words)| format!("{who}: {words}")).collect::<Vec<_>>().join("\n\n"),
        };
        let (child, stdin, stdout) = self.start(host, edges, Some(&prompt))?;
        let in_arguments = matches!(&self.agent.reached, Reached::Command(words) if words.iter().any(|word| word.contains(PROMPT)));
        let words = if in_arguments { String::new() } else { prompt };
        self.open = Open::Program(Box::new(Program::new(child, stdin, stdout, words)));
        Ok(())
    }

    fn start(&mut self, host: &Host, edges: &Edges, prompt: Option<&str>) -> Result<Started, SubjectFault> {
        let Reached::Command(command) = &self.agent.reached else { return Err(unreachable()) };
        let failed = |what: &str, error: std::io::Error| SubjectFault::Harness(format!("{what}: {error}"));
        if self.home.is_none() {
            self.home = Some(Home::new().map_err(|error| failed("no folder for the agent", error))?);
        }
        let Some(home) = &self.home else { return Err(unreachable()) };
        let place = Place { edges, chains: &self.chains, home, allowed: &self.agent.env };
        let config = place.config().map_err(|error| failed("no folder for the agent", error))?;
        let filled = place.command(&host.around, command, &config, prompt);
        let env = place.environment(&host.around, &config);
        // Its token is as good a mark as any, and no other agent has it.
        let started = Contained::start(&filled, &env, edges.token.as_str(), &home.work());
        started.map_err(|error| failed(&format!("{} cannot be started", command[0]), error))
    }
}

type Started = (Contained, tokio::process::ChildStdin, tokio::process::ChildStdout);

fn unreachable() -> SubjectFault {
    SubjectFault::Harness("the subject says neither how it is started nor where it answers".to_owned())
}
