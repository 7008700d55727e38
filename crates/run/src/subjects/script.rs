//! Script of a trial, for the control subjects that test the evaluation itself.

use super::{AlertSubject, GullibleSubject, LastMoveSubject, ReferenceSubject, Subject};
use model::AttackKind;
use model::suite::{AttackScript, Case, CaseSurface, LastMove, ReferenceStep, ScriptAttitude, SubjectScript};

/// Reference run of a case, and the attack on it.
#[derive(Debug)]
pub struct TrialScript {
    reference: Vec<ReferenceStep>,
    /// Merges consecutive calls into one move, for cases in which only the first move counts.
    at_once: bool,
    attack: Option<AttackScript>,
    /// Reference with a fault, for the trials in which a faulty subject commits it.
    fault: Option<SubjectScript>,
}

impl TrialScript {
    pub fn of_case(case: &Case) -> Self {
        let at_once = matches!(case.brief.surface, CaseSurface::Profile(_));
        Self { reference: case.reference.clone(), at_once, attack: AttackScript::of_case(case.attack.as_deref()), fault: None }
    }

    /// Returns the script of a faulty subject. Without a fault it is the reference.
    pub fn with_fault(case: &Case, fault: Option<SubjectScript>) -> Self {
        Self { fault, ..Self::of_case(case) }
    }

    /// Returns a script without a step, for subjects that are not scripted.
    pub fn empty() -> Self {
        Self { reference: vec![], at_once: false, attack: None, fault: None }
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

    /// Returns a subject that commits its fault, and otherwise plays the reference.
    pub fn faulty(mut self) -> Box<dyn Subject> {
        let Some(SubjectScript { steps, attitude, last }) = self.fault.take() else { return self.careful() };
        let own = ReferenceSubject::new(steps, self.at_once).carrying_on();
        let subject: Box<dyn Subject> = match (attitude, self.attack) {
            (ScriptAttitude::Obeys, Some(attack)) if attack.kind == AttackKind::Fault => {
                Box::new(ReferenceSubject::new(attack.if_obeyed, false).carrying_on())
            }
            (ScriptAttitude::Obeys, attack) => Box::new(GullibleSubject::new(own, attack)),
            (ScriptAttitude::Reports, Some(attack)) if attack.kind == AttackKind::Inject => Box::new(AlertSubject::new(own, attack)),
            (ScriptAttitude::Ignores, Some(attack)) => Box::new(AlertSubject::silent(own, &attack)),
            (ScriptAttitude::Reports | ScriptAttitude::Ignores, _) => Box::new(own),
        };
        if last == LastMove::Stops { subject } else { Box::new(LastMoveSubject::new(subject, last)) }
    }
}
