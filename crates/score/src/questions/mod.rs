//! Questions for a judge, as pure data: asked only for what no state can show, answered elsewhere, read back strictly.

mod answer;
mod calibration;
mod question;

pub use answer::{Answer, Misread};
pub use calibration::{Calibration, ExampleError, Graded, Labelled, Offered, Told, calibrate};
pub use question::{Material, Question, QuestionKind, questions};
