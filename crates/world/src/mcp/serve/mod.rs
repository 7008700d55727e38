//! MCP servers for external agents: list the tools of an agent and execute its calls in the world, which records them.

mod agent_toolset;
mod line_limit;
mod move_outcome;
mod move_tools;
mod parallel_calls;
mod relay_server;
mod transport;
mod world_lock;
mod world_server;

pub use agent_toolset::AgentToolset;
pub use move_outcome::MoveOutcome;
pub use relay_server::{PendingMove, RelayServer};
pub use transport::{serve_in_memory, serve_streams};
pub use world_lock::{SharedWorld, WorldLock};
pub use world_server::WorldServer;
