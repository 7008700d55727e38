//! Viewer: an HTTP server on loopback that shows stored runs and changes nothing.

mod access;
mod comparison;
mod live;
mod routes;
mod run_data;
mod store_pool;

pub use access::ViewerSecrets;
pub use store_pool::StoreOpener;

use access::AccessRules;
use model::Workspace;
use routes::router;
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use store_pool::StorePool;
use tokio::net::TcpListener;

/// Everything the pages are made from.
pub struct ViewerSources {
    pub workspace: Arc<Workspace>,
    /// Name of the workspace for people.
    pub label: String,
    pub open_store: StoreOpener,
}

impl std::fmt::Debug for ViewerSources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ViewerSources").field("label", &self.label).finish_non_exhaustive()
    }
}

/// State of the server.
pub(crate) struct ViewerState {
    workspace: Arc<Workspace>,
    label: String,
    stores: StorePool,
    access: AccessRules,
}

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
        let ViewerSources { workspace, label, open_store } = sources;
        let access = AccessRules::new(secrets, self.address.port());
        let state = Arc::new(ViewerState { workspace, label, stores: StorePool::new(open_store), access });
        axum::serve(self.listener, router(state)).with_graceful_shutdown(stop).await
    }
}

#[cfg(test)]
mod tests;
