//! Kernel without Landlock, imitated by a seccomp filter: the run says so once and continues, and an explicit wish is refused.

use crate::harness::TestFolder;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
use std::collections::BTreeMap;
use std::process::{Command, Output};

/// System call number of `landlock_create_ruleset`, the same on every architecture.
const LANDLOCK_CREATE_RULESET: i64 = 444;
const ENOSYS: u32 = 38;

/// Runs the program under a filter that refuses Landlock. The filter applies to a thread and its children.
fn run_without_landlock(folder: &TestFolder, args: &[&str]) -> Output {
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let rules = BTreeMap::from([(LANDLOCK_CREATE_RULESET, vec![])]);
            let arch: TargetArch = std::env::consts::ARCH.try_into().unwrap();
            let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(ENOSYS), arch).unwrap();
            let program: BpfProgram = filter.try_into().unwrap();
            seccompiler::apply_filter(&program).unwrap();
            let mut command = Command::new(env!("CARGO_BIN_EXE_bardo-eval"));
            command.args(args).current_dir(folder.path("")).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
            command.output().unwrap()
        });
        run.join().unwrap()
    })
}

#[test]
fn without_landlock_the_run_says_so_once_and_continues() {
    let folder = TestFolder::with_minimal();
    folder.write("agent.sh", "read -r line; echo '{\"say\":\"hi\"}'; read -r line\n");
    let args = ["run", "--no-store", "--subject", "process:sh agent.sh", "--case", "sell_usdc_for_ether", "--trials", "3"];
    let ran = run_without_landlock(&folder, &args);
    let (said, report) = (String::from_utf8_lossy(&ran.stderr), String::from_utf8_lossy(&ran.stdout));
    assert_eq!(said.matches("this kernel has no Landlock").count(), 1, "{said}");
    assert!(report.contains("3 planned, 0 passed, 3 failed") && report.contains("sandbox none"), "{report}");
    // No program, no notice.
    let ran = run_without_landlock(&folder, &["run", "--no-store", "--subject", "echo", "--case", "sell_usdc_for_ether"]);
    assert!(!String::from_utf8_lossy(&ran.stderr).contains("Landlock"));
    let ran = run_without_landlock(&folder, &[&args[..], &["--sandbox", "landlock"]].concat());
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    let ran = run_without_landlock(&folder, &[&args[..], &["--sandbox", "none"]].concat());
    assert!(!String::from_utf8_lossy(&ran.stderr).contains("Landlock"));
}
