//! Stores on PostgreSQL from outside: every command reads there what it reads in a file, and refusals come before anything runs.

use crate::harness::{ProgramOutput, TestFolder};
use serde_json::{Value, json};
use testkit::{PostgresServer, chat};

/// Returns a folder whose subject `local` is paid.
fn folder() -> TestFolder {
    let folder = TestFolder::with_minimal();
    let url = chat::serve_chat(|_, _| chat::tool_call_reply(1, "wallet_get_balance", &json!({ "token": "USDC", "chain": "base" })));
    folder.write("evals/subjects/local.yaml", chat::subject_file("local", &url));
    folder
}

/// Runs a command with `--store`, and returns its output without the name of the store.
fn shown(folder: &TestFolder, args: &[&str], store: &str) -> (Option<i32>, String, String) {
    let ProgramOutput { code, stdout, stderr, .. } = folder.run(&[args, &["--store", store]].concat());
    let plain =
        |text: String| text.replace(&format!(" --store '{store}'"), "").replace(&format!(" --store {store}"), "").replace(store, "STORE");
    (code, plain(stdout), plain(stderr))
}

#[test]
fn commands_read_the_same_from_a_copy_on_postgres() {
    let folder = folder();
    let (file, url) = ("runs.sqlite", PostgresServer::shared().create_database());
    for subject in ["reference", "local", "echo"] {
        folder.run(&["run", "--subject", subject, "--profile", "trader", "--budget", "1", "--store", file]);
    }
    let copied = folder.json(&["store", "copy", file, &url], 0);
    let copied: Vec<&Value> = copied["items"].as_array().unwrap().iter().collect();
    assert!(copied.len() == 3 && copied.iter().all(|item| item["result"] == "copied" && item["trials"].as_u64() > Some(0)), "{copied:?}");
    let again = folder.json(&["store", "copy", file, &url], 0);
    assert!(again["items"].as_array().unwrap().iter().all(|item| item["result"] == "already there"), "{again:#}");
    let ids: Vec<String> = copied.iter().map(|item| item["run"].as_str().unwrap()[..12].to_owned()).collect();
    let case = folder.list("cases")[0]["id"].as_str().or(folder.list("cases")[0]["case"].as_str()).unwrap().to_owned();
    let commands: &[&[&str]] = &[
        &["runs", "list"],
        &["runs", "list", "--format", "json"],
        &["runs", "show", &ids[1]],
        &["show", &case, "--run", &ids[0]],
        &["score", &ids[0]],
        &["score", &ids[1], "--format", "json"],
        &["compare", &ids[0], &ids[1]],
        &["compare", &ids[0], &ids[2], "--format", "json"],
        &["cost"],
        &["cost", "--format", "json"],
        &["export", &ids[1], "--to", "jsonl"],
        &["export", &ids[1], "--to", "csv"],
        &["export", &ids[0], "--to", "otlp"],
        &["golden", "diff", "--run", &ids[0]],
        &["doctor"],
        &["case", "new", "--from", &format!("{}/{case}", ids[0])],
        &["view", "ffffffffffff"],
    ];
    for command in commands {
        let on_file = shown(&folder, command, file);
        assert_eq!(shown(&folder, command, &url), on_file, "{command:?}");
        assert!(!on_file.1.is_empty() || !on_file.2.is_empty(), "{command:?} says nothing");
    }
    folder.run(&["runs", "rm", &ids[2], "--store", &url]).assert_exit(0);
    assert_eq!(folder.json(&["runs", "list", "--store", &url], 0)["items"].as_array().unwrap().len(), 2);
    folder.run(&["store", "copy", &url, "back/again.sqlite", &ids[0]]).assert_exit(0).assert_stdout("copied");
    let back = shown(&folder, &["runs", "show", &ids[0]], "back/again.sqlite");
    assert_eq!(back, shown(&folder, &["runs", "show", &ids[0]], file));
}

#[test]
fn a_run_on_postgres_has_the_record_of_a_run_in_a_file() {
    let folder = folder();
    let url = PostgresServer::shared().create_database();
    let args = ["run", "--subject", "local", "--profile", "trader", "--budget", "1", "--trials", "3", "--no-cache"];
    let in_file = folder.run(&args);
    let in_database = folder.run_with_variable(&args, "BARDO_EVAL_STORE", &url);
    assert_eq!(in_database.code, in_file.code, "{in_database:?}");
    let of = |store: &[&str]| folder.json(&[&["runs", "list"], store].concat(), 0)["items"][0].clone();
    let (file, database) = (of(&[]), of(&["--store", &url]));
    for key in ["record", "trials", "spent_usd", "subjects", "state"] {
        assert_eq!(database[key], file[key], "{key}");
    }
    assert!(database["record"].is_string() && database["spent_usd"].as_f64() > Some(0.0), "{database:#}");
    assert!(in_database.stdout.contains(&format!("--store '{url}'")), "the next command names the store: {}", in_database.stdout);
    // The cache of replies is in the store too.
    let cached = ["run", "--subject", "local", "--profile", "trader", "--budget", "1", "--store", &url];
    folder.run(&cached);
    folder.run(&cached);
    assert_eq!(of(&["--store", &url])["spent_usd"].as_f64(), Some(0.0));
}

#[test]
fn a_run_on_postgres_is_resumed() {
    let folder = folder();
    let url = PostgresServer::shared().create_database();
    // The budget ends after the first call.
    let run = ["run", "--subject", "local", "--profile", "trader", "--trials", "4", "--no-cache", "--store", &url];
    folder.run(&[&run[..], &["--budget", "0.00004"]].concat());
    let list = || folder.json(&["runs", "list", "--store", &url], 0)["items"][0].clone();
    let before = list();
    assert!(before["record"].is_null(), "{before:#}");
    folder.run(&["run", "--resume", "--budget", "1", "--store", &url]);
    let after = list();
    assert_eq!((after["run"].clone(), after["trials"]["aborted"].clone()), (before["run"].clone(), json!(0)), "{after:#}");
    folder.run(&[&run[..], &["--budget", "1"]].concat());
    assert_eq!(list()["record"], after["record"], "the record of an uninterrupted run");
}

#[test]
fn a_password_in_a_url_is_refused_everywhere_and_never_printed() {
    let folder = folder();
    let url = "postgres://ann:hunter2secret@127.0.0.1:1/runs";
    for args in [
        &["run", "--subject", "reference"][..],
        &["run", "--resume"],
        &["runs", "list"],
        &["runs", "rm", "abcd"],
        &["show", "any"],
        &["score"],
        &["compare", "abcd", "bcde"],
        &["cost"],
        &["view"],
        &["export", "--to", "csv"],
    ] {
        for format in ["text", "json"] {
            let ran = folder.run(&[args, &["--store", url, "--format", format]].concat());
            let all = format!("{}{}", ran.stdout, ran.stderr);
            assert!(ran.code == Some(2) && !all.contains("hunter2"), "{args:?}: {ran:?}");
            assert!(all.contains("has a password") && all.contains("PGPASSWORD"), "{args:?}: {all}");
        }
    }
    let ran = folder.run_with_variable(&["runs", "list"], "BARDO_EVAL_STORE", url).assert_exit(2);
    assert!(!format!("{ran:?}").contains("hunter2"));
    let ran = folder.run(&["store", "copy", url, "x.sqlite"]).assert_exit(2);
    assert!(!format!("{ran:?}").contains("hunter2"));
    let ran = folder.run(&["doctor", "--store", url]);
    assert!(!format!("{ran:?}").contains("hunter2"));
    let ran = folder.run(&["run", "--help"]).assert_exit(0);
    assert!(!format!("{ran:?}").contains("hunter2"));
    assert!(!folder.files().iter().any(|name| name.contains("postgres") || name.contains("hunter2")), "no file has the name of a URL");
}

#[test]
fn stores_that_cannot_be_used_are_refused_before_anything_runs() {
    let folder = folder();
    let server = PostgresServer::shared();
    let run = |url: &str| folder.run(&["run", "--subject", "local", "--profile", "trader", "--budget", "1", "--store", url]);
    run("postgres://ann@127.0.0.1:1/runs").assert_exit(2).assert_stderr("check host and port");
    run(&server.url("nowhere")).assert_exit(2).assert_stderr("createdb");
    run("postgres://ann@db/runs?sslmode=no").assert_exit(2).assert_stderr("sslmode is disable, prefer, require or verify-full");
    let url = server.create_database();
    folder.run(&["runs", "list", "--store", &url]).assert_exit(2).assert_stderr("no runs in postgres://bardo@/");
    let database = url.split(['/', '?']).nth(3).unwrap();
    let schemas = || server.psql(database, "SELECT count(*) FROM pg_namespace WHERE nspname = 'bardo_eval'");
    assert_eq!(schemas(), "0", "a reader creates nothing");
    server.psql("postgres", &format!("ALTER DATABASE {database} SET default_transaction_read_only = on"));
    run(&url).assert_exit(2).assert_stderr("name the primary server");
    assert_eq!(schemas(), "0");
    server.psql("postgres", &format!("ALTER DATABASE {database} RESET default_transaction_read_only"));
    run(&url);
    server.psql(database, "UPDATE bardo_eval.schema_version SET version = 99");
    run(&url).assert_exit(2).assert_stderr("newer version");
    folder.run(&["runs", "list", "--store", &url]).assert_exit(2).assert_stderr("use the version that wrote it, or another --store");
}

/// A trigger answers as a server without room does.
#[test]
fn a_full_disk_of_the_server_stops_the_run_and_a_resume_completes_it() {
    let folder = folder();
    let server = PostgresServer::shared();
    let url = server.create_database();
    let database = url.split(['/', '?']).nth(3).unwrap();
    folder.run(&["run", "--subject", "echo", "--profile", "trader", "--store", &url]);
    server.psql(
        database,
        "CREATE FUNCTION bardo_eval.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.n = 2 THEN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END IF; RETURN NEW; END $$;
         CREATE TRIGGER full_disk BEFORE INSERT ON bardo_eval.trials FOR EACH ROW EXECUTE FUNCTION bardo_eval.full_disk()",
    );
    let run = ["run", "--subject", "local", "--profile", "trader", "--budget", "1", "--trials", "3", "--no-cache", "--store", &url];
    folder.run(&run).assert_exit(3).assert_stderr("No space left");
    server.psql(database, "DROP TRIGGER full_disk ON bardo_eval.trials");
    folder.run(&["run", "--resume", "--store", &url]);
    let runs = folder.json(&["runs", "list", "--store", &url], 0);
    assert!(runs["items"][0]["record"].is_string(), "{runs:#}");
    folder.run(&run);
    let again = folder.json(&["runs", "list", "--store", &url], 0);
    assert_eq!(again["items"][0]["record"], runs["items"][0]["record"]);
}
