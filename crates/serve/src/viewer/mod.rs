//! Viewer: an HTTP server on loopback that shows stored runs and changes nothing.

mod access;
mod comparison;
mod filter_query;
mod indexer;
mod kept_reports;
mod live;
mod routes;
mod run_data;
mod snippet;
mod sources;
mod store_pool;
mod trial_search;

pub use access::ViewerSecrets;
pub use kept_reports::keep_attacks;
pub use sources::{StoredSide, ViewerReports, ViewerSources};

use crate::connections::{ConnectionLimits, accept};
use access::AccessRules;
use indexer::start_indexer;
use model::Workspace;
use model::suite::Case;
use routes::router;
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
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
    /// Number of cases that should exercise each gate, counted for the first page that shows it.
    gate_cases: OnceLock<BTreeMap<String, usize>>,
}

impl ViewerState {
    /// Returns a case of a run: of the workspace, of the files of the run, or attacked.
    fn run_case(&self, run: &StoredRun, case: &str) -> Option<Case> {
        self.workspace.case(case).cloned().or_else(|| self.reports.run_case(run, case))
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
        let state = Arc::new(ViewerState { workspace, label, stores, reports, access, gate_cases: OnceLock::new() });
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
