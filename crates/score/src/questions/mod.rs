//! Questions for the LLM judge, the scorers of a workspace and the JavaScript of cases as pure data, and strict parsing of their answers.

mod answer;
mod calibration;
mod question;
mod scorer_question;
mod script_question;

pub use answer::{JudgeAnswer, JudgeAnswerError};
pub use calibration::{
    AgreementBounds, CalibrationVerdict, ExampleError, ExampleMessage, GradedExample, JudgeCalibration, LabelledExample, VerdictOrder,
    calibrate,
};
pub use question::{JudgeQuestion, QuestionKind, QuestionMaterial, shown_events, trial_questions};
pub use scorer_question::{ScorerAnswer, ScorerQuestion, scorer_question};
pub use script_question::{SCRIPT_SCORER, ScriptQuestion, script_question, script_reading, stored_script_reading};
