//! Runs with random flags, killed at a random moment: resumed without flags, each has the record of an undisturbed run.

#![expect(clippy::print_stdout, reason = "the log shows how many schedules were hit")]

use super::fixture::{CrashFixture, PASSED_VARIABLE};
use super::schedule_workspace::{LIVE_SERVER, SEED_STORE, prepare_workspace};
#[cfg(target_os = "linux")]
use super::sockets::run_without_sockets;
use serde_json::Value;
use std::time::{Duration, Instant};
use store::StoredRun;

/// Schedules in a usual test run. The first variable sets another number, the second one the first of them.
const SCHEDULES: u64 = 12;
const SCHEDULES_VARIABLE: &str = "BARDO_EVAL_SCHEDULES";
const FIRST_VARIABLE: &str = "BARDO_EVAL_FIRST_SCHEDULE";
const MIN_DELAY: Duration = Duration::from_millis(30);
/// Kills tried until one hits a run between its start and its end.
const MAX_KILLS: u32 = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordingFlag {
    None,
    Record,
    Replay,
    RecordMissing,
}

/// Flags of one run, drawn from its number.
#[derive(Debug)]
struct KillSchedule {
    flags: Vec<String>,
    recording: RecordingFlag,
    /// Moment of the kill, as a part of 1,000 of the run.
    moment: u64,
}

/// SplitMix64: the same number draws the same schedule on every machine.
struct DrawState(u64);

impl DrawState {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % n
    }

    fn pick<'t>(&mut self, choices: &[&'t [&'t str]]) -> &'t [&'t str] {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap()]
    }
}

impl KillSchedule {
    fn draw(n: u64) -> Self {
        let mut draw = DrawState(n);
        let mut flags: Vec<String> = vec![];
        let mut add = |chosen: &[&str]| flags.extend(chosen.iter().map(|flag| (*flag).to_owned()));
        add(draw.pick(&[
            &["--subject", "local"],
            &["--subject", "priced", "--budget", "90"],
            &["--subject", "local", "--subject", "echo"],
            &["--subject", "local", "--subject", "process:/bin/sh agent.sh"],
            // `--timeout` is refused beside subjects with a file.
            &["--subject", "process:/bin/sh agent.sh", "--timeout", "60"],
        ]));
        let selection = draw.pick(&[
            &["--suite", "tool_selection"],
            &["--case", "how_much_usdc"],
            &["--profile", "trader"],
            &["--agent", "trader"],
            &["--skill", "swap"],
            &["--tag", "happy_path"],
            &["--tier", "2"],
            &["--case-file", "outside.yaml"],
            &["--last-failed"],
            &["--changed", "HEAD"],
            &[],
        ]);
        add(selection);
        add(draw.pick(&[&["--concurrency", "1"], &["--concurrency", "4"], &["--concurrency", "32"]]));
        add(draw.pick(&[&["--cache"], &["--no-cache"]]));
        add(draw.pick(&[&[], &["--defence", "enforce"]]));
        add(draw.pick(&[&[], &["--confidence", "0.9"], &["--rule-out", "0.02"]]));
        add(draw.pick(&[&[], &["--judge", "local"], &["--no-judge"]]));
        add(draw.pick(&[&[], &["--user", "local"]]));
        add(draw.pick(&[
            &[],
            &["--imported-tools", "stub"],
            &["--imported-tools", LIVE_SERVER],
            &["--imported-tools", LIVE_SERVER, "--allow-writes"],
        ]));
        add(draw.pick(&[&[], &["--sandbox", "none"]]));
        add(draw.pick(&[&[], &["--trust-claims"]]));
        add(draw.pick(&[&[], &["--guard", "embedded"]]));
        // Anvil is left out: a node per trial takes seconds, and its chain is that of `own_nodes`.
        add(draw.pick(&[&[], &["--chain", "embedded"]]));
        add(draw.pick(&[&[], &["--limit", "2"]]));
        add(draw.pick(&[&[], &[], &["--max-fail", "9"], &["--stop-when-decided"]]));
        add(draw.pick(&[&[], &["--no-preflight"]]));
        add(draw.pick(&[&[], &["--pass-env", PASSED_VARIABLE]]));
        add(draw.pick(&[&["--trials", "2"], &["--trials", "5"], &["--trials", "12"]]));
        let seed = draw.below(1000).to_string();
        add(&["--seed", &seed]);
        let recording = match draw.below(5) {
            0 => RecordingFlag::Record,
            1 | 2 => RecordingFlag::Replay,
            3 => RecordingFlag::RecordMissing,
            // Subjects of the tier are not live, so that it needs recordings.
            _ if selection.first() == Some(&"--tier") => RecordingFlag::RecordMissing,
            _ => RecordingFlag::None,
        };
        Self { flags, recording, moment: draw.below(1000) }
    }

    /// Reports whether an agent or a server is a program, which may be reached over loopback.
    fn has_program(&self) -> bool {
        self.flags.iter().any(|flag| flag.starts_with("process:") || flag == LIVE_SERVER)
    }

    /// Reports whether the run may end before its last trial.
    fn may_stop_early(&self) -> bool {
        flags_hold(&self.flags, "--max-fail") || flags_hold(&self.flags, "--stop-when-decided")
    }

    fn run<'s>(&'s self, store: &'s str, recording: RecordingFlag) -> Vec<&'s str> {
        let mut args = vec!["run", "--store", store];
        args.extend(self.flags.iter().map(String::as_str));
        args.extend(match recording {
            RecordingFlag::None => None,
            RecordingFlag::Record => Some("--record"),
            RecordingFlag::Replay => Some("--replay"),
            RecordingFlag::RecordMissing => Some("--record-missing"),
        });
        args
    }
}

fn flags_hold(flags: &[String], flag: &str) -> bool {
    flags.iter().any(|one| one == flag)
}

fn number_of(variable: &str, usually: u64) -> u64 {
    std::env::var(variable).ok().map_or(usually, |text| text.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn run_killed_and_resumed_without_flags_has_the_undisturbed_record() {
    let stage = CrashFixture::new().await;
    prepare_workspace(&stage).await;
    let (first, schedules) = (number_of(FIRST_VARIABLE, 0), number_of(SCHEDULES_VARIABLE, SCHEDULES));
    let mut seen = PlayedKill::default();
    let mut replays_without_programs = 0;
    for n in first..first + schedules {
        let schedule = KillSchedule::draw(n);
        replays_without_programs += u64::from(schedule.recording == RecordingFlag::Replay && !schedule.has_program());
        let PlayedKill { killed, replayed, without_socket } = play(&stage, n, &schedule).await;
        seen.killed += killed;
        seen.replayed += replayed;
        seen.without_socket += without_socket;
        remove_stores(&stage);
    }
    let PlayedKill { killed, replayed, without_socket } = seen;
    println!(
        "{schedules} schedules from {first} on: {killed} killed before their end, {replayed} of them replaying, \
         {without_socket} of {replays_without_programs} replays resumed without a socket"
    );
    assert!(killed > schedules / 2 && replayed > 0, "{killed} killed, {replayed} of them replaying");
    // The first schedules have such a replay; a part of a long run may have none.
    assert!(replays_without_programs > 0 || first > 0, "no replay without a program");
    if cfg!(target_os = "linux") {
        assert!(without_socket >= replays_without_programs.div_ceil(2), "{without_socket} of {replays_without_programs}");
    }
}

/// Numbers of runs by what was seen of them.
#[derive(Debug, Default)]
struct PlayedKill {
    /// Killed before the end, and resumed.
    killed: u64,
    replayed: u64,
    /// Replays that were killed once more and played trials where sockets are forbidden.
    without_socket: u64,
}

/// Plays one schedule.
async fn play(stage: &CrashFixture, n: u64, schedule: &KillSchedule) -> PlayedKill {
    clear_recordings(stage);
    // A run that replays needs recordings, and one that records what is missing has some of them.
    let is_replay = schedule.recording == RecordingFlag::Replay;
    let calm_mode = if is_replay { RecordingFlag::Record } else { schedule.recording };
    let start = Instant::now();
    let before = stage.request_count();
    let calm = run_undisturbed(stage, schedule, &format!("calm-{n}.sqlite"), calm_mode).await;
    let (took, requests) = (start.elapsed(), stage.request_count() - before);
    assert!(calm["record"].is_string(), "schedule {n} {schedule:?}: {calm:#}");
    let mut expected = calm["record"].clone();
    if is_replay {
        expected = run_undisturbed(stage, schedule, &format!("replayed-{n}.sqlite"), RecordingFlag::Replay).await["record"].clone();
    } else {
        clear_recordings(stage);
    }
    let store = format!("killed-{n}.sqlite");
    let args = schedule.run(&store, schedule.recording);
    let before = stage.request_count();
    let is_stored = if is_replay || requests == 0 {
        kill_between_start_and_end(stage, &args, &store, took.mul_f64(schedule.moment as f64 / 1000.0)).await.is_some()
    } else {
        fill_store(stage, &store);
        stage.kill_at(&args, before + 1 + requests * schedule.moment / 1000).await && unfinished_run(stage, &store).is_some()
    };
    let asked_before_kill = stage.request_count();
    if !is_stored {
        return PlayedKill::default();
    }
    let resumed = stage.output(&["run", "--resume", "--store", &store]).await;
    assert_ne!(resumed.code, Some(2), "schedule {n} {schedule:?}: {}", resumed.all());
    let document: Value = serde_json::from_str(&resumed.stdout).unwrap_or_else(|error| panic!("{error}: {}", resumed.stderr));
    assert_eq!(document["record"], expected, "schedule {n} {schedule:?}");
    let mut seen = PlayedKill { killed: 1, replayed: u64::from(is_replay), without_socket: 0 };
    match schedule.recording {
        RecordingFlag::Replay => {
            assert_eq!(stage.request_count(), before, "schedule {n}: a replay asked the model");
            assert_eq!(asked_before_kill, before, "schedule {n}: a replay asked the model");
            if !schedule.has_program() {
                seen.without_socket = u64::from(resumes_without_socket(stage, n, schedule, took).await);
            }
        }
        RecordingFlag::Record => {
            // All replies are there, so the run can be replayed.
            let again = run_undisturbed(stage, schedule, &format!("again-{n}.sqlite"), RecordingFlag::Replay).await;
            assert_eq!(again["trials"]["finished"], document["trials"]["finished"], "schedule {n} {schedule:?}: {again:#}");
        }
        RecordingFlag::RecordMissing | RecordingFlag::None => {}
    }
    seen
}

async fn run_undisturbed(stage: &CrashFixture, schedule: &KillSchedule, store: &str, recording: RecordingFlag) -> Value {
    fill_store(stage, store);
    stage.run_to_end(&schedule.run(store, recording)).await
}

/// Makes a store with one earlier run, some of whose cases failed.
fn fill_store(stage: &CrashFixture, store: &str) {
    for suffix in ["", "-wal", "-shm"] {
        drop(std::fs::remove_file(stage.path(&format!("{store}{suffix}"))));
    }
    std::fs::copy(stage.path(SEED_STORE), stage.path(store)).unwrap();
}

/// Returns the run that `--resume` takes; `None` if it was not stored yet or is complete.
fn unfinished_run(stage: &CrashFixture, store: &str) -> Option<StoredRun> {
    stored_runs(stage, store).into_iter().find(|run| run.record.is_none())
}

fn stored_runs(stage: &CrashFixture, store: &str) -> Vec<StoredRun> {
    campaign::open_store(stage.path(store)).unwrap().runs().unwrap()
}

/// Kills a run that asks no model, so that only time tells its moments: searches a delay after which the run is stored, not complete and
/// has trials left, from `delay` on.
async fn kill_between_start_and_end(stage: &CrashFixture, args: &[&str], store: &str, delay: Duration) -> Option<StoredRun> {
    let mut delay = delay.max(MIN_DELAY);
    // Longest delay that was too short, and shortest that was too long.
    let (mut early, mut late) = (Duration::ZERO, None);
    for _ in 0..MAX_KILLS {
        fill_store(stage, store);
        stage.kill_after(args, delay).await;
        match unfinished_run(stage, store) {
            Some(run) if run.finished < run.planned => return Some(run),
            Some(_) => late = Some(delay),
            None if stored_runs(stage, store).len() == 1 => early = delay,
            None => late = Some(delay),
        }
        // On a busy machine the two can pass each other.
        if late.is_some_and(|late| late < early + Duration::from_millis(1)) {
            (early, late) = (early / 2, late.map(|late| late * 2));
        }
        delay = late.map_or(early * 2, |late| (early + late) / 2);
    }
    // A run of few trials can be over within less time than a kill can be aimed at; how many must be hit is asserted over all schedules.
    println!("no kill of {MAX_KILLS} hit the run: too short {early:?}, too long {late:?}");
    None
}

/// Kills a replaying run once more and resumes it where opening a socket kills the program. Returns true if trials were played there.
#[cfg(target_os = "linux")]
async fn resumes_without_socket(stage: &CrashFixture, n: u64, schedule: &KillSchedule, took: Duration) -> bool {
    use std::os::unix::process::ExitStatusExt;
    let store = format!("socket-{n}.sqlite");
    let args = schedule.run(&store, RecordingFlag::Replay);
    let Some(killed) = kill_between_start_and_end(stage, &args, &store, took / 2).await else { return false };
    let resumed = run_without_sockets(stage.folder(), &["run", "--resume", "--store", &store]);
    assert_eq!(resumed.signal(), None, "schedule {n} {schedule:?} opened a socket");
    assert_ne!(resumed.code(), Some(2), "schedule {n} {schedule:?} had nothing to resume");
    let run = stored_runs(stage, &store).into_iter().find(|run| run.id == killed.id).unwrap();
    assert!(run.record.is_some(), "schedule {n} {schedule:?}: the resumed run is not complete");
    // A run that stops early may have had all trials that count.
    assert!(run.finished > killed.finished || schedule.may_stop_early(), "schedule {n} {schedule:?}: no trial was played");
    run.finished > killed.finished
}

#[cfg(not(target_os = "linux"))]
async fn resumes_without_socket(_: &CrashFixture, _: u64, _: &KillSchedule, _: Duration) -> bool {
    false
}

fn clear_recordings(stage: &CrashFixture) {
    drop(std::fs::remove_dir_all(stage.path("evals/cassettes")));
}

/// Removes the stores of a schedule, so that hundreds of them need no disk.
fn remove_stores(stage: &CrashFixture) {
    for entry in std::fs::read_dir(stage.folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.contains(".sqlite") && !name.starts_with(SEED_STORE) {
            drop(std::fs::remove_file(path));
        }
    }
}
