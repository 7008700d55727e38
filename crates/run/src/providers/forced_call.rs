//! Fallback for vendors that reject a forced tool choice, as reasoning models do: lists only the forced tool and asks for the call in
//! the prompt. The caller must check that the tool was called.

use super::Provider;
use super::chat::{ModelCall, ModelReply, ModelRequest, ToolChoice};
use super::fault::{FaultKind, ProviderFault};
use super::tool_names::VendorLimits;
use async_trait::async_trait;

#[derive(Debug)]
pub(super) struct ForcedCallProvider<P> {
    pub(super) inner: P,
}

#[async_trait]
impl<P: Provider> Provider for ForcedCallProvider<P> {
    fn vendor_limits(&self) -> VendorLimits {
        self.inner.vendor_limits()
    }

    async fn ask(&self, ask: &ModelCall) -> Result<ModelReply, ProviderFault> {
        let fault = match self.inner.ask(ask).await {
            Err(fault) if fault.kind == FaultKind::Rejected && fault.why.contains("tool_choice") => fault,
            answered => return answered,
        };
        match &ask.request().choice {
            ToolChoice::Forced(tool) => self.inner.ask(&with_single_tool(ask, tool)).await,
            ToolChoice::Free => Err(fault),
        }
    }
}

fn with_single_tool(ask: &ModelCall, tool: &str) -> ModelCall {
    let request = ask.request();
    let tools = request.tools.iter().filter(|listing| listing.name == tool).cloned().collect();
    let system = format!("{}\n\nAnswer by calling {tool} exactly once.", request.system);
    ask.with_request(ModelRequest { tools, system, choice: ToolChoice::Free, ..request.clone() })
}
