#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bardo_eval_fuzz::run("agent_replies", bytes));
