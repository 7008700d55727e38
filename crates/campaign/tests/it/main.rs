//! Integration tests of whole runs: canaries, constant policies, degenerate agents, judging, provider faults and a thin slice from plan to record.

mod canary;
mod constant_policies;
mod degenerate_agents;
mod effects;
mod end_to_end;
mod external_scorers;
mod hostile_bill;
mod judging;
mod provider_faults;
mod red_team;
mod scripted_agents;
mod selftest;
mod write_tools;
