//! Runs with random flags, killed at a random moment: resumed without flags, each has the record of an undisturbed run.

#![expect(clippy::print_stdout, reason = "the log shows how many schedules were hit")]

use super::fixture::{CrashFixture, CrashOutput};
#[cfg(target_os = "linux")]
use super::sockets::run_without_sockets;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Schedules in a usual test run. The variable below sets another number.
const SCHEDULES: u64 = 12;
const MIN_DELAY: Duration = Duration::from_millis(30);
/// Kills tried until one hits a run between its start and its end.
const MAX_KILLS: u32 = 40;
const SCHEDULES_VARIABLE: &str = "BARDO_EVAL_SCHEDULES";

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
        ]));
        add(draw.pick(&[
            &["--suite", "tool_selection"],
            &["--case", "how_much_usdc"],
            &["--profile", "trader"],
            &["--agent", "trader"],
            &["--skill", "swap"],
            &["--tag", "happy_path"],
            &[],
        ]));
        add(draw.pick(&[&["--concurrency", "1"], &["--concurrency", "4"], &["--concurrency", "32"]]));
        add(draw.pick(&[&["--cache"], &["--no-cache"]]));
        add(draw.pick(&[&[], &["--defence", "enforce"]]));
        add(draw.pick(&[&[], &["--confidence", "0.9"], &["--rule-out", "0.02"]]));
        add(draw.pick(&[&[], &["--judge", "local"], &["--no-judge"]]));
        add(draw.pick(&[&[], &["--user", "local"]]));
        add(draw.pick(&[&[], &["--imported-tools", "stub"]]));
        add(draw.pick(&[&[], &["--sandbox", "none"]]));
        add(draw.pick(&[&[], &["--trust-claims"]]));
        add(draw.pick(&[&["--trials", "2"], &["--trials", "5"], &["--trials", "12"]]));
        let seed = draw.below(1000).to_string();
        add(&["--seed", &seed]);
        let recording = match draw.below(5) {
            0 => RecordingFlag::Record,
            1 | 2 => RecordingFlag::Replay,
            3 => RecordingFlag::RecordMissing,
            _ => RecordingFlag::None,
        };
        Self { flags, recording, moment: draw.below(1000) }
    }

    /// Reports whether an agent is a program, which is reached over loopback.
    fn has_program(&self) -> bool {
        self.flags.iter().any(|flag| flag.starts_with("process:"))
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

fn schedule_count() -> u64 {
    std::env::var(SCHEDULES_VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(SCHEDULES)
}

#[tokio::test(flavor = "multi_thread")]
async fn run_killed_and_resumed_without_flags_has_the_undisturbed_record() {
    let stage = CrashFixture::new().await;
    let (mut killed, mut replayed) = (0, 0);
    for n in 0..schedule_count() {
        let schedule = KillSchedule::draw(n);
        let outcome = play(&stage, n, &schedule).await;
        killed += u64::from(outcome);
        replayed += u64::from(outcome && schedule.recording == RecordingFlag::Replay);
    }
    println!("{} schedules: {killed} killed before their end, {replayed} of them replaying", schedule_count());
    assert!(killed > schedule_count() / 2 && replayed > 0, "{killed} killed, {replayed} of them replaying");
}

/// Plays one schedule; returns true if the run was killed before it ended.
async fn play(stage: &CrashFixture, n: u64, schedule: &KillSchedule) -> bool {
    let (calm_store, store) = (format!("calm-{n}.sqlite"), format!("killed-{n}.sqlite"));
    clear_recordings(stage);
    // A run that replays needs recordings, and one that records what is missing has some of them.
    let calm_mode = if schedule.recording == RecordingFlag::Replay { RecordingFlag::Record } else { schedule.recording };
    let start = Instant::now();
    let before = stage.request_count();
    let calm = stage.run_to_end(&schedule.run(&calm_store, calm_mode)).await;
    let (took, requests) = (start.elapsed(), stage.request_count() - before);
    assert!(calm["record"].is_string(), "schedule {n} {schedule:?}: {calm:#}");
    let mut expected = calm["record"].clone();
    if schedule.recording == RecordingFlag::Replay {
        let replayed = stage.run_to_end(&schedule.run(&format!("replayed-{n}.sqlite"), RecordingFlag::Replay)).await;
        expected = replayed["record"].clone();
    } else {
        clear_recordings(stage);
    }
    let args = schedule.run(&store, schedule.recording);
    let before = stage.request_count();
    let kill = if schedule.recording == RecordingFlag::Replay || requests == 0 {
        kill_between_start_and_end(stage, &args, &store, took.mul_f64(schedule.moment as f64 / 1000.0)).await
    } else {
        let was_killed = stage.kill_at(&args, before + 1 + requests * schedule.moment / 1000).await;
        KillOutcome { was_killed, asked: stage.request_count(), resumed: resume(stage, &store).await }
    };
    let KillOutcome { was_killed, asked: asked_before_kill, resumed } = kill;
    if let Some(why) = nothing_to_resume(&resumed) {
        assert_ne!(why, NothingToResume::Other, "schedule {n} {schedule:?}: {}", resumed.all());
        return false;
    }
    let document: Value = serde_json::from_str(&resumed.stdout).unwrap_or_else(|error| panic!("{error}: {}", resumed.stderr));
    assert_eq!(document["record"], expected, "schedule {n} {schedule:?}");
    match schedule.recording {
        RecordingFlag::Replay => {
            assert_eq!(stage.request_count(), before, "schedule {n}: a replay asked the model");
            assert_eq!(asked_before_kill, before, "schedule {n}: a replay asked the model");
            if !schedule.has_program() {
                assert_no_socket(stage, n, schedule, &args).await;
            }
        }
        RecordingFlag::Record => {
            // All replies are there, so the run can be replayed.
            let again = stage.run_to_end(&schedule.run(&format!("again-{n}.sqlite"), RecordingFlag::Replay)).await;
            assert_eq!(again["trials"]["finished"], document["trials"]["finished"], "schedule {n} {schedule:?}: {again:#}");
        }
        RecordingFlag::RecordMissing | RecordingFlag::None => {}
    }
    was_killed
}

struct KillOutcome {
    was_killed: bool,
    /// Requests that had reached the model when the run was killed.
    asked: u64,
    resumed: CrashOutput,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NothingToResume {
    /// Killed before the run was stored.
    NotStored,
    /// Killed after its end.
    Complete,
    Other,
}

fn nothing_to_resume(resumed: &CrashOutput) -> Option<NothingToResume> {
    if resumed.code != Some(2) {
        return None;
    }
    let said = resumed.all();
    Some(if said.contains("no runs in") {
        NothingToResume::NotStored
    } else if said.contains("is complete") {
        NothingToResume::Complete
    } else {
        NothingToResume::Other
    })
}

async fn resume(stage: &CrashFixture, store: &str) -> CrashOutput {
    stage.output(&["run", "--resume", "--store", store]).await
}

/// Kills a run that asks no model, so that only time tells its moments: searches a delay after which the run is stored
/// and not complete, from `delay` on.
async fn kill_between_start_and_end(stage: &CrashFixture, args: &[&str], store: &str, delay: Duration) -> KillOutcome {
    let mut delay = delay.max(MIN_DELAY);
    // Longest delay that was too short, and shortest that was too long.
    let (mut early, mut late) = (Duration::ZERO, None);
    for _ in 0..MAX_KILLS {
        for name in [store.to_owned(), format!("{store}-wal"), format!("{store}-shm")] {
            drop(std::fs::remove_file(stage.path(&name)));
        }
        let was_killed = stage.kill_after(args, delay).await;
        let asked = stage.request_count();
        let resumed = resume(stage, store).await;
        match nothing_to_resume(&resumed) {
            Some(NothingToResume::NotStored) => early = delay,
            Some(NothingToResume::Complete) => late = Some(delay),
            Some(NothingToResume::Other) | None => return KillOutcome { was_killed, asked, resumed },
        }
        // On a busy machine the two can pass each other.
        if late.is_some_and(|late| late < early + Duration::from_millis(1)) {
            (early, late) = (early / 2, late.map(|late| late * 2));
        }
        delay = late.map_or(early * 2, |late| (early + late) / 2);
    }
    // A run of few trials can be over within less time than a kill can be aimed at; how many must be hit is asserted over all schedules.
    println!("no kill of {MAX_KILLS} hit the run: too short {early:?}, too long {late:?}");
    KillOutcome { was_killed: false, asked: stage.request_count(), resumed: resume(stage, store).await }
}

/// Kills a replaying run once more and resumes it where opening a socket kills the program.
async fn assert_no_socket(stage: &CrashFixture, n: u64, schedule: &KillSchedule, args: &[&str]) {
    let store = format!("socket-{n}.sqlite");
    let args: Vec<&str> = args.iter().map(|arg| if arg.ends_with(".sqlite") { store.as_str() } else { arg }).collect();
    stage.kill_after(&args, Duration::from_millis(40 + schedule.moment / 4)).await;
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::ExitStatusExt;
        let resumed = run_without_sockets(stage.folder(), &["run", "--resume", "--store", &store]);
        assert_eq!(resumed.signal(), None, "schedule {n} {schedule:?} opened a socket");
    }
}

fn clear_recordings(stage: &CrashFixture) {
    drop(std::fs::remove_dir_all(stage.path("evals/cassettes")));
}
