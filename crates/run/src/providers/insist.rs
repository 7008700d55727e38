//! A call that must be made, where the vendor does not let itself be forced: models that always think refuse it. Then the one tool is
//! all the model is shown, and whoever asked looks whether it was called.

use super::Provider;
use super::fault::{FaultKind, ProviderFault};
use super::names::Accepts;
use super::talk::{Ask, Choice, Reply, Request};
use async_trait::async_trait;

#[derive(Debug)]
pub(super) struct Insist<P> {
    pub(super) inner: P,
}

#[async_trait]
impl<P: Provider> Provider for Insist<P> {
    fn accepts(&self) -> Accepts {
        self.inner.accepts()
    }

    async fn ask(&self, ask: &Ask) -> Result<Reply, ProviderFault> {
        let fault = match self.inner.ask(ask).await {
            Err(fault) if fault.kind == FaultKind::Rejected && fault.why.contains("tool_choice") => fault,
            answered => return answered,
        };
        match &ask.request().choice {
            Choice::Forced(tool) => self.inner.ask(&shown(ask, tool)).await,
            Choice::Free => Err(fault),
        }
    }
}

fn shown(ask: &Ask, tool: &str) -> Ask {
    let request = ask.request();
    let tools = request.tools.iter().filter(|listing| listing.name == tool).cloned().collect();
    let system = format!("{}\n\nAnswer by calling {tool}, once.", request.system);
    ask.rephrased(Request { tools, system, choice: Choice::Free, ..request.clone() })
}
