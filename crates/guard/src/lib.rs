//! Labelled texts for measuring guards against injected text. The corpus is frozen: a test pins its hash.

mod corpus;
mod labelled_text;

pub use corpus::{CORPUS_FILES, embedded_corpus};
pub use labelled_text::{CorpusSplit, LabelledText, TextLabel, TextLineError, parse_labelled_texts};
