//! `view` and HTML reports: every page of a stored run, access, and texts that attackers wrote.

use crate::harness::TestFolder;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Texts that would do something if a page took them for its own.
const HOSTILE: &str =
    "<script>alert(1)</script> \\\"><img src=x onerror=alert(2)> </title><svg onload=alert(3)> \\u202E\\u001B[31m {{7*7}} ";

/// Running viewer; killed on drop.
pub(crate) struct ViewerProcess {
    child: Child,
    host: String,
    token: String,
    cookie: String,
}

impl Drop for ViewerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Answer of the viewer.
struct PageAnswer {
    status: u16,
    head: String,
    body: String,
}

impl ViewerProcess {
    /// Starts a viewer; its token is not used yet.
    pub(crate) fn spawn(folder: &TestFolder) -> Self {
        Self::spawn_with(folder, &[])
    }

    /// Starts a viewer with further arguments.
    fn spawn_with(folder: &TestFolder, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_bardo-eval"))
            .arg("view")
            .args(args)
            .current_dir(folder.path(""))
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (host, token) = line.trim().strip_prefix("http://").unwrap().split_once("/runs?token=").unwrap();
        Self { host: host.to_owned(), token: token.to_owned(), cookie: String::new(), child }
    }

    /// Returns the printed address.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/runs?token={}", self.host, self.token)
    }

    fn start(folder: &TestFolder) -> Self {
        Self::start_with(folder, &[])
    }

    fn start_with(folder: &TestFolder, args: &[&str]) -> Self {
        let mut viewer = Self::spawn_with(folder, args);
        let login = viewer.get(&format!("/runs?token={}", viewer.token));
        assert_eq!(login.status, 303, "{}", login.head);
        let cookie = login.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        viewer.cookie = cookie.split(';').next().unwrap().to_owned();
        viewer
    }

    fn get(&self, path: &str) -> PageAnswer {
        self.request("GET", path, &self.host, &format!("cookie: {}\r\n", self.cookie))
    }

    fn request(&self, method: &str, path: &str, host: &str, headers: &str) -> PageAnswer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{headers}\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text}"));
        PageAnswer { status: head.split(' ').nth(1).unwrap().parse().unwrap(), head: head.to_owned(), body: body.to_owned() }
    }
}

/// Returns a page of a viewer that is started for it.
pub(crate) fn page_of(folder: &TestFolder, path: &str) -> String {
    ViewerProcess::start(folder).get(path).body
}

fn folder_with_runs() -> TestFolder {
    let folder = TestFolder::with_minimal();
    let suite = folder.files().into_iter().find(|name| name.contains("suites/tool_selection")).unwrap();
    let text = folder.read(&suite);
    let at = text.find("turns: [\"").unwrap() + "turns: [\"".len();
    folder.write(&suite, format!("{}{HOSTILE}{}", &text[..at], &text[at..]));
    folder.run(&["run", "--subject", "reference"]);
    folder.run(&["run", "--subject", "echo", "--report", "html=echo.html"]).assert_exit(1);
    folder
}

fn assert_harmless(page: &str) {
    for part in ["<script>alert", "<img", "<svg onload", "onerror=alert(2)>", "\u{202e}", "\u{1b}"] {
        assert!(!page.contains(part), "{part} in {page}");
    }
}

/// Returns the first address in a page that starts so.
fn first_address<'p>(page: &'p str, start: &str) -> &'p str {
    let at = page.find(&format!("href=\"{start}")).unwrap_or_else(|| panic!("no {start} in {page}")) + "href=\"".len();
    page[at..].split('"').next().unwrap()
}

#[test]
fn viewer_shows_every_page_and_no_script_of_others() {
    let folder = folder_with_runs();
    let viewer = ViewerProcess::start(&folder);
    let runs = viewer.get("/runs");
    assert_eq!(runs.status, 200);
    assert!(runs.body.contains("echo") && runs.body.contains("reference") && runs.body.contains("all met"), "{}", runs.body);
    let run = first_address(&runs.body, "/runs/").to_owned();
    let page = viewer.get(&run);
    assert!(page.body.contains("gates missed") && page.body.contains("Dimensions") && page.body.contains("role=\"img\""), "{}", page.body);
    let failed = viewer.get(&format!("{run}/trials?outcome=failed"));
    assert!(failed.body.contains("✗ failed") && !failed.body.contains("✓ passed"), "{}", failed.body);
    assert!(viewer.get(&format!("{run}/trials?outcome=passed&case=nothing")).body.contains("No trial fits."));
    let found = viewer.get(&format!("{run}/trials?q=alert(1)"));
    let trial = first_address(&found.body, &format!("{run}/trials/")).to_owned();
    let shown = viewer.get(&trial);
    assert!(
        shown.body.contains("Timeline") && shown.body.contains("&lt;script&gt;alert(1)") && shown.body.contains("\\u{202e}"),
        "{}",
        shown.body
    );
    let raw = viewer.get(&format!("{trial}/raw"));
    let compare = viewer.get(&first_address(&runs.body, "/compare?a=").replace("&amp;", "&"));
    assert!(compare.body.contains("Cases that flipped") && compare.body.contains("regression"), "{}", compare.body);
    let pair = viewer.get(&first_address(&compare.body, "/compare/trials").replace("&amp;", "&"));
    assert!(pair.body.contains("First event that differs"), "{}", pair.body);
    let workspace = viewer.get("/workspace");
    for page in [&runs, &page, &failed, &shown, &raw, &compare, &pair, &workspace] {
        assert_eq!(page.status, 200, "{}", page.head);
        assert!(page.head.contains("content-security-policy: default-src 'none'") && page.head.contains("nosniff"), "{}", page.head);
        assert_harmless(&page.body);
        assert!(!page.body.contains(" style=") && !page.body.contains("http://") && !page.body.contains("https://"), "{}", page.body);
    }
    for missing in ["/nothing", "/runs/ffffffffffff", &format!("{run}/trials/999999"), "/runs/..%2f..%2fetc"] {
        assert_eq!(viewer.get(missing).status, 404, "{missing}");
    }
}

#[test]
fn viewer_answers_only_its_own_page_with_cookie() {
    let folder = folder_with_runs();
    let viewer = ViewerProcess::start(&folder);
    let cookie = format!("cookie: {}\r\n", viewer.cookie);
    for (method, host, headers, status) in [
        ("GET", viewer.host.as_str(), cookie.clone(), 200),
        ("GET", &viewer.host, String::new(), 401),
        ("GET", &viewer.host, "cookie: bardo_eval_view_1=x\r\n".to_owned(), 401),
        ("GET", "attacker.example", cookie.clone(), 421),
        ("GET", &viewer.host, format!("{cookie}origin: http://attacker.example\r\n"), 403),
        ("GET", &viewer.host, format!("{cookie}sec-fetch-site: cross-site\r\n"), 403),
        ("POST", &viewer.host, format!("{cookie}content-length: 0\r\n"), 405),
    ] {
        let answer = viewer.request(method, "/runs", host, &headers);
        assert_eq!(answer.status, status, "{method} {host} {headers}");
        assert!(status == 200 || !answer.body.contains("echo"), "{}", answer.body);
    }
    // The token was used by the first page.
    let again = viewer.request("GET", &format!("/runs?token={}", viewer.token), &viewer.host, "");
    assert_eq!(again.status, 403, "{}", again.body);
}

#[test]
fn html_report_is_one_harmless_file() {
    let folder = folder_with_runs();
    let page = folder.read("echo.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("gates missed") && page.contains("Failed trials"), "{page}");
    assert!(!page.contains("<script") && !page.contains("href=\"/") && !page.contains("http://") && !page.contains("https://"), "{page}");
    assert_harmless(&page);
}

#[test]
fn view_without_store_or_run_is_refused() {
    let folder = TestFolder::with_minimal();
    folder.run(&["view"]).assert_exit(2).assert_stderr("start one with `bardo-eval run`");
    folder.run(&["run", "--subject", "echo"]);
    folder.run(&["view", "ffffffff"]).assert_exit(2).assert_stderr("there is no run");
}

#[test]
fn stalled_clients_are_closed_and_others_are_served() {
    let folder = folder_with_runs();
    let viewer = ViewerProcess::start(&folder);
    // More than the server accepts at once: a head that never ends, and nothing at all.
    let mut stalled: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(&viewer.host).unwrap()).collect();
    for (n, stream) in stalled.iter_mut().enumerate().filter(|(n, _)| n % 2 == 0) {
        write!(stream, "GET /runs HTTP/1.1\r\nhost: {}\r\nx-{n}: ", viewer.host).unwrap();
    }
    let started = Instant::now();
    let page = viewer.get("/runs");
    assert_eq!(page.status, 200, "{}", page.head);
    assert!(started.elapsed() < Duration::from_secs(20), "served after {:?}", started.elapsed());
    for stream in &mut stalled {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut rest = vec![];
        // Closed, with an answer that the time is over or without one.
        let ended = stream.read_to_end(&mut rest);
        assert!(ended.is_ok_and(|_| !rest.starts_with(b"HTTP/1.1 200")) || rest.is_empty(), "{rest:?}");
    }
    assert!(started.elapsed() < Duration::from_secs(60), "closed after {:?}", started.elapsed());
    let large = format!("x: {}\r\n", "a".repeat(200_000));
    let mut stream = TcpStream::connect(&viewer.host).unwrap();
    let _ = write!(stream, "GET /runs HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\n{large}\r\n", viewer.host, viewer.cookie);
    let mut answer = vec![];
    let _ = stream.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP/1.1 200"), "a head without bounds is answered");
}

#[test]
fn other_users_of_the_machine_are_kept_out() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder_with_runs();
    let viewer = ViewerProcess::start(&folder);
    assert_eq!(viewer.get("/search?q=alert").status, 200);
    let names: Vec<String> = folder.files().into_iter().filter(|name| name.contains(".bardo-eval/store.sqlite")).collect();
    assert!(names.iter().any(|name| name.ends_with(".search")), "{names:?}");
    for name in &names {
        let mode = folder.path(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name} has mode {mode:o}");
    }
    // Arguments of processes are readable for all: neither token nor cookie is there.
    let arguments = std::fs::read_to_string(format!("/proc/{}/cmdline", viewer.child.id())).unwrap_or_default();
    let secret = viewer.cookie.split_once('=').unwrap().1;
    assert!(!arguments.contains(&viewer.token) && !arguments.contains(secret), "{arguments:?}");
    // A stranger on the machine can connect, but has no cookie and no unused token.
    for (path, headers) in [("/runs", ""), ("/search?q=alert", "cookie: bardo_eval_view=x\r\n"), ("/static/view.js", "")] {
        let answer = viewer.request("GET", path, &viewer.host, headers);
        assert!(answer.status == 401 && answer.body.len() < 200, "{path}: {}", answer.head);
    }
}

#[test]
fn browser_is_given_a_private_file_instead_of_the_token() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder_with_runs();
    // A browser that writes down its arguments.
    folder.write(
        "bin/xdg-open",
        "#!/bin/sh\necho \"$@\" > ../opened.tmp && mv ../opened.tmp ../opened\n".replace("../", &format!("{}/", folder.path("").display())),
    );
    std::fs::set_permissions(folder.path("bin/xdg-open"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path("bin").display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_bardo-eval"));
    command.args(["view", "--open"]).current_dir(folder.path("")).env_clear().env("PATH", path);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let started = Instant::now();
    while !folder.path("opened").exists() && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let opened = folder.read("opened");
    let page = std::fs::read_to_string(opened.trim()).unwrap();
    let mode = std::fs::metadata(opened.trim()).unwrap().permissions().mode();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(page.contains(line.trim()) && !opened.contains("token"), "{opened} {page}");
    assert_eq!(mode & 0o077, 0, "{mode:o}");
}

/// Searches once all trials are indexed.
fn search_when_indexed(viewer: &ViewerProcess, query: &str) -> PageAnswer {
    let started = Instant::now();
    loop {
        let found = viewer.get(query);
        if !found.body.contains("being made") {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(120), "the index is not filled");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn store_on_postgres_is_searched_like_a_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder_with_runs();
    let url = testkit::PostgresServer::shared().create_database();
    folder.run(&["store", "copy", ".bardo-eval/store.sqlite", &url]).assert_exit(0);
    let viewers = [ViewerProcess::start(&folder), ViewerProcess::start_with(&folder, &["--store", &url])];
    // A copy may number the runs in another order.
    let rows = |page: &str| {
        let rows = page.split("<tbody>").nth(1).map(|rows| rows.split("</tbody>").next().unwrap());
        let mut rows: Vec<String> = rows.into_iter().flat_map(|rows| rows.split("<tr")).map(str::to_owned).collect();
        rows.sort();
        rows
    };
    let tool = "wallet_get_balance";
    for query in [
        "/search?q=alert",
        "/search?q=ale*&outcome=failed",
        &format!("/search?tool={tool}"),
        "/search?scorer=hit",
        "/search?q=nowhere",
        "/search",
    ] {
        let [on_file, on_server] = [0, 1].map(|at| search_when_indexed(&viewers[at], query));
        assert_eq!((on_file.status, on_server.status), (200, 200), "{query}");
        assert_eq!(rows(&on_server.body), rows(&on_file.body), "{query}");
        assert!(!on_server.body.contains("no search index"), "{query}");
    }
    assert!(rows(&viewers[1].get("/search?q=alert").body).iter().any(|row| row.contains("alert(1)")));
    let run = first_address(&viewers[1].get("/runs").body, "/runs/").to_owned();
    for page in [run.clone(), format!("{run}/trials?q=alert"), format!("{run}/trials/0"), format!("{run}/trials/0/input")] {
        assert_eq!(viewers[1].get(&page).body, viewers[0].get(&page).body, "{page}");
    }
    // The index is a private file of this machine; nothing is written to the server, and nothing names it.
    let indexes: Vec<String> = folder.files().into_iter().filter(|name| name.contains("/server-")).collect();
    assert!(indexes.iter().any(|name| name.ends_with(".search")), "{indexes:?}");
    for name in indexes {
        let mode = folder.path(&name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name} has mode {mode:o}");
    }
}

#[test]
fn attacks_are_kept_when_a_run_ends_and_made_again_without_the_index() {
    let folder = TestFolder::with_reference();
    folder.run(&["redteam", "--probe", "objective_swap", "--subject", "gullible", "--run-id-file", "id"]);
    let run = format!("/runs/{}", &folder.read("id").trim()[..12]);
    let store = rusqlite::Connection::open(folder.path(".bardo-eval/store.sqlite.search")).unwrap();
    let kept: String = store.query_row("SELECT kind FROM reports", [], |row| row.get(0)).expect("the run keeps its attacks");
    assert!(kept.starts_with("attacks"), "{kept}");
    let with_kept = ViewerProcess::start(&folder).get(&format!("{run}/redteam")).body;
    assert!(with_kept.contains(">severity</th>") && with_kept.contains("asi01") && with_kept.contains("Text of the attack"), "{with_kept}");
    drop(store);
    for end in ["", "-wal", "-shm"] {
        drop(std::fs::remove_file(folder.path(&format!(".bardo-eval/store.sqlite.search{end}"))));
    }
    let viewer = ViewerProcess::start(&folder);
    assert_eq!(viewer.get(&format!("{run}/redteam")).body, with_kept, "made from the transcripts");
    // The heat map is also on the page of the run, and a trial of an attacked case shows its world.
    assert!(viewer.get(&run).body.contains("OWASP category by channel"));
    assert!(!viewer.get(&format!("{run}/trials/0")).body.contains("not in the workspace"));
    // Scored again, the run has another record: what was kept for the old one is not shown.
    let store = rusqlite::Connection::open(folder.path(".bardo-eval/store.sqlite")).unwrap();
    store.execute("UPDATE trials SET scores = '[]'", []).unwrap();
    store.execute("UPDATE runs SET record = ?1", ["0".repeat(64)]).unwrap();
    assert_ne!(viewer.get(&format!("{run}/redteam")).body, with_kept);
}

#[test]
fn comparison_in_the_viewer_is_that_of_the_command() {
    let folder = folder_with_runs();
    let ids = folder.json(&["runs", "list"], 0);
    let ids: Vec<&str> = ids["items"].as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap()).collect();
    folder.run(&["compare", ids[1], ids[0], "--report", "html=compare.html"]).assert_exit(1);
    let rows = |page: &str| page.split("<tbody>").nth(1).unwrap().split("</tbody>").next().unwrap().to_owned();
    let viewer = ViewerProcess::start(&folder);
    // The first page makes the sides, the second reads them.
    for _ in 0..2 {
        let page = viewer.get(&format!("/compare?a={}&b={}", ids[1], ids[0]));
        assert_eq!(rows(&page.body), rows(&folder.read("compare.html")));
    }
}

/// Pages of a store of this size have the same bounds as those of a small one.
const LARGE_RUNS: i64 = 100;
const TRIALS_PER_RUN: i64 = 100;
const MAX_PAGE_BYTES: usize = 200_000;

/// Copies the last run until the store has 10,000 trials.
fn multiply_runs(folder: &TestFolder) {
    let store = rusqlite::Connection::open(folder.path(".bardo-eval/store.sqlite")).unwrap();
    let (last, trials): (i64, i64) = store
        .query_row("SELECT max(run), (SELECT count(*) FROM trials WHERE run = (SELECT max(run) FROM runs)) FROM runs", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    store.execute_batch("BEGIN").unwrap();
    for run in last + 1..=last + LARGE_RUNS {
        let copy = "INSERT INTO runs (run, id, started, ended, format, workspace, claim, settings, plan, planned, budget, record, verdicts)
            SELECT ?1, printf('%08x', ?1) || substr(id, 9), started, ended, format, workspace, claim, settings, plan, planned, budget, record, verdicts FROM runs WHERE run = ?2";
        store.execute(copy, rusqlite::params![run, last]).unwrap();
        for n in 0..TRIALS_PER_RUN {
            let copy = "INSERT INTO trials (run, n, trial, case_id, subject, seed, passed, content, wall_us, how, scores, events)
                SELECT ?1, ?3, trial, case_id, subject, seed, passed, content, wall_us, how, scores, events FROM trials WHERE run = ?2 AND n = ?3 % ?4";
            store.execute(copy, rusqlite::params![run, last, n, trials]).unwrap();
        }
    }
    store.execute_batch("COMMIT").unwrap();
}

/// Returns the number of rows with an address, and the address of the next page.
fn rows_and_next(page: &str) -> (usize, Option<String>) {
    let next = page.find("rel=\"next\"").map(|at| {
        let link = &page[page[..at].rfind("<a ").unwrap()..];
        link.split("href=\"").nth(1).unwrap().split('"').next().unwrap().replace("&amp;", "&")
    });
    (page.matches("<tr data-href=").count(), next)
}

#[test]
fn pages_of_a_large_store_are_bounded() {
    let folder = folder_with_runs();
    multiply_runs(&folder);
    let viewer = ViewerProcess::start(&folder);
    search_when_indexed(&viewer, "/search?q=alert");
    let follow = |first: &str, expected: &[usize]| {
        let (mut address, mut rows) = (Some(first.to_owned()), vec![]);
        while let Some(at) = address.take().filter(|_| rows.len() <= expected.len()) {
            let page = viewer.get(&at);
            assert_eq!(page.status, 200, "{at}");
            assert!(page.body.len() <= MAX_PAGE_BYTES, "{at} has {} bytes", page.body.len());
            let (found, next) = rows_and_next(&page.body);
            rows.push(found);
            address = next;
        }
        assert_eq!(rows, expected, "{first}");
    };
    follow("/runs", &[25, 25, 25, 25, 2]);
    let run = first_address(&viewer.get("/runs").body, "/runs/").to_owned();
    follow(&format!("{run}/trials"), &[100]);
    // The first trial of each run has the hostile text.
    let hits = usize::try_from(viewer_hits(&folder)).unwrap();
    let mut expected = vec![50; hits / 50];
    expected.extend((hits % 50 > 0).then_some(hits % 50));
    follow("/search?q=alert", &expected);
    for page in [
        run.clone(),
        format!("{run}/trials/0"),
        format!("{run}/trials/0/raw"),
        format!("{run}/trials/0/input"),
        "/search".into(),
        "/workspace".into(),
        "/compare".into(),
        "/redteam".into(),
        "/production".into(),
    ] {
        let answer = viewer.get(&page);
        assert!(answer.status == 200 && answer.body.len() <= MAX_PAGE_BYTES, "{page}: {} with {} bytes", answer.status, answer.body.len());
    }
    if let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", viewer.child.id())) {
        let peak: u64 =
            status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim().trim_end_matches(" kB").parse().unwrap();
        assert!(peak < 150_000, "{peak} kB");
    }
}

/// Returns the number of stored trials with the word of the hostile text, counted without the index.
fn viewer_hits(folder: &TestFolder) -> i64 {
    let store = rusqlite::Connection::open(folder.path(".bardo-eval/store.sqlite")).unwrap();
    store.query_row("SELECT count(*) FROM trials WHERE events LIKE '%alert(%'", [], |row| row.get(0)).unwrap()
}

#[test]
fn html_report_of_the_reference_workspace_has_at_most_5_mb() {
    let folder = TestFolder::new();
    folder.run(&["run", "--embedded", "--subject", "echo", "--report", "html=run.html"]).assert_exit(1);
    let page = folder.read("run.html");
    assert!(page.contains("Failed trials") && page.matches("<tr").count() > 1_000, "the page lists what failed");
    assert!(page.len() <= 5_000_000, "{} bytes", page.len());
}

#[test]
fn comparison_is_written_as_one_harmless_file() {
    let folder = folder_with_runs();
    let ids = folder.json(&["runs", "list"], 0);
    let ids: Vec<&str> = ids["items"].as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap()).collect();
    folder.run(&["compare", ids[1], ids[0], "--report", "html=compare.html"]).assert_exit(1);
    let page = folder.read("compare.html");
    assert!(page.contains("Cases that flipped") && page.contains("regression"), "{page}");
    assert!(!page.contains("<script") && !page.contains("href=\"/") && !page.contains("http://"), "{page}");
    assert_harmless(&page);
}
