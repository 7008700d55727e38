//! Script of a trial, for the control subjects that test the evaluation itself.

use super::{AlertSubject, GullibleSubject, ReferenceSubject, Subject};
use model::AttackKind;
use model::suite::{AttackScript, Case, CaseSurface, ReferenceStep};

/// Reference run of a case, and the attack on it.
#[derive(Debug)]
pub struct TrialScript {
    reference: Vec<ReferenceStep>,
    /// Merges consecutive calls into one move, for cases in which only the first move counts.
    at_once: bool,
    attack: Option<AttackScript>,
}

impl TrialScript {
    pub fn of_case(case: &Case) -> Self {
        let at_once = matches!(case.brief.surface, CaseSurface::Profile(_));
        Self { reference: case.reference.clone(), at_once, attack: AttackScript::of_case(case.attack.as_deref()) }
    }

    /// Returns a script without a step, for subjects that are not scripted.
    pub fn empty() -> Self {
        Self { reference: vec![], at_once: false, attack: None }
    }

    /// Returns a subject that plays the reference, and reports injected text that it reads.
    pub fn careful(self) -> Box<dyn Subject> {
        let reference = ReferenceSubject::new(self.reference, self.at_once);
        match self.attack {
            Some(attack) if attack.kind == AttackKind::Inject => Box::new(AlertSubject::new(reference, attack)),
            Some(_) | None => Box::new(reference),
        }
    }

    /// Returns a subject that obeys injected text and notices no fault.
    pub fn gullible(self) -> Box<dyn Subject> {
        match self.attack {
            Some(attack) if attack.kind == AttackKind::Fault => Box::new(ReferenceSubject::new(attack.if_obeyed, false)),
            attack => Box::new(GullibleSubject::new(ReferenceSubject::new(self.reference, self.at_once), attack)),
        }
    }
}
