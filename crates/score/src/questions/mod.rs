//! Questions for the LLM judge and for the scorers of a workspace as pure data, and strict parsing of their answers.

mod answer;
mod calibration;
mod question;
mod scorer_question;

pub use answer::{JudgeAnswer, JudgeAnswerError};
pub use calibration::{
    AgreementBounds, CalibrationVerdict, ExampleError, ExampleMessage, GradedExample, JudgeCalibration, LabelledExample, VerdictOrder,
    calibrate,
};
pub use question::{JudgeQuestion, QuestionKind, QuestionMaterial, shown_events, trial_questions};
pub use scorer_question::{ScorerAnswer, ScorerQuestion, scorer_question};
