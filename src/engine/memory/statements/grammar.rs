//! Closed word classes of English: which words open a question, carry a subject, negate, oblige.
//!
//! The lists hold function words and set phrases, no topics: the mood of a sentence shows in them, whatever it is about. All lists are
//! sorted, in lower case, with straight apostrophes; a phrase has single spaces.

/// The closed word classes of a language.
#[derive(Debug)]
pub(super) struct Grammar {
    /// Words of the first person: the sign that a person speaks about their own work.
    pub first_person: &'static [&'static str],
    /// Pronouns and determiners that open a statement.
    pub subjects: &'static [&'static str],
    /// Finite auxiliary and modal verbs: after a subject they make a statement, before it a question.
    pub auxiliaries: &'static [&'static str],
    /// Words that open a question about a thing, a way or a reason.
    pub question_words: &'static [&'static str],
    /// Words that ask for a reason.
    pub reasons: &'static [&'static str],
    /// Words before the sentence proper: agreement, hesitation, conjunctions.
    pub openers: &'static [&'static str],
    /// Openers that contradict.
    pub contrasts: &'static [&'static str],
    /// Conjunctions that contradict within a sentence.
    pub adversatives: &'static [&'static str],
    /// Pronouns with which the user tells what they did.
    pub narrators: &'static [&'static str],
    pub consequences: &'static [&'static str],
    /// Pronouns of the user, the agent or both: a question for the reason of their acts criticizes.
    pub people: &'static [&'static str],
    pub negations: &'static [&'static str],
    /// Words of obligation, need and expectation.
    pub obligations: &'static [&'static str],
    /// Phrases in which the user states a taste.
    pub tastes: &'static [&'static str],
    /// Phrases in which the user states a belief or an intention.
    pub stances: &'static [&'static str],
    /// Phrases that replace one thing by another.
    pub alternatives: &'static [&'static str],
    /// Words of generality: what they qualify holds beyond the task at hand.
    pub generalities: &'static [&'static str],
    /// Phrases that give a purpose, an origin or a convention of the project.
    pub conventions: &'static [&'static str],
    /// Phrases that ask the agent to do a thing now, whatever their form.
    pub requests: &'static [&'static str],
    /// Words that approve or thank.
    pub approvals: &'static [&'static str],
    /// Words that report a failure or an unexpected outcome.
    pub failures: &'static [&'static str],
    /// Words that open a condition.
    pub conditions: &'static [&'static str],
    /// Words of doubt: what they qualify is an idea, not a rule.
    pub hedges: &'static [&'static str],
    /// Words that ask for a confirmation at the end of a sentence.
    pub tags: &'static [&'static str],
    /// Words that bind a sentence to the task at hand.
    pub moments: &'static [&'static str],
}

impl Grammar {
    pub fn lists(&self) -> [&'static [&'static str]; 25] {
        [
            self.first_person, self.subjects, self.auxiliaries, self.question_words, self.reasons, self.openers, self.contrasts,
            self.adversatives, self.narrators, self.consequences, self.people, self.negations, self.obligations, self.stances,
            self.tastes, self.alternatives, self.generalities, self.conventions, self.requests, self.approvals, self.failures,
            self.conditions, self.tags, self.hedges, self.moments,
        ]
    }
}

/// The grammar of English, the only language whose statements were measured.
pub(super) static ENGLISH: Grammar = Grammar {
    first_person: &[
        "i", "i'd", "i'll", "i'm", "i've", "let's", "lets", "me", "my", "our", "ours", "us", "we", "we'd", "we'll", "we're",
        "we've",
    ],
    subjects: &[
        "a", "all", "an", "both", "each", "every", "he", "i", "i'd", "i'm", "i've", "it", "it's", "its", "my", "our", "she",
        "that", "that's", "the", "there", "there's", "these", "they", "they're", "this", "those", "we", "we'd", "we're", "we've",
        "you", "you're", "your",
    ],
    auxiliaries: &[
        "am", "are", "aren't", "can", "can't", "cannot", "could", "couldn't", "did", "didn't", "do", "does", "doesn't", "don't",
        "had", "has", "hasn't", "have", "haven't", "is", "isn't", "may", "might", "must", "shall", "should", "shouldn't", "was",
        "wasn't", "were", "weren't", "will", "won't", "would", "wouldn't",
    ],
    question_words: &["how", "how's", "what", "what's", "when", "where", "which", "who", "whose", "why"],
    reasons: &["how come", "why"],
    openers: &[
        "actually", "again", "also", "and", "anyway", "but", "cool", "erm", "fine", "great", "hm", "hmm", "however", "lol", "mh",
        "no", "nope", "oh", "ok", "okay", "or", "perfect", "please", "right", "so", "sorry", "sure", "then", "uh", "um", "wait",
        "well", "yea", "yeah", "yep", "yes",
    ],
    contrasts: &["actually", "again", "but", "however", "no", "nope", "not", "really", "wait"],
    adversatives: &["although", "but", "however", "though"],
    narrators: &["i", "i'm", "i've"],
    consequences: &["hence", "so", "therefore"],
    people: &["we", "you"],
    negations: &[
        "aren't", "can't", "cannot", "couldn't", "didn't", "doesn't", "don't", "hasn't", "haven't", "isn't", "neither", "never",
        "no", "nor", "not", "shouldn't", "stop", "wasn't", "weren't", "without", "won't", "wouldn't",
    ],
    obligations: &[
        "expect", "expected", "had to", "has to", "have to", "make sure", "must", "need", "needs", "ought", "required",
        "requires", "should", "should've", "shouldn't", "supposed to", "want", "wants",
    ],
    tastes: &["care about", "i care", "i don't like", "i like", "i prefer", "i'd prefer", "i'd rather", "prefer"],
    stances: &[
        "feels like", "i believe", "i don't think", "i expected", "i feel", "i guess", "i mean", "i meant", "i think",
        "i thought", "i was expecting", "i would", "i wouldn't", "i'm not sure", "in my opinion", "my point",
    ],
    alternatives: &["how about", "in favor of", "instead", "not what i", "rather", "rather than", "what about", "what if"],
    generalities: &[
        "always", "any", "anywhere", "as a default", "by default", "each time", "every", "every time", "everytime", "everywhere",
        "from now on", "generally", "in general", "in the future", "long term", "long-term", "never", "normally", "only",
        "remember", "standard", "usually", "whenever", "wherever",
    ],
    conventions: &[
        "as we do", "best practice", "best practices", "comes from", "convention", "is called", "like the other", "like we do",
        "same as", "same pattern", "the assumption is", "the goal is", "the idea is", "the intention", "the point is",
        "the purpose", "the rule", "we deploy", "we don't have", "we follow", "we format", "we have", "we indent", "we keep",
        "we name", "we never", "we prefer", "we release", "we store", "we target", "we use", "we write",
    ],
    requests: &[
        "can you", "could you", "go ahead", "i need to", "i want to", "i want you", "i'd like to", "let me", "let's", "lets",
        "please", "take a look", "tell me", "would you", "you can", "you could", "you may",
    ],
    approvals: &[
        "agreed", "are good", "awesome", "fine", "good", "great", "is fine", "is good", "looks good", "love it", "makes sense",
        "nice", "not bad", "perfect", "sounds good", "thank you", "thanks", "works now",
    ],
    failures: &[
        "404", "500", "broke", "broken", "bug", "crash", "crashed", "crashes", "doesn't show", "doesn't work", "error", "errors",
        "exception", "fail", "failed", "failing", "fails", "failure", "failures", "hang", "hangs", "happening", "is missing",
        "isn't working", "issue with", "missing", "not found", "not there", "not working", "panicked", "problem is", "still get",
        "still getting", "stuck", "wrong output",
    ],
    conditions: &["if", "once", "unless", "when", "whenever"],
    hedges: &[
        "a chance", "could", "i assume", "i guess", "i suspect", "i wonder", "i would think", "i'm not sure", "ideally", "maybe",
        "might", "not sure", "perhaps", "possibly", "probably",
    ],
    tags: &["correct", "hey", "huh", "ok", "okay", "right", "yeah", "yes"],
    moments: &["first", "for now", "for this one", "here", "now", "right now", "this time", "today", "tomorrow"],
};

/// Frequent words of other languages that English does not have: a prompt with as many of them as of English ones is not read.
pub(super) const FOREIGN: &[&str] = &[
    "aber", "auf", "bei", "bitte", "como", "con", "dans", "das", "dass", "de", "del", "der", "des", "die", "du", "ein", "eine",
    "el", "en", "es", "est", "et", "für", "hay", "het", "ich", "ist", "je", "kein", "la", "las", "le", "les", "los", "mais",
    "mit", "nicht", "niet", "noch", "non", "nur", "não", "oder", "para", "pas", "por", "que", "se", "sie", "sind", "sur", "um",
    "una", "und", "une", "von", "vous", "warum", "wir", "zu",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_in_lower_case() {
        for list in ENGLISH.lists().into_iter().chain([FOREIGN]) {
            assert!(list.is_sorted(), "{list:?}");
            assert!(list.iter().all(|word| *word == word.to_lowercase()), "{list:?}");
        }
    }
}
