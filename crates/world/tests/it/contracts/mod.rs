//! Solidity contract tests on an in-memory EVM: behaviour, reverts and invariants.

mod amm;
mod artifacts;
mod cage;
mod cage_positions;
mod cage_sequence;
mod cage_unheld_assets;
mod fee_burner;
mod harness;
mod identity;
mod permit2;
mod token;
mod vault;
mod venue;
