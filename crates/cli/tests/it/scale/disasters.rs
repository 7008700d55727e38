//! Servers that are really read-only or really full.

use super::fixture::{ScaleFixture, end};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tokio::time::sleep;

const LOCAL: [&str; 7] = ["--subject", "local", "--suite", "tool_selection", "--trials", "60", "--no-cache"];

#[tokio::test(flavor = "multi_thread")]
async fn replica_can_be_read_and_refuses_to_be_written() {
    let scale = ScaleFixture::new().await;
    let watcher = scale.watch(&LOCAL);
    scale.wait_for_jobs(120).await;
    let replica = scale.server.start_standby(scale.database());
    let on_replica = async |args: &[&str]| end(scale.stage.command(&[args, &["--store", &replica]].concat()).spawn().unwrap()).await;
    let listed = on_replica(&["runs", "list"]).await;
    assert_eq!(listed.code, Some(0), "{}", listed.all());
    assert!(listed.stdout.contains("of 120"), "{}", listed.all());
    for args in [&["work", "--once"][..], &["run", "--subject", "echo", "--workers", "0"], &["run", "--subject", "echo"]] {
        let refused = on_replica(args).await;
        assert!(matches!(refused.code, Some(2 | 3)), "{args:?}: {}", refused.all());
        assert!(refused.all().contains("read-only") || refused.all().contains("recovery"), "{args:?}: {}", refused.all());
        assert!(refused.all().contains("name the primary server"), "{args:?}: {}", refused.all());
    }
    let traces = end(scale.stage.command(&["collect", "--listen", "127.0.0.1:0", "--traces", &replica]).spawn().unwrap()).await;
    assert_eq!(traces.code, Some(2), "{}", traces.all());
    assert!(traces.stderr.contains("primary"), "{}", traces.all());
    assert_eq!(scale.sql("SELECT count(*) FROM trials"), "0", "nothing was played");
    let _worker = scale.work(&[]);
    let watched = end(watcher).await;
    assert!(watched.stdout.contains("\"finished\": 120"), "{}", watched.all());
    sleep(Duration::from_secs(1)).await;
    let shown = on_replica(&["runs", "list", "--format", "json"]).await;
    assert!(shown.stdout.contains("120"), "{}", shown.all());
}

/// File system of a few megabytes, unmounted on drop.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(folder: &Path) -> Self {
        let at = folder.join("small");
        std::fs::create_dir(&at).unwrap();
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", "size=24m", "tmpfs"]).arg(&at).status().unwrap();
        assert!(done.success(), "mounting needs root");
        let owner = format!("--reference={}", folder.join("data").display());
        assert!(Command::new("chown").arg(owner).arg(&at).status().unwrap().success());
        Self(at)
    }

    /// Takes all room but this.
    fn fill(&self, left_kb: u64) {
        let free = Command::new("df").args(["--output=avail", "-k"]).arg(&self.0).output().unwrap();
        let free: u64 = String::from_utf8(free.stdout).unwrap().lines().nth(1).unwrap().trim().parse().unwrap();
        std::fs::write(self.0.join("filler"), vec![0; usize::try_from((free - left_kb) * 1024).unwrap()]).unwrap();
    }

    fn make_room(&self) {
        std::fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.0).status());
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "mounts a file system, which needs root; scripts/check-scale runs it"]
async fn server_without_room_stops_the_run_and_loses_nothing() {
    let mut scale = ScaleFixture::new().await;
    let disk = SmallDisk::mount(scale.server.folder());
    scale.server.psql("postgres", &format!("CREATE TABLESPACE small LOCATION '{}'", disk.0.display()));
    scale.server.psql("postgres", "CREATE DATABASE full_disk TABLESPACE small");
    scale.use_database("full_disk");
    let watcher = scale.watch(&[&LOCAL[..], &["--worker-wait", "3"]].concat());
    scale.wait_for_jobs(120).await;
    disk.fill(120);
    let failed = scale.output(&["work", "--lease", "3", "--concurrency", "2"]).await;
    assert_eq!(failed.code, Some(3), "{}", failed.all());
    assert!(failed.stderr.contains("No space left") && failed.stderr.contains("make room"), "{}", failed.stderr);
    let stopped = end(watcher).await;
    assert_eq!(stopped.code, Some(3), "{}", stopped.all());
    disk.make_room();
    let stored: u64 = scale.sql("SELECT count(*) FROM trials").parse().unwrap();
    assert!(stored < 120, "{stored}");
    let _worker = scale.work(&[]);
    let resumed = end(scale.resume(&[])).await;
    assert!(resumed.stdout.contains("\"finished\": 120"), "{}", resumed.all());
    assert_eq!(scale.sql("SELECT count(*) FROM calls WHERE state <> 'settled'"), "0");
    let again: u64 = scale.sql("SELECT coalesce(max(n), 0) FROM telemetry WHERE what = 'asked_again'").parse().unwrap();
    let asked = scale.stage.request_count();
    assert!((120..=120 + again).contains(&asked), "only calls in flight are repeated: {asked} asked, {again} again");
    #[expect(clippy::print_stdout, reason = "the figures are in the guide")]
    {
        println!("{stored} trials were stored before the disk was full; {asked} calls for 120 trials, {again} of them in flight");
    }
}
