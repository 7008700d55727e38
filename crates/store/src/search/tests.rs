use super::words::{trial_words, words};
use super::*;
use crate::Store;
use crate::tests::{begin, example, outline, row};

fn terms(text: &str) -> SearchTerms {
    SearchTerms { text: text.to_owned(), ..SearchTerms::default() }
}

#[test]
fn words_are_lower_case_runs_of_letters_and_digits() {
    assert_eq!(words("Sell 0xAbC, uniswap_get_quote! Größe"), ["sell", "0xabc", "uniswap", "get", "quote", "größe"]);
    assert_eq!(words("资产 ok"), ["资", "产", "ok"]);
    assert_eq!(words("\u{e000}tswap <b>"), ["tswap", "b"], "no text can pass for a mark");
    assert_eq!(words(&"a".repeat(500))[0].len(), 80);
}

#[test]
fn marks_name_called_tools_and_missed_scorers() {
    let events = r#"[{"n":7,"happened":{"called":{"call":9,"tool":"get_quote","args":{"amount":250}}}}]"#;
    let scores = r#"[{"scorer":"hit","reading":{"tally":{"hit":0,"of":1}}},{"scorer":"flow","reading":{"tally":{"hit":1,"of":1}}}]"#;
    let found = trial_words("case_a", events, scores);
    let found: Vec<&str> = found.split(' ').collect();
    for word in ["250", "quote", "case", "\u{e000}tget\u{e001}quote", "\u{e000}shit"] {
        assert!(found.contains(&word), "{word} in {found:?}");
    }
    assert!(!found.contains(&"7") && !found.contains(&"9") && !found.contains(&"\u{e000}sflow"), "{found:?}");
}

#[test]
fn index_follows_the_store() {
    let store = Store::open_in_memory().unwrap();
    let index = SearchIndex::open_in_memory().unwrap();
    let record = example("a", 3);
    let run = begin(&store, "first", &outline("a", 3));
    for n in 0..3 {
        store.add_trial(&row(run, n, &record)).unwrap();
    }
    assert_eq!(index.update(&store, 2).unwrap(), IndexCoverage { runs: 1, behind: 1 });
    assert_eq!(index.update(&store, 2).unwrap(), IndexCoverage { runs: 1, behind: 0 });
    let case = record.plan.trials[0].case.clone();
    assert_eq!(index.find_in_run(&terms(&case), run, 0, 10).unwrap(), [0, 1, 2]);
    assert_eq!(index.find_in_run(&terms(&case), run, 1, 1).unwrap(), [1]);
    let last = index.find_before(&terms(&case), Some(SearchPosition { run, n: 2 }), 10).unwrap();
    assert_eq!(last.iter().map(|at| at.n).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(index.find_before(&terms(" *- "), None, 2).unwrap().len(), 2, "without words, all trials");
    assert!(index.find_in_run(&terms("nowhere"), run, 0, 10).unwrap().is_empty());
    assert!(index.find_in_run(&terms("\" OR NEAR( *"), run, 0, 10).is_ok(), "signs of the query language are no words");
    store.remove_trials_from(run, 1).unwrap();
    index.update(&store, 10).unwrap();
    assert_eq!(index.find_in_run(&terms(&case), run, 0, 10).unwrap(), [0]);
    store.remove_run(run).unwrap();
    // The next run gets the same number.
    let second = begin(&store, "second", &outline("a", 3));
    assert_eq!(second, run);
    index.update(&store, 10).unwrap();
    assert!(index.find_in_run(&terms(&case), run, 0, 10).unwrap().is_empty());
}

#[test]
fn damaged_index_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    #[expect(clippy::disallowed_methods, reason = "the test needs an invalid file")]
    std::fs::write(folder.path().join("store.sqlite.search"), "not a database at all, but long enough to be read as one").unwrap();
    let index = SearchIndex::open(&path).unwrap();
    assert!(index.find_before(&terms("a"), None, 1).unwrap().is_empty());
}

#[cfg(unix)]
#[test]
fn index_is_private_to_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let _index = SearchIndex::open(folder.path().join("store.sqlite")).unwrap();
    for name in ["store.sqlite.search", "store.sqlite.search-wal", "store.sqlite.search-shm"] {
        let mode = folder.path().join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn report_is_valid_for_one_record_and_gone_with_its_run() {
    let store = Store::open_in_memory().unwrap();
    let index = SearchIndex::open_in_memory().unwrap();
    let run = begin(&store, "first", &outline("a", 1));
    let key = |made_from| ReportKey { run: "first", kind: "attacks 1", made_from };
    assert_eq!(index.report(key("record a")).unwrap(), None);
    index.keep_report(key("record a"), "{\"x\": \"ü\"}").unwrap();
    assert_eq!(index.report(key("record a")).unwrap().as_deref(), Some("{\"x\": \"ü\"}"));
    assert_eq!(index.report(key("record b")).unwrap(), None, "of another record");
    assert!(index.has_report(key("record a")).unwrap() && !index.has_report(key("record b")).unwrap());
    index.keep_report(key("record b"), "2").unwrap();
    assert_eq!((index.report(key("record a")).unwrap(), index.report(key("record b")).unwrap().as_deref()), (None, Some("2")));
    index.update(&store, 10).unwrap();
    store.remove_run(run).unwrap();
    index.update(&store, 10).unwrap();
    assert_eq!(index.report(key("record b")).unwrap(), None);
}

#[test]
fn index_of_a_server_is_a_local_file_without_its_password() {
    let place = |url: &str| StoreLocation::new(url, Default::default).index_file();
    let one = place("postgres://ann@db.example/runs").unwrap();
    assert_eq!(one, place("postgresql://bob@db.example:5432/runs?application_name=x").unwrap(), "the same database for another user");
    assert_ne!(one, place("postgres://ann@db.example/other").unwrap());
    assert_ne!(one, place("postgres://ann@db2.example/runs").unwrap());
    assert!(one.starts_with(".bardo-eval") && one.extension().is_some_and(|end| end == "search"), "{}", one.display());
    assert!(place("postgres://ann:sesame@db.example/runs").is_err());
}
