//! Fuzz targets of the parsers of outside input, for cargo-fuzz. The tests of the program run the same functions without it.

mod targets;

pub use targets::{FuzzTarget, TARGETS};

/// Runs a target by name.
///
/// # Panics
/// If the target panics, or there is none.
pub fn run(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    (target.run)(bytes);
}
