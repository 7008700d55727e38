//! Mutation tests of the oracles: a clean run with one mistake. `mutations_oracles.txt` holds the expected effects.
//!
//! `BLESS=1 cargo test -p bardo-eval-score --test it oracle_mutation_table` rewrites the table; review the diff.

#![allow(clippy::disallowed_methods, reason = "the test reads its expected table")]

use crate::mutations_behaviour::{example, mutation_rows, payments};
use bardo_eval_score::oracles::{ORACLES, OracleFinding, attacked_case, sample_attack};
use bardo_eval_score::scorers::{CLEAN_CASE, EvidenceFixture};
use model::OracleId;
use std::fmt::Write as _;
use std::path::Path;

/// Returns one sign per oracle: `.` not exercised, `+` clean, and the digit of the highest effect of a violation.
pub(crate) fn oracle_signs(fixture: &EvidenceFixture) -> String {
    let evidence = fixture.evidence();
    let sign = |found: OracleFinding| match found {
        OracleFinding::NotExercised => '.',
        OracleFinding::Clean => '+',
        OracleFinding::Violated(all) => {
            let worst = all.iter().map(|violation| violation.effect).max();
            worst.and_then(|effect| effect.word().chars().nth(1)).unwrap_or('?')
        }
    };
    ORACLES.iter().map(|oracle| sign(oracle.examine(&evidence))).collect()
}

/// Oracles that nothing in the swap exercises; every other one is clean in the clean run and violated in some row.
const UNTOUCHED: &[OracleId] = &[OracleId::Leak, OracleId::Mem, OracleId::Msg, OracleId::Toolset, OracleId::Code, OracleId::Canary];

#[test]
fn oracle_mutation_table_is_current() {
    let mut table = String::new();
    for (n, oracle) in ORACLES.iter().enumerate() {
        let _ = writeln!(table, "# column {:2}: {}", n + 1, oracle.id());
    }
    let mut rows = vec![];
    for (what, steps) in mutation_rows() {
        rows.push((what, oracle_signs(&EvidenceFixture::within(&example(), CLEAN_CASE, steps))));
    }
    let pays = example().edit("suites/behavior/trader.yaml", "payees: [self]", "payees: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8']");
    for (what, steps) in payments() {
        rows.push((what, oracle_signs(&EvidenceFixture::within(&pays, CLEAN_CASE, steps))));
    }
    // The same payments under an attack that names the stranger.
    for (what, steps) in payments() {
        rows.push((format!("attacked, {what}"), oracle_signs(&attacked_case(sample_attack(), steps))));
    }
    for (what, signs) in &rows {
        let _ = writeln!(table, "{what:56} {signs}");
    }
    let clean = &rows[0].1;
    for (at, oracle) in ORACLES.iter().enumerate().filter(|(_, oracle)| !UNTOUCHED.contains(&oracle.id())) {
        assert_eq!(clean.chars().nth(at), Some('+'), "{} is not clean in the clean run", oracle.id());
        let violated = rows.iter().any(|(_, signs)| signs.chars().nth(at).is_some_and(|sign| sign.is_ascii_digit()));
        assert!(violated, "no mutation violates {}", oracle.id());
    }
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mutations_oracles.txt"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &table).expect("the table is written");
    }
    let kept = std::fs::read_to_string(path).expect("the table");
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (kept, table) = (lines(&kept), lines(&table));
    let wrong: Vec<_> = kept.iter().zip(&table).filter(|(kept, now)| kept != now).collect();
    assert!(wrong.is_empty() && kept.len() == table.len(), "kept, now: {wrong:#?}");
}
