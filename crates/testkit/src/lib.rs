//! Test support of all crates: the workspaces of the repository, a model vendor on loopback and a PostgreSQL server. A dev-dependency only.
//!
//! Depends on `model` only, so that unit tests of other crates can use it without linking their own crate twice.

#[cfg(feature = "client")]
pub mod bare_client;
pub mod chat;
pub mod faults;
mod hostile_input;
mod loopback;
mod postgres;
mod reply;
mod secret_echoes;
pub mod trader;
mod workspaces;

pub use hostile_input::hostile_input;
pub use loopback::{LoopbackServer, ReceivedRequest};
pub use postgres::PostgresServer;
pub use reply::{ReplyBody, VendorReply};
pub use secret_echoes::{SecretEcho, find_secret_trace, secret_echoes};
pub use workspaces::{load_workspace, minimal_files, minimal_workspace, reference_files, reference_workspace};
