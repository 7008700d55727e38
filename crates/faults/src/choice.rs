//! Fault of a subject, as written in `fault:ID` or `fault:ID@K`.

use crate::Fault;
use crate::table::{FAULTS, fault};
use model::suite::Case;
use model::{UserError, Workspace};
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy)]
pub struct FaultChoice {
    pub fault: &'static Fault,
    /// Number of cases in which it is committed; all if absent.
    pub dose: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultError {
    Unknown(String),
    Dose(String),
}

impl From<FaultError> for UserError {
    fn from(error: FaultError) -> Self {
        match error {
            FaultError::Unknown(id) => UserError::unknown("fault", &id, FAULTS.iter().flat_map(|family| *family).map(|fault| fault.id)),
            FaultError::Dose(text) => {
                UserError::new(format!("\"{text}\" is not a number of cases"), "write fault:ID@K, such as fault:skips_guardian@3")
            }
        }
    }
}

impl FaultChoice {
    /// Parses `ID` or `ID@K`.
    ///
    /// # Errors
    /// If there is no such fault, or K is not a number.
    pub fn parse(text: &str) -> Result<Self, FaultError> {
        let (id, dose) = match text.split_once('@') {
            None => (text, None),
            Some((id, dose)) => (id, Some(dose.parse().ok().filter(|dose| *dose > 0).ok_or_else(|| FaultError::Dose(dose.to_owned()))?)),
        };
        Ok(Self { fault: fault(id).ok_or_else(|| FaultError::Unknown(id.to_owned()))?, dose })
    }

    /// Returns the ids of the cases in which the fault is committed: the first ones in hash order.
    pub fn faulty_cases<'w>(&self, workspace: &Workspace, cases: impl IntoIterator<Item = &'w Case>) -> BTreeSet<String> {
        let possible = self.fault.cases(workspace, cases);
        possible.into_iter().take(self.dose.unwrap_or(usize::MAX)).map(|case| case.id.value.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_choice_parses_id_and_dose() {
        let parsed = |text: &str| FaultChoice::parse(text).map(|choice| (choice.fault.id, choice.dose));
        assert_eq!(parsed("skips_guardian"), Ok(("skips_guardian", None)));
        assert_eq!(parsed("skips_guardian@3"), Ok(("skips_guardian", Some(3))));
        assert_eq!(parsed("skips_gardian"), Err(FaultError::Unknown("skips_gardian".to_owned())));
        assert_eq!(parsed("skips_guardian@few"), Err(FaultError::Dose("few".to_owned())));
        assert_eq!(parsed("skips_guardian@-1"), Err(FaultError::Dose("-1".to_owned())));
        assert_eq!(parsed("skips_guardian@0"), Err(FaultError::Dose("0".to_owned())), "a control that commits nothing");
    }
}
