//! Integration tests of whole runs: canaries, judging, provider faults and a thin slice from plan to record.

mod canary;
mod judging;
mod storm;
mod thin_slice;
