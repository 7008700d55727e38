//! Questions for a judge, as pure data: asked only for what no state can show, answered elsewhere, read back strictly.

mod answer;
mod calibration;
mod question;

pub use answer::{JudgeAnswer, JudgeAnswerError};
pub use calibration::{ExampleError, ExampleMessage, GradedExample, JudgeCalibration, LabelledExample, VerdictOrder, calibrate};
pub use question::{JudgeQuestion, QuestionKind, QuestionMaterial, trial_questions};
