//! No socket is opened unless a subject needs one; tested with a seccomp filter that forbids the system call.

use crate::crash::fixture::{CrashFixture, PASSED_VALUE, PASSED_VARIABLE};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// Runs the program under a filter that kills it when it opens a socket. The filter applies to a thread and its children.
pub(crate) fn run_without_sockets(folder: &Path, args: &[&str]) -> ExitStatus {
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let rules = BTreeMap::from([(libc_socket(), vec![])]);
            let arch: TargetArch = std::env::consts::ARCH.try_into().unwrap();
            let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::KillProcess, arch).unwrap();
            let program: BpfProgram = filter.try_into().unwrap();
            seccompiler::apply_filter(&program).unwrap();
            let mut command = Command::new(env!("CARGO_BIN_EXE_bardo-eval"));
            command
                .args(args)
                .current_dir(folder)
                .env_clear()
                .env(PASSED_VARIABLE, PASSED_VALUE)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            command.status().unwrap()
        });
        run.join().unwrap()
    })
}

/// System call number of `socket`.
fn libc_socket() -> i64 {
    if cfg!(target_arch = "x86_64") { 41 } else { 198 }
}

const KILLED_BY_SIGSYS: Option<i32> = Some(31);

#[tokio::test(flavor = "multi_thread")]
async fn only_live_models_open_sockets() {
    let stage = CrashFixture::new().await;
    let run = |args: &[&str]| run_without_sockets(stage.folder(), args);
    assert_eq!(run(&["smoke"]).code(), Some(0));
    assert_eq!(run(&["run", "--subject", "reference", "--subject", "echo"]).code(), Some(1));
    let one = ["run", "--subject", "local", "--case", "how_much_usdc", "--no-cache"];
    assert_eq!(run(&one).signal(), KILLED_BY_SIGSYS, "a live model needs a socket, so the filter works");
    assert_eq!(stage.request_count(), 0);
    stage.run_to_end(&[&one[..], &["--record"]].concat()).await;
    assert_eq!(stage.request_count(), 1);
    let replay = run(&[&one[..], &["--replay"]].concat());
    assert_eq!((replay.code().is_some(), replay.signal()), (true, None), "recordings need no network");
    assert_eq!(run(&["score"]).signal(), None);
    assert_eq!(stage.request_count(), 1);
}
