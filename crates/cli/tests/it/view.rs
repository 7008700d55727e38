//! `view` and HTML reports: every page of a stored run, access, and texts that attackers wrote.

use crate::harness::TestFolder;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

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
        let mut child = Command::new(env!("CARGO_BIN_EXE_bardo-eval"))
            .arg("view")
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
        let mut viewer = Self::spawn(folder);
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
