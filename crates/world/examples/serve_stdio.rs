//! Serves a small world over MCP on stdin and stdout: `cargo run -p bardo-eval-world --example serve_stdio`.
//! Prints the events to stderr as JSON lines when the client has closed its end.
#![expect(clippy::print_stderr, reason = "stdout is used by the protocol")]

#[path = "../tests/it/edges/small.rs"]
mod small;

use bardo_eval_world::World;
use bardo_eval_world::mcp::serve::{WorldLock, WorldServer, serve_streams};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let world = small::SmallWorld::shared().await;
    let lock = WorldLock::new(small::as_shared(&world));
    let server = WorldServer::new(lock.clone(), small::toolset(), None)?;
    serve_streams(server, tokio::io::stdin(), tokio::io::stdout()).await?;
    lock.close();
    for event in world.lock().await.take_events() {
        eprintln!("{}", serde_json::to_string(&event)?);
    }
    Ok(())
}
