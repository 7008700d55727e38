//! Viewer: an HTTP server on loopback that shows stored runs and changes nothing.

mod access;
mod attack_cache;
mod comparison;
mod filter_query;
mod indexer;
mod live;
mod routes;
mod run_data;
mod snippet;
mod sources;
mod store_pool;
mod trial_search;

pub use access::ViewerSecrets;
pub use sources::{ViewerReports, ViewerSources};

use crate::connections::{ConnectionLimits, accept};
use access::AccessRules;
use attack_cache::AttackCache;
use indexer::start_indexer;
use model::Workspace;
use routes::router;
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use store::StoredRun;
use store_pool::StorePool;
use tokio::net::TcpListener;

/// State of the server.
pub(crate) struct ViewerState {
    workspace: Arc<Workspace>,
    label: String,
    stores: StorePool,
    reports: Arc<dyn ViewerReports>,
    access: AccessRules,
    attacks: AttackCache,
}

impl ViewerState {
    /// Returns the workspace that has a case of a run, if any has it.
    fn workspace_with(&self, run: &StoredRun, case: &str) -> Arc<Workspace> {
        if self.workspace.case(case).is_some() { self.workspace.clone() } else { self.reports.run_workspace(run) }
    }
}

/// Bounds of the server: browsers open six connections each.
const LIMITS: ConnectionLimits = ConnectionLimits { connections: 64, stall: Duration::from_secs(5), is_http1: true };

/// Server that is bound to its port and does not answer yet.
#[derive(Debug)]
pub struct ViewerServer {
    listener: TcpListener,
    address: SocketAddr,
}

impl ViewerServer {
    /// Binds a port of the loopback interface; 0 for a free one.
    pub async fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until `stop` ends.
    pub async fn serve(
        self,
        sources: ViewerSources,
        secrets: ViewerSecrets,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let ViewerSources { workspace, label, reports } = sources;
        let access = AccessRules::new(secrets, self.address.port());
        let stores = StorePool::new(reports.clone());
        let state = Arc::new(ViewerState { workspace, label, stores, reports, access, attacks: AttackCache::default() });
        start_indexer(Arc::downgrade(&state))?;
        tokio::select! {
            () = accept(self.listener, router(state), None, LIMITS) => {}
            () = stop => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
