//! Search over sessions: the words of their turns, the query, the order of what matches, and the lines that are shown.
//!
//! A turn is found by its words (BM25F; Robertson, Zaragoza & Taylor, Simple BM25 extension to multiple weighted fields, 2004) with
//! three fields: the prompt, the answers, and the calls with their results. The best turns are then read from their files, and
//! ordered by the share of the query they have, by its words in the same form, and by how near to each other these are. A session
//! ranks by its best turn.

mod digest;
mod echo;
mod excerpt;
mod hidden;
mod lines;
mod names;
mod passages;
mod postings;
mod query;
mod rank;
mod terms;

pub use digest::{EarlierPassages, EarlierPlace, EarlierTurn};
pub use echo::Echoes;
pub use excerpt::{Excerpt, Passage, PassageKind, cut_line};
pub use hidden::HiddenValues;
pub use passages::{Occurrences, RankedPassage, Stretch, print};
pub use postings::{Posting, Postings, read_postings, write_postings};
pub use query::{Matcher, Query, QueryError, QueryField, Term, without_fields};
pub use rank::{Candidate, Match, MatchTier, Scoring, candidates, nearest, rarities, rate, scores};
pub use terms::{FileTerms, Turn, TurnReader, keys_of, passage, prompt_content};
