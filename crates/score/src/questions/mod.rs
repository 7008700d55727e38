//! Questions for the LLM judge as pure data, and strict parsing of its answers. Only for what state cannot show.

mod answer;
mod calibration;
mod question;

pub use answer::{JudgeAnswer, JudgeAnswerError};
pub use calibration::{
    AgreementBounds, CalibrationVerdict, ExampleError, ExampleMessage, GradedExample, JudgeCalibration, LabelledExample, VerdictOrder,
    calibrate,
};
pub use question::{JudgeQuestion, QuestionKind, QuestionMaterial, trial_questions};
