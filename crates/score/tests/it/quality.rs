//! The suites of the reference workspace pass the quality checks.

use bardo_eval_score::checks::{CHECKS, FindingCollector, FindingLevel};

#[test]
fn reference_suites_pass_quality_checks() {
    let workspace = testkit::reference_workspace();
    let mut wrong = vec![];
    for id in ["cross_play", "mutants_caught", "names_alone"] {
        let check = CHECKS.iter().find(|check| check.id() == id).expect("a check");
        let mut found = FindingCollector::of(id, 1);
        check.check(&workspace, &mut found);
        let result = found.finish();
        assert!(result.looked_at > 0 && !result.notes.is_empty(), "{id} measured nothing");
        let errors = result.findings.iter().filter(|finding| finding.level == FindingLevel::Error);
        wrong.extend(errors.map(ToString::to_string));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
