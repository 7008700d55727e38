//! The generated files for CI systems, executed: every job in order, in a scratch repository, with models and downloads on loopback.

mod expression;
mod github;
mod github_runner;
mod gitlab;
mod gitlab_runner;
mod scratch;
