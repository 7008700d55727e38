//! Integration tests of whole runs: canaries, judging, provider faults and a thin slice from plan to record.

mod canary;
mod degenerate_agents;
mod effects;
mod end_to_end;
mod judging;
mod provider_faults;
