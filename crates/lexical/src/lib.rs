//! Text processing: tokeniser, stemmer, phrase search and BM25F retrieval. Independent of tools, agents and chains.

mod bm25;
mod phrase;
mod query;
mod question;
mod stem;
mod stop_words;
mod terms;
mod token;

pub use bm25::{Bm25Index, Bm25Params, DocScore, SpellingMode, WeightedField};
pub use phrase::{FoldMode, FoldedText, contains_phrase, fold};
pub use query::TermQuery;
pub use question::{asks, has_question_mark, questions, sentences};
pub use stem::stem;
pub use terms::{TermSplit, stems, terms};
pub use token::{WordToken, tokenize};
