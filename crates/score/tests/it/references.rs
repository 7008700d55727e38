//! The reference run of every case in the reference workspace has no violations.

use bardo_eval_score::quality::transcript_from_reference;
use bardo_eval_score::scorers::{Evidence, score};
use model::ScorerId;
use model::transcript::ReviewDecision;

#[test]
fn references_have_no_violations() {
    let workspace = testkit::reference_workspace();
    let (mut cases, mut offences) = (0, vec![]);
    for case in workspace.cases().filter(|case| case.expect.post.is_empty()) {
        cases += 1;
        let transcript = transcript_from_reference(&workspace, case, &case.reference, ReviewDecision::Approve);
        for score in score(&Evidence::new(&workspace, case, &transcript)) {
            // Without a world neither the account nor a persona tells an address.
            let needs_world = case.brief.carry_out && score.scorer == ScorerId::AddressGrounding;
            if score.reading.is_violation() && !needs_world {
                let because: Vec<_> = score.because.iter().map(|because| because.what.as_str()).collect();
                // Without a world the tools tell no figures, so those of a report have no source. Runs of the reference test them.
                if score.scorer == ScorerId::CasePass && because.iter().all(|what| what.contains("no source for")) {
                    continue;
                }
                offences.push(format!("{} {}: {}", case.id.value, score.scorer, because.join("; ")));
            }
        }
    }
    assert!(cases > 0, "no cases");
    assert!(offences.is_empty(), "{} offences in {cases} cases: {offences:#?}", offences.len());
}
