"""Mutation test in one build per crate; started by scripts/mutants.

cargo-mutants lists the mutants. Each chosen one is compiled into its function behind a switch, so that a crate is built once and its tests run once
per mutant, with the number of the mutant in the environment. A mutant that cannot be compiled so is compiled alone. Source files are edited in
place and restored at the end.
"""

import argparse
import hashlib
import json
import math
import os
import re
import resource
import selectors
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

FILES = [
    "crates/score/src/scorers/**",
    "crates/score/src/gates/**",
    "crates/score/src/compare/**",
    "crates/score/src/pairing/**",
    "crates/score/src/statistics/**",
    "crates/score/src/rules/**",
    "crates/score/src/outcome.rs",
    "crates/run/src/budget.rs",
    "crates/run/src/ledger.rs",
    "crates/run/src/*_ledger.rs",
    "crates/store/src/*.rs",
    "crates/store/src/sqlite/**",
    "crates/store/src/postgres/**",
    "crates/campaign/src/aggregate.rs",
    "crates/campaign/src/comparison/**",
    "crates/campaign/src/funding.rs",
    "crates/campaign/src/plan/affordable.rs",
    "crates/campaign/src/run_store/**",
    "crates/campaign/src/selftest/**",
]
VARIABLE = "BARDO_EVAL_MUTANT"
SWITCH = """
/// Number of the mutant that is switched on. Written by scripts/mutants.
#[allow(warnings, clippy::all)]
pub(crate) fn mutant_number() -> u32 {
    static NUMBER: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *NUMBER.get_or_init(|| std::env::var("%s").ok().and_then(|text| text.parse().ok()).unwrap_or(0))
}
""" % VARIABLE
# Share of a test run's time that a mutant may take, and the least, in seconds. CPU time is what an endless loop takes; a busy machine takes other time.
CPU_FACTOR, CPU_LEAST = 10, 60
WALL_FACTOR, WALL_LEAST = 30, 600


class Mutant:
    def __init__(self, listed, number):
        self.number, self.name, self.file, self.package = number, listed["name"], listed["file"], listed["package"]
        self.function, self.span, self.replacement = listed["function"], listed["span"], listed["replacement"]


def chosen_mutants(seed):
    """Returns all mutants in the order of the hashes of seed and name."""
    globs = [word for file in FILES for word in ("--file", file)]
    listed = subprocess.run(["cargo", "mutants", "--no-config", "--list", "--json", *globs], check=True, capture_output=True, text=True)
    by_name = {mutant["name"]: mutant for mutant in json.loads(listed.stdout)}
    names = sorted(by_name, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).hexdigest())
    return [Mutant(by_name[name], number) for number, name in enumerate(names, 1)]


def offset_of(text, place):
    """Returns the offset of a line and column, both from 1."""
    start = 0
    for _ in range(place["line"] - 1):
        start = text.index("\n", start) + 1
    return start + place["column"] - 1


TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])'|'\w+|\w+|->|=>|.""", re.S)


def body_start(text, start, end):
    """Returns the offset behind the brace that opens the body of the function between two offsets."""
    depth, is_signature = 0, False
    for token in TOKEN.finditer(text, start, end):
        word = token.group()
        if word == "fn":
            is_signature = True
        elif word in "([":
            depth += 1
        elif word in ")]":
            depth -= 1
        elif word == "{" and is_signature and depth == 0:
            return token.end()
    raise ValueError("no body")


def mutated_text(text, mutant):
    start, end = offset_of(text, mutant.span["start"]), offset_of(text, mutant.span["end"])
    return text[:start] + mutant.replacement + text[end:]


def with_switches(text, mutants):
    """Returns the text with a switch in every function that has mutants, and the lines of each mutant."""
    by_function = defaultdict(list)
    for mutant in mutants:
        span = mutant.function["span"]
        by_function[(offset_of(text, span["start"]), offset_of(text, span["end"]))].append(mutant)
    parts, edits = [], []
    for (start, end), inside in by_function.items():
        begin = body_start(text, start, end)
        arms = []
        for mutant in inside:
            changed = mutated_text(text, mutant)
            arms.append((mutant, changed[begin : len(changed) - (len(text) - end) - 1]))
        edits.append((begin, end - 1, arms))
    edits.sort(key=lambda edit: edit[0])
    at, line, lines = 0, 1, {}

    def put(part):
        nonlocal line
        parts.append(part)
        line += part.count("\n")

    for begin, end, arms in edits:
        if begin < at:
            continue  # a function within a function that is already switched
        put(text[at:begin])
        put("match crate::mutant_number() {")
        for mutant, body in arms:
            first = line
            put(f"\n{mutant.number} => {{{body}\n}}")
            lines[mutant.number] = (first, line)
        put(f"\n_ => {{{text[begin:end]}\n}} }}")
        at = end
    put(text[at:])
    return "".join(parts), lines


class Sources:
    """Files that are edited in place."""

    def __init__(self):
        self.originals = {}

    def read(self, file):
        if file not in self.originals:
            self.originals[file] = Path(file).read_text()
        return self.originals[file]

    def write(self, file, text):
        self.read(file)
        Path(file).write_text(text)

    def restore(self):
        for file, text in self.originals.items():
            if Path(file).read_text() != text:
                Path(file).write_text(text)


def cargo_messages(args):
    built = subprocess.run(["cargo", *args, "--message-format=json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
    return built.returncode == 0, messages, built.stderr


def error_places(messages):
    for message in messages:
        if message.get("reason") == "compiler-message" and message["message"]["level"] == "error":
            for span in message["message"]["spans"]:
                while span:
                    yield span["file_name"], span["line_start"]
                    span = (span.get("expansion") or {}).get("span")


def errors_of(messages):
    found = (message["message"] for message in messages if message.get("reason") == "compiler-message")
    return "\n".join(message["rendered"] for message in found if message["level"] == "error")[:3000]


def switch_on(sources, package, mutants):
    """Compiles mutants of a crate and its tests behind switches. Returns those that cannot be, and the test programs."""
    folder = Path(mutants[0].file).parts[:2]
    library = str(Path(*folder, "src/lib.rs"))
    left_out = [mutant for mutant in mutants if mutant.function is None]
    mutants = [mutant for mutant in mutants if mutant.function is not None]
    while True:
        lines = {}
        for file in sorted({mutant.file for mutant in mutants} | {library}):
            text, of_file = with_switches(sources.read(file), [mutant for mutant in mutants if mutant.file == file])
            sources.write(file, text + (SWITCH if file == library else ""))
            lines.update({number: (file, *span) for number, span in of_file.items()})
        nested = [mutant for mutant in mutants if mutant.number not in lines]
        # Without a check before it: rustc finds mistakes before it generates code, and a check compiles all dependencies once more.
        done, messages, stderr = build_tests(package)
        if done:
            return left_out + nested, test_programs(messages)
        bad = set()
        for file, line in error_places(messages):
            bad |= {number for number, (of, first, last) in lines.items() if of == file and first <= line <= last}
        if not bad:
            sys.exit(f"{package} does not compile, and no mutant is the reason:\n{errors_of(messages)}\n{stderr[-1000:]}")
        left_out += [mutant for mutant in mutants if mutant.number in bad]
        mutants = [mutant for mutant in mutants if mutant.number not in bad]
        # Bodies of earlier files without mutants are restored.
        for file in {mutant.file for mutant in left_out}:
            sources.write(file, sources.read(file))


def build_tests(package):
    return cargo_messages(["test", "-p", package, "--lib", "--tests", "--no-run"])


def test_programs(messages):
    programs = [
        (message["target"]["name"], message["executable"], Path(message["manifest_path"]).parent)
        for message in messages
        if message.get("reason") == "compiler-artifact" and message.get("executable") and message["profile"]["test"]
    ]
    return sorted(programs, key=lambda program: program[0] == "it")


def run_tests(programs, number, skipped, limits=None):
    """Runs test programs until the first failure. Returns the state, the failing test and the times of all programs."""
    cpu, wall = 0.0, 0.0
    for name, program, folder in programs:
        words = [program, "--test-threads", os.environ.get("TEST_THREADS", "2")]
        for word in skipped:
            words += ["--skip", word]
        environment = {**os.environ, VARIABLE: str(number), "CARGO_MANIFEST_DIR": str(folder), "PROPTEST_CASES": os.environ.get("PROPTEST_CASES", "64")}
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()

        def limit():
            os.setpgid(0, 0)
            if limits:
                resource.setrlimit(resource.RLIMIT_CPU, (int(limits["cpu"]), int(limits["cpu"]) + 5))

        process = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit)
        state, test = watch(process, started + limits["wall"] if limits else None)
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        wall += time.monotonic() - started
        if state != "passed":
            return state, test or name, cpu, wall
    return "passed", None, cpu, wall


def watch(process, deadline):
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    tail = b""
    while True:
        if deadline and time.monotonic() > deadline:
            process.kill()
            process.wait()
            return "timeout", None
        if not selector.select(timeout=1):
            continue
        part = os.read(process.stdout.fileno(), 65536)
        if not part:
            break
        tail = (tail + part)[-200_000:]
        failed = re.search(rb"test (\S+)(?: - [^\n]*?)? \.\.\. FAILED", tail)
        if failed:
            process.kill()
            process.wait()
            return "killed", failed.group(1).decode()
    code = process.wait()
    if code == 0:
        return "passed", None
    # A process that used up its CPU time is ended by SIGXCPU or SIGKILL.
    return ("timeout", None) if -code in (signal.SIGXCPU, signal.SIGKILL) else ("killed", f"exit {code}")


def wilson(hits, n):
    if not n:
        return "nothing decided"
    p, z = hits / n, 1.96
    middle, half = (p + z * z / (2 * n)) / (1 + z * z / n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return f"{p:.1%}, 95 % interval {middle - half:.1%} to {min(middle + half, 1):.1%}"


class Results:
    """Decided mutants by name, one JSON line each. A later line replaces an earlier one."""

    def __init__(self, path):
        self.path, self.rows = path, {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            self.rows = {row["name"]: row for row in map(json.loads, path.read_text().splitlines())}

    def add(self, mutant, state, test=None, seconds=0.0):
        row = {"name": mutant.name, "state": state, "test": test, "seconds": round(seconds, 1)}
        self.rows[mutant.name] = row
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{state:9} {seconds:6.1f} s  {mutant.name}" + (f"  [{test}]" if test else ""), flush=True)


def play_crate(sources, results, package, mutants, skipped):
    left_out, programs = switch_on(sources, package, mutants)
    state, test, cpu, wall = run_tests(programs, 0, skipped)
    if state != "passed":
        sys.exit(f"{package}: {test} fails without a mutant")
    limits = {"cpu": max(cpu * CPU_FACTOR, CPU_LEAST), "wall": max(wall * WALL_FACTOR, WALL_LEAST)}
    print(f"{package}: tests take {wall:.1f} s, {cpu:.1f} s of CPU time; {len(mutants) - len(left_out)} mutants in one build, {len(left_out)} alone", flush=True)
    for mutant in mutants:
        if mutant not in left_out:
            state, test, _, wall = run_tests(programs, mutant.number, skipped, limits)
            results.add(mutant, "missed" if state == "passed" else state, test, wall)
    sources.restore()
    return limits, left_out


def play_alone(sources, results, package, mutants, limits, skipped):
    """Compiles and tests mutants one by one."""
    for mutant in mutants:
        started = time.monotonic()
        sources.write(mutant.file, mutated_text(sources.read(mutant.file), mutant))
        compiles, messages, _ = build_tests(package)
        state, test, _, _ = run_tests(test_programs(messages), 0, skipped, limits) if compiles else ("unviable", None, 0, 0)
        results.add(mutant, "missed" if state == "passed" else state, test, time.monotonic() - started)
        sources.restore()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int, nargs="?", default=200, help="mutants that compile")
    parser.add_argument("seed", nargs="?", default="24")
    parser.add_argument("--missed", action="store_true", help="only those that an earlier run missed or that ran out of time")
    parser.add_argument("--package", action="append", help="only mutants of this crate, COUNT of them; several times")
    parser.add_argument("--skip", action="append", default=[], help="leaves tests out whose name has this text")
    parser.add_argument("--batch", type=int, default=250, help="mutants in one build")
    args = parser.parse_args()
    if subprocess.run(["git", "status", "--porcelain", "--untracked-files=no", "crates"], check=True, capture_output=True, text=True).stdout:
        sys.exit("crates/ has changes: commit them first, because files are edited in place")
    results, sources = Results(Path("target/mutants") / f"seed-{args.seed}.jsonl"), Sources()
    all_mutants = chosen_mutants(args.seed)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    started = time.monotonic()
    try:
        if args.missed:
            open_names = {name for name, row in results.rows.items() if row["state"] in ("missed", "timeout")}
            open_mutants = [mutant for mutant in all_mutants if mutant.name in open_names]
            play(sources, results, [mutant for mutant in open_mutants if not args.package or mutant.package in args.package], args)
        while not args.missed:
            viable = 0
            batch = []
            for mutant in all_mutants:
                if args.package and mutant.package not in args.package:
                    continue
                known = results.rows.get(mutant.name)
                viable += known is None or known["state"] != "unviable"
                if known is None:
                    batch.append(mutant)
                if viable == args.count:
                    break
            if not batch:
                break
            play(sources, results, batch[: args.batch], args)
    finally:
        sources.restore()
        report(all_mutants, results, args, time.monotonic() - started)


def play(sources, results, mutants, args):
    left = []
    for package in sorted({mutant.package for mutant in mutants}):
        limits, left_out = play_crate(sources, results, package, [mutant for mutant in mutants if mutant.package == package], args.skip)
        left.append((package, left_out, limits))
    for package, left_out, limits in left:
        play_alone(sources, results, package, left_out, limits, args.skip)


def report(all_mutants, results, args, seconds):
    rows = [(mutant, results.rows[mutant.name]) for mutant in all_mutants if mutant.name in results.rows]
    rows = [(mutant, row) for mutant, row in rows if not args.package or mutant.package in args.package]
    states = Counter(row["state"] for _, row in rows)
    for wanted in ("timeout", "missed"):
        for _, row in (pair for pair in rows if pair[1]["state"] == wanted):
            print(f"{wanted}: {row['name']}")
    killed, missed = states["killed"], states["missed"]
    print(f"seed {args.seed}: {len(rows)} of {len(all_mutants)} mutants; {killed} killed, {missed} missed, {states['timeout']} out of time, {states['unviable']} do not compile; {seconds:.0f} s")
    print(f"killed {killed} of {killed + missed}: {wilson(killed, killed + missed)}")


if __name__ == "__main__":
    main()
