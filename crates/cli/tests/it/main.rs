//! Tests of the program from outside: arguments and files in; exit code, standard output and standard error out.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
#![expect(clippy::disallowed_methods, reason = "tests prepare files, read results and measure the program they started")]

mod agent_servers;
mod agents;
mod any_agent;
mod broken;
mod chat;
mod ci;
mod ci_jobs;
mod compare;
mod cost;
mod crash;
mod export;
mod formats;
mod golden;
mod guard;
mod harness;
mod help;
mod hostile;
mod import;
mod init;
#[cfg(target_os = "linux")]
mod interrupts;
mod isolation;
mod judge;
mod layering;
mod logs;
mod messages;
mod older_tools;
mod one_truth;
mod output_file;
mod own_measures;
mod own_nodes;
mod own_tools;
mod promptfoo;
mod published;
mod recordings;
mod red_team;
mod reference_workspace;
mod review_roles;
mod run;
mod runs;
mod score;
mod scripted;
mod secrets;
mod show;
mod skill_agents;
mod smoke;
mod snapshot;
mod spec_bounds;
mod thefts;
mod tier_judge;
mod world;
