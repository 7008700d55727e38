//! Our Solidity contracts on an EVM in memory: what each does, how each refuses, and what must hold over any sequence.

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
