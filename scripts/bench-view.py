"""Makes a large store from the runs of a small one, and measures the pages of the viewer on it. Called by scripts/bench-view."""

import hashlib
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import time
import http.client

SAMPLES = 60
# One run in so many is attacked, if the base has such a run.
ATTACKED = 50


def make(base, target, runs, trials):
    """Copies the trials of the base runs, in turns, into `runs` runs of equal size."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    source = sqlite3.connect(base)
    schema = [row[0] for row in source.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'")]
    version = source.execute("PRAGMA user_version").fetchone()[0]
    store = sqlite3.connect(target, isolation_level=None)
    store.execute("PRAGMA page_size = 16384")
    store.execute("PRAGMA journal_mode = OFF")
    store.execute("PRAGMA synchronous = OFF")
    for sql in schema:
        store.execute(sql)
    store.execute("ATTACH ? AS base", (base,))
    each = trials // runs
    has_attacks = source.execute("SELECT count(*) FROM runs").fetchone()[0] > 2
    columns = [row[1] for row in source.execute("PRAGMA table_info(runs)")]
    kept = [row[1] for row in source.execute("PRAGMA table_info(trials)")]
    others = ", ".join(name for name in kept if name not in ("run", "n"))
    store.execute("BEGIN")
    for run in range(1, runs + 1):
        origin = 3 if has_attacks and run % ATTACKED == 0 else 1 + run % 2
        own = dict(zip(columns, source.execute("SELECT * FROM runs WHERE run = ?", (origin,)).fetchone()))
        plan = json.loads(own["plan"])
        plan["cases"] = plan["cases"][:each]
        digest = hashlib.sha256(str(run).encode()).hexdigest()
        own.update(run=run, id=digest, record=hashlib.sha256(digest.encode()).hexdigest(), plan=json.dumps(plan), planned=each)
        day, second = divmod(run * 977, 86400)
        own["started"] = f"2026-{1 + day // 28 % 12:02}-{1 + day % 28:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"
        own["ended"] = own["started"]
        marks = ", ".join("?" * len(columns))
        store.execute(f"INSERT INTO runs ({', '.join(columns)}) VALUES ({marks})", [own[name] for name in columns])
        copied = 0
        while copied < each:
            done = store.execute(
                f"INSERT INTO trials (run, n, {others}) SELECT ?, n + ?, {others} FROM base.trials WHERE run = ? AND n < ?",
                (run, copied, origin, each - copied),
            ).rowcount
            copied += done
        if run % 100 == 0:
            print(f"{run} runs", file=sys.stderr)
    store.execute("COMMIT")
    store.execute(f"PRAGMA user_version = {version}")
    store.close()
    print(f"store: {runs} runs, {runs * each} trials, {os.path.getsize(target):,} bytes")


class Viewer:
    def __init__(self, program, *more):
        self.child = subprocess.Popen([program, "view", "--embedded", *more], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.child.stdout.readline().strip()
        self.host = re.match(r"http://([^/]+)/", self.url).group(1)
        self.connection = http.client.HTTPConnection(self.host)
        self.connection.request("GET", self.url[len("http://") + len(self.host) :])
        answer = self.connection.getresponse()
        answer.read()
        self.cookie = answer.headers["set-cookie"].split(";")[0]

    def get(self, path):
        for attempt in range(2):
            try:
                started = time.perf_counter()
                self.connection.request("GET", path, headers={"cookie": self.cookie})
                answer = self.connection.getresponse()
                body = answer.read()
                assert answer.status == 200, f"{path}: {answer.status} {body[:500]}"
                return time.perf_counter() - started, body.decode()
            except (http.client.HTTPException, OSError):
                # The server closes connections that are idle.
                self.connection = http.client.HTTPConnection(self.host)
                assert attempt == 0, path

    def cpu(self):
        fields = open(f"/proc/{self.child.pid}/stat").read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        status = open(f"/proc/{self.child.pid}/status").read()
        return {name: int(re.search(rf"{name}:\s+(\d+)", status).group(1)) // 1024 for name in ("VmRSS", "VmHWM")}


def is_prepared():
    """Whether every run has its reports in the index."""
    store = sqlite3.connect("file:.bardo-eval/store.sqlite?mode=ro", uri=True)
    index = sqlite3.connect("file:.bardo-eval/store.sqlite.search?mode=ro", uri=True)
    runs = store.execute("SELECT count(*) FROM runs").fetchone()[0]
    return index.execute("SELECT count(DISTINCT id) FROM reports WHERE kind LIKE 'side%'").fetchone()[0] == runs


def measure(program, paint):
    small = Viewer(program, "--store", "base.sqlite")
    print(f"first page of {sqlite3.connect('base.sqlite').execute('SELECT count(*) FROM trials WHERE run = 3').fetchone()[0]} attacks after their run: {small.get('/redteam')[0] * 1000:.1f} ms")
    small.child.kill()
    viewer = Viewer(program)
    started, before = time.time(), viewer.cpu()
    while "being made" in viewer.get("/search?q=usdc")[1] or not is_prepared():
        time.sleep(1)
    index = os.path.getsize(".bardo-eval/store.sqlite.search") + os.path.getsize(".bardo-eval/store.sqlite.search-wal")
    size = os.path.getsize(".bardo-eval/store.sqlite")
    print(f"search index: {index:,} bytes ({index / size:.1%} of the store), filled in {viewer.cpu() - before:.0f} CPU-s, {time.time() - started:.0f} s")
    print(f"memory after that: {viewer.memory()} MB")
    store = sqlite3.connect("file:.bardo-eval/store.sqlite?mode=ro", uri=True)
    runs = [row[0][:12] for row in store.execute(f"SELECT id FROM runs WHERE run % {ATTACKED} != 0 ORDER BY run DESC")]
    attacked = [row[0][:12] for row in store.execute(f"SELECT id FROM runs WHERE run % {ATTACKED} = 0 ORDER BY run DESC")]
    keys = [row[0] for row in store.execute(f"SELECT run FROM runs WHERE run % {ATTACKED} != 0 ORDER BY run DESC")]
    each = store.execute("SELECT count(*) FROM trials WHERE run = ?", (keys[0],)).fetchone()[0]
    case = store.execute("SELECT case_id FROM trials WHERE run = ? AND n = ?", (keys[0], each // 2)).fetchone()[0]
    pick = lambda n: runs[(n * 7919) % len(runs)]
    pick_attacked = lambda n: attacked[n % len(attacked)]
    pages = {
        "runs": lambda n: f"/runs?before={keys[(n * 104729) % len(keys)]}" if n % 2 else "/runs",
        "run": lambda n: f"/runs/{pick(n)}",
        "trials": lambda n: f"/runs/{pick(n)}/trials?from={(n * 31) % each}",
        "trials, failed": lambda n: f"/runs/{pick(n)}/trials?outcome=failed",
        "trials, scorer": lambda n: f"/runs/{pick(n)}/trials?scorer=hit",
        "trials, time and cost": lambda n: f"/runs/{pick(n)}/trials?min_ms=1&min_usd=0.01",
        "trial": lambda n: f"/runs/{pick(n)}/trials/{(n * 31) % each}",
        "trial, raw": lambda n: f"/runs/{pick(n)}/trials/{(n * 31) % each}/raw",
        "trial, input": lambda n: f"/runs/{pick(n)}/trials/{(n * 31) % each}/input",
        "search, common word": lambda n: f"/search?q={('usdc', 'swap', 'base', 'token')[n % 4]}",
        "search, two words": lambda n: "/search?q=usdc+swap",
        "search, rare word": lambda n: f"/search?q={case}",
        "search, tool": lambda n: "/search?tool=uniswap_get_quote",
        "search, deep page": lambda n: f"/search?q=usdc&before={keys[(n * 104729) % len(keys)]}-5",
        "search, nothing": lambda n: "/search?q=usdc&min_usd=1000",
        "compare": lambda n: f"/compare?a={pick(n)}&b={pick(n + 1)}",
        "compare, trials": lambda n: f"/compare/trials?a={pick(n)}&b={pick(n + 1)}&case={case}",
        "red team": lambda n: "/redteam",
        "red team of a run": lambda n: f"/runs/{pick_attacked(n)}/redteam",
        "run, attacked": lambda n: f"/runs/{pick_attacked(n)}",
        "trial, attacked": lambda n: f"/runs/{pick_attacked(n)}/trials/{(n * 31) % each}",
        "compare, attacked": lambda n: f"/compare?a={pick_attacked(n)}&b={pick_attacked(n + 1)}",
        "production": lambda n: "/production",
        "workspace": lambda n: "/workspace",
    }
    print(f"{'page':24}{'p50 ms':>9}{'p95 ms':>9}{'CPU ms':>9}{'max KB':>9}")
    for name, address in pages.items():
        times, sizes = [], []
        viewer.get(address(0))
        before = viewer.cpu()
        for n in range(SAMPLES):
            taken, body = viewer.get(address(n))
            times.append(taken * 1000)
            sizes.append(len(body.encode()))
        cpu = (viewer.cpu() - before) * 1000 / SAMPLES
        print(f"{name:24}{statistics.median(times):9.1f}{statistics.quantiles(times, n=20)[18]:9.1f}{cpu:9.1f}{max(sizes) / 1000:9.1f}")
    print(f"memory at the end: {viewer.memory()} MB")
    viewer.child.kill()
    fresh = Viewer(program)
    addresses = [address(3) for address in pages.values()]
    given = dict(os.environ, VIEW_ORIGIN=f"http://{fresh.host}", COOKIE=fresh.cookie, PAGES=json.dumps(dict(zip(pages, addresses))))
    print(subprocess.run(["node", paint], env=given, check=True, capture_output=True, text=True).stdout, end="")
    fresh.child.kill()


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        measure(sys.argv[2], sys.argv[3])
