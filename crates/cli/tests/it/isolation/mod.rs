//! External agents as spies: what an agent, another user of the machine and a killed evaluator leave readable or running.

mod bubblewrap;
mod endings;
mod no_landlock;
mod other_user;
mod processes;
mod second_start;
mod spy;
pub(crate) mod unprivileged;
