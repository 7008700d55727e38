//! Fuzz targets without a fuzzer: every parser of outside input reads the committed seeds and mutations of them without a panic.
//! `scripts/fuzz` runs more of them, and lets cargo-fuzz search where it is installed.

#[path = "../../../../fuzz/src/targets.rs"]
#[expect(unreachable_pub, reason = "the file is part of a library for cargo-fuzz")]
mod targets;

use model::SeededRng;
use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;
use targets::{FuzzTarget, TARGETS};
use testkit::hostile_input;

/// Mutated inputs of each target, unless `BARDO_EVAL_FUZZ_INPUTS` says otherwise.
const INPUTS: usize = 2000;
/// Variables that choose the number of inputs, the seed and one target.
const INPUTS_VARIABLE: &str = "BARDO_EVAL_FUZZ_INPUTS";
const SEED_VARIABLE: &str = "BARDO_EVAL_FUZZ_SEED";
const TARGET_VARIABLE: &str = "BARDO_EVAL_FUZZ_TARGET";

fn fuzz_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn seeds_of(target: &FuzzTarget) -> Vec<Vec<u8>> {
    let folder = fuzz_folder().join("seeds").join(target.seeds());
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

fn variable(name: &str) -> Option<usize> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

/// Runs a target on an input; on a panic, prints the input.
fn run_input(target: &FuzzTarget, bytes: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| (target.run)(bytes))).is_err() {
        let file = std::env::temp_dir().join(format!(
            "fuzz-{}-{}",
            target.name,
            model::ContentHash::of_text(&String::from_utf8_lossy(bytes)).short()
        ));
        fs::write(&file, bytes).unwrap();
        panic!("{} panics on {}: {:?}", target.name, file.display(), String::from_utf8_lossy(bytes));
    }
}

#[expect(clippy::print_stderr, reason = "scripts/fuzz shows how long each target took")]
fn fuzz(name: &str) {
    if std::env::var(TARGET_VARIABLE).is_ok_and(|only| only != name) {
        return;
    }
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let seeds = seeds_of(target);
    assert!(!seeds.is_empty(), "{name} has no seeds");
    seeds.iter().for_each(|seed| run_input(target, seed));
    let inputs = variable(INPUTS_VARIABLE).unwrap_or(INPUTS);
    let mut rng = SeededRng::new(variable(SEED_VARIABLE).unwrap_or(24) as u64);
    let started = Instant::now();
    for _ in 0..inputs {
        run_input(target, &hostile_input(&mut rng, &seeds));
    }
    eprintln!("{name}: {inputs} inputs and {} seeds in {:.1} s", seeds.len(), started.elapsed().as_secs_f64());
}

/// Defines a test for each target.
macro_rules! fuzz_tests {
    ($($name:ident,)*) => {
        $(#[test]
        fn $name() {
            fuzz(stringify!($name));
        })*

        const TESTED: &[&str] = &[$(stringify!($name)),*];
    };
}

fuzz_tests! {
    workspace_file,
    workspace_whole,
    yaml,
    rules,
    values,
    logs,
    vendor_replies,
    agent_messages,
    answers,
    tool_arguments,
    mcp,
    rpc,
    node_replies,
    recordings,
    store,
    promptfoo_config,
    promptfoo_tests,
    promptfoo_results,
    collected_traces,
    agent_replies,
    ci_reports,
}

#[test]
fn every_target_is_tested_and_has_a_program_for_cargo_fuzz() {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names, TESTED);
    let manifest = fs::read_to_string(fuzz_folder().join("Cargo.toml")).unwrap();
    let programs: BTreeSet<String> = fs::read_dir(fuzz_folder().join("fuzz_targets"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap().trim_end_matches(".rs").to_owned())
        .collect();
    assert_eq!(programs, names.iter().map(|name| (*name).to_owned()).collect());
    for name in names {
        let program = fs::read_to_string(fuzz_folder().join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(program.contains(&format!("run(\"{name}\", bytes)")) && manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}
