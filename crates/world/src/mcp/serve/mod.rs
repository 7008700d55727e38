//! The world as an MCP server: a finished agent lists what its seat offers and acts; all of it is recorded on our side.

mod carry;
mod door;
mod extras;
mod relay;
mod seat;
mod world;

pub use carry::{in_memory, on_streams};
pub use door::{Door, SharedWorld};
pub use relay::{RelayServer, Told, Wish};
pub use seat::Seat;
pub use world::WorldServer;
