//! Runs JavaScript of others: assertions, transforms, providers and templates of promptfoo configs. The code runs in QuickJS, in a child
//! process of our own binary that has no environment, and is killed at its deadline. Each script has a realm of its own, so that nothing
//! is shared between tests; only templates share one, and scripts that cannot change anything a frozen one.

mod body_call;
mod engine;
mod host;
mod limits;
mod pool;
mod realm;
mod request;
mod shared_realm;
mod syntax;

pub use engine::ScriptEngine;
pub use host::run_script_host;
pub use limits::ScriptLimits;
pub use pool::{ScriptError, ScriptPool};
pub use request::{FunctionCall, ScriptReply, ScriptRequest};
pub use syntax::SyntaxChecker;

/// Hidden first argument with which our binary becomes the host of scripts.
pub const SCRIPT_ARGUMENT: &str = "__script";
