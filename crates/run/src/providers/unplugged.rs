//! Nobody at the other end: what stands behind recordings that must be enough. It cannot open a connection.

use super::Provider;
use super::fault::{FaultKind, ProviderFault};
use super::names::Accepts;
use super::talk::{Ask, Reply};
use async_trait::async_trait;

#[derive(Debug, Clone, Copy)]
pub(super) struct Unplugged(pub(super) Accepts);

#[async_trait]
impl Provider for Unplugged {
    fn accepts(&self) -> Accepts {
        self.0
    }

    async fn ask(&self, _: &Ask) -> Result<Reply, ProviderFault> {
        Err(ProviderFault::new(FaultKind::NotRecorded, "this run plays recordings alone"))
    }
}
