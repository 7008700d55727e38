"""Measures commands and pages on two stores. Called by scripts/bench-stores."""

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time

COMMANDS, PAGES = 9, 40


def timed(command):
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    taken = (time.perf_counter() - started) * 1000
    assert done.returncode in (0, 1, 3), (command, done.stderr)
    return taken, done.stdout


def measure_store(program, place):
    found = {}
    flags = ["--store", place]
    listed = json.loads(timed([program, "runs", "list", "--format", "json", *flags])[1])
    runs = [run["run"] for run in listed["items"]]
    pick = lambda n: runs[(n * 7919) % len(runs)][:12]
    case = json.loads(timed([program, "list", "cases", "--embedded", "--format", "json"])[1])["items"][0]["case"]
    view = importlib.util.spec_from_file_location("view", os.path.join(os.path.dirname(__file__), "bench-view.py"))
    module = importlib.util.module_from_spec(view)
    view.loader.exec_module(module)
    viewer = module.Viewer(program, *flags)
    pages = {
        "page of runs": lambda n: "/runs",
        "page of a run": lambda n: f"/runs/{pick(n)}",
        "page of trials": lambda n: f"/runs/{pick(n)}/trials?from={(n * 31) % 900}",
        "page of trials, failed": lambda n: f"/runs/{pick(n)}/trials?outcome=failed",
        "page of a trial": lambda n: f"/runs/{pick(n)}/trials/{(n * 31) % 900}",
        "page of a comparison": lambda n: f"/compare?a={pick(n)}&b={pick(n + 1)}",
    }
    commands = {
        "runs list": lambda n: [program, "runs", "list", *flags],
        "show CASE --run RUN": lambda n: [program, "show", case, "--run", pick(n), "--embedded", *flags],
        "score RUN (pooling of gates)": lambda n: [program, "score", pick(n), "--embedded", *flags],
    }
    for name, command in commands.items():
        times = [timed(command(n))[0] for n in range(COMMANDS + 1)][1:]
        found[name] = statistics.median(times)
    for name, address in pages.items():
        viewer.get(address(0))
        found[name] = statistics.median(viewer.get(address(n))[0] * 1000 for n in range(PAGES))
    viewer.child.kill()
    return found


def measure(program, file, url):
    one, other = measure_store(program, file), measure_store(program, url)
    print(f"{'':32}{'SQLite ms':>12}{'PostgreSQL ms':>16}{'ratio':>8}")
    for name, taken in one.items():
        print(f"{name:32}{taken:12.1f}{other[name]:16.1f}{other[name] / taken:8.2f}")


if __name__ == "__main__":
    measure(*sys.argv[1:])
