//! Provider for replay mode; every request fails.

use super::Provider;
use super::chat::{ModelCall, ModelReply};
use super::fault::{FaultKind, ProviderFault};
use super::tool_names::VendorLimits;
use async_trait::async_trait;

#[derive(Debug, Clone, Copy)]
pub(super) struct OfflineProvider(pub(super) VendorLimits);

#[async_trait]
impl Provider for OfflineProvider {
    fn vendor_limits(&self) -> VendorLimits {
        self.0
    }

    async fn ask(&self, _: &ModelCall) -> Result<ModelReply, ProviderFault> {
        Err(ProviderFault::new(FaultKind::NotRecorded, "this run uses recordings only"))
    }
}
