//! Questions for a judge, as pure data: asked only for what no state can show, answered elsewhere, read back strictly.

mod answer;
mod question;

pub use answer::{Answer, Misread, Verdict};
pub use question::{Material, Question, QuestionKind, questions};
