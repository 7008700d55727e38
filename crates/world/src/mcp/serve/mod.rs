//! The world as an MCP server: an external agent lists the tools of its seat and calls them; the world records all of it.

mod extras;
mod outcome;
mod relay;
mod seat;
mod transport;
mod world;
mod world_lock;

pub use outcome::MoveOutcome;
pub use relay::{PendingMove, RelayServer};
pub use seat::Seat;
pub use transport::{in_memory, on_streams};
pub use world::WorldServer;
pub use world_lock::{SharedWorld, WorldLock};
