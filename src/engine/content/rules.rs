//! Recognizes the rules of the user: the one recognizer of the manifest and of memory. Precision comes before recall.

use crate::text::words::spaced;

/// Lengths of a rule, and the maximum length of one for a task, in characters.
const CHARACTERS: std::ops::RangeInclusive<usize> = 4..=240;
const TASK_CHARACTERS: usize = 160;
/// From this character on, words are written without spaces.
const FIRST_IDEOGRAPH: char = '\u{2e80}';

/// A rule by the time that it holds for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// It holds for the task at hand.
    Task,
    /// It says that it holds for later tasks, too.
    Lasting,
}

/// Words before a sentence proper.
const OPENERS: &[&str] = &[
    "actually", "also", "and", "but", "hey", "nein", "no", "non", "não", "oh", "ok", "okay", "please", "right", "so", "then",
    "wait", "well", "yes",
];
/// Words that begin a rule: English, then German, French, Spanish, Portuguese, Italian, Dutch.
const OPENINGS: &[&str] = &[
    "always", "avoid", "do not", "don't", "dont", "i prefer", "i'd prefer", "make sure", "never", "no more", "only", "prefer",
    "remember to", "stick to", "use", "whenever", "you must", "you should", //
    "achte", "benutze", "bitte immer", "bitte nicht", "bitte nur", "immer", "nie", "niemals", "nimm", "nutze",
    "verwende", //
    "assure-toi", "n'utilise", "ne", "toujours", "utilise", "utilisez", "évite", //
    "asegúrate", "evita", "no uses", "nunca", "siempre", "usa", "não", "sempre", "non", "altijd", "gebruik", "nooit", "всегда",
    "используй", "никогда",
];
/// Phrases that make a rule by themselves.
const LASTING: &[&str] = &[
    "as a rule", "ask before", "ask me before", "at all times", "for future reference", "from now on", "going forward",
    "keep in mind", "remember to", "ab jetzt", "ab sofort", "auf keinen fall", "grundsätzlich", "in zukunft", "künftig",
    "dorénavant", "désormais", "à partir de maintenant", "a partir de agora", "a partir de ahora", "d'ora in poi", "vanaf nu",
    "впредь", "отныне", "一律", "从现在起", "必ず", "앞으로", "절대",
];
/// Words with which a person says that something is to be remembered, or tells a taste: they begin a rule.
const EXPLICIT: &[&str] = &[
    "i already told you", "i prefer", "i said", "i told you", "i would prefer", "i'd prefer", "i'd rather", "keep in mind",
    "note that", "remember", "denk daran", "hör auf", "ich bevorzuge", "ich hätte lieber", "ich habe dir gesagt", "merk dir",
    "merke dir", "vergiss nicht", "arrête", "je préfère", "je t'ai dit", "n'oublie pas", "retiens", "souviens-toi", "deja de",
    "no olvides", "prefiero", "recuerda", "te dije", "eu disse", "lembra", "lembre", "não esqueça", "pare de", "prefiro",
    "non dimenticare", "preferisco", "ricorda", "smetti di", "ik heb liever", "onthoud", "stop met", "vergeet niet", "запомни",
    "не забывай", "перестань", "помни", "я же говорил", "я предпочитаю", "别忘了", "别再", "不要再", "我喜欢用", "我更喜欢",
    "我说过", "記住", "记住", "请记住",
];
/// The same within a sentence.
const EXPLICIT_INNER: &[&str] = &[
    "how many times do i", "how often do i have to", "wie oft muss ich", "combien de fois", "cuántas veces", "quantas vezes",
    "これからは", "今後は", "覚えておいて", "忘れないで", "からは常に", "기억해", "잊지 마", "이제부터", "지금부터",
    "сколько раз",
];
/// Words between what is wanted and what is not.
const CONTRASTS: &[&str] = &[
    ", never ", ", not ", " instead of ", " rather than ", ", kein ", ", keine ", ", keinen ", ", nicht ", " anstatt ",
    " statt ", " anstelle ", ", pas ", " au lieu d", " plutôt qu", ", no ", " en lugar de ", " en vez de ", ", não ",
    " ao invés de ", " em vez de ", ", non ", " invece di ", ", niet ", " in plaats van ", ", а не ", " вместо ", "而不是",
    "，不要", "，不用", "，别用", "ではなく", "じゃなくて", " 말고 ", " 대신 ",
];
/// Words that give the habit of a team.
const HABITS: &[&str] = &[
    "wir benutzen", "wir nehmen", "wir nutzen", "wir schreiben", "wir verwenden", "nous utilisons", "on utilise", "usamos",
    "utilizamos", "usiamo", "utilizziamo", "we gebruiken", "мы используем", "мы пишем", "我们使用", "我们用", "我們用",
    "を使っています", "사용합니다", "쓰고 있",
];
/// Words that begin a prohibition.
const PROHIBITIONS: &[&str] = &[
    "do not", "don't", "dont", "never", "no more", "stop", "bitte kein", "bitte keine", "bitte nicht", "nicht", "kein", "keine",
    "keinen", "mach kein", "mach keine", "mach nie", "ne", "n'ajoute", "n'écris", "n'utilise", "pas de", "plus de", "nada de",
    "no agregues", "no añadas", "no crees", "no escribas", "no hagas", "no pongas", "no toques", "no uses", "nunca", "não",
    "non", "geen", "niet", "не", "никаких", "нельзя", "不准", "不要", "不许", "別", "别", "禁止", "请不要", "请勿",
];
/// The same at the end of a sentence.
const PROHIBITION_ENDS: &[&str] =
    &["しないで", "ないでください", "使わないで", "禁止", "하지 마", "하지 마세요", "지 마", "지 마세요", "쓰지 마"];
/// Words that bind a prohibition to the work at hand.
const MOMENTS: &[&str] = &[
    "anymore for now", "at this point", "first", "for now", "just now", "now", "right now", "this one", "this time", "today",
    "tonight", "until", "worry", "yet", "erst", "gerade", "heute", "jetzt noch", "noch nicht", "pour l'instant", "encore",
    "todavía", "por ahora", "ainda", "por enquanto", "пока", "сейчас", "сегодня", "现在", "暂时", "先", "まだ", "今は", "아직",
    "지금은",
];
/// Words that make a rule only in an instruction: reports use them too.
const ADVERBS: &[&str] = &[
    "always", "each time", "every time", "in future", "in the future", "never", "without asking", "immer", "nie", "niemals",
    "jamais", "toujours", "jamás", "nunca", "siempre", "sempre", "altijd", "nooit", "всегда", "никогда", "今後", "以后", "始终",
    "常に", "总是", "永远", "毎回", "항상",
];
/// Words of an instruction.
const INSTRUCTIONS: &[&str] = &[
    "i want", "make sure", "must", "please", "should", "bitte", "muss", "müssen", "sollen", "sollte", "il faut", "tu dois",
    "debemos", "deberíamos", "debes", "hay que", "devemos", "moet", "надо", "нужно", "不要", "必须", "应该", "要", "请",
    "ください", "しない", "する", "하지", "해야",
];
/// Subjects of an instruction, before its adverb.
const SUBJECTS: &[&str] = &["we", "you", "du", "wir", "nous"];
/// Words within a rule of languages whose sentences do not begin with its verb, and English ones within a sentence.
const INNER: &[&str] = &[
    "please do not", "please don't", "you must", "you should never", "you should not", "bitte nicht", "используй", "не надо",
    "не нужно", "нельзя", "不可以", "不能", "不要", "必须", "禁止", "请使用", "请用", "しないで", "ないでください",
    "使ってください", "사용해", "쓰지 마", "하지 마", "하지마", "해야",
];
/// Words that show that a sentence reports, doubts or thanks.
const REPORTS: &[&str] = &[
    "do not know", "don't have", "don't know", "don't think", "don't worry", "don't you", "i always", "i do not", "i don't",
    "i guess", "i must", "i never", "i only", "i think", "it always", "it must be", "it never", "maybe", "might",
    "must be because", "must have", "never mind", "no need", "not sure", "perhaps", "seems", "thank you", "thanks", "that don't",
    "tests don't", "they always", "they don't", "users don't", "we always", "we do not", "we don't", "which don't", "why",
    "you always", "you don't", "you never", "immer noch", "immer wieder", "noch nie", "schon immer", "wie immer",
    "comme toujours", "toujours pas", "como siempre",
];

/// Returns the rule that a sentence of the user states; `None` if it asks, reports or describes.
pub fn rule(sentence: &str) -> Option<Rule> {
    let lower = sentence.to_lowercase().replace('’', "'");
    if !may_state(&lower) {
        return None;
    }
    let characters = lower.chars().count();
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| places(&lower, phrase).next().is_some());
    let start = without_openers(&lower);
    let begins = |text: &str| OPENINGS.iter().any(|phrase| places(text, phrase).next() == Some(0));
    let opens = (begins(&lower) || begins(start)) && !describes(start);
    let first = |phrases: &[&str]| phrases.iter().filter_map(|phrase| places(&lower, phrase).next()).min();
    let subject = first(SUBJECTS);
    let instructs = |adverb: usize| opens || has(INSTRUCTIONS) || subject.is_some_and(|subject| subject < adverb);
    let is_explicit =
        EXPLICIT.iter().any(|phrase| places(start, phrase).next() == Some(0) || places(&lower, phrase).next() == Some(0));
    let contrasts =
        CONTRASTS.iter().any(|mark| lower.contains(mark)) && (opens || has(INSTRUCTIONS) || has(HABITS) || has(INNER));
    let stops = start.strip_prefix("stop ").and_then(|rest| rest.split(' ').next()).is_some_and(|verb| verb.ends_with("ing"));
    // `以后再说` puts it off.
    let from_now = ["以后", "今后"].iter().any(|word| start.starts_with(word)) && !start[6..].starts_with('再');
    let is_own = is_explicit || has(EXPLICIT_INNER) || contrasts || stops || from_now || has(HABITS);
    if has(LASTING) || is_own && !binds(&lower) || first(ADVERBS).is_some_and(instructs) {
        return Some(Rule::Lasting);
    }
    let is_short = characters <= TASK_CHARACTERS && !names_task(&lower);
    (is_short && (opens || has(INNER))).then_some(Rule::Task)
}

/// Returns true if a sentence in lower case has the length of a rule, and neither asks nor reports.
fn may_state(lower: &str) -> bool {
    let reports = REPORTS.iter().any(|phrase| places(lower, phrase).next().is_some());
    CHARACTERS.contains(&lower.chars().count()) && !lower.ends_with(['?', '？', ':', '：']) && !reports
}

/// Returns true if a sentence prohibits something beyond the work at hand.
pub fn is_prohibition(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let start = without_openers(&lower);
    // `non, …` contradicts, `non …` prohibits.
    let is_apart = |rest: &str| rest.starts_with(|c: char| c == ' ' || c >= FIRST_IDEOGRAPH);
    let opens = |text: &str, phrase: &str| text.strip_prefix(phrase).is_some_and(is_apart);
    let begins = PROHIBITIONS.iter().any(|phrase| opens(start, phrase) || opens(&lower, phrase));
    let ends = lower.trim_end_matches(|c: char| !c.is_alphanumeric());
    let is_long =
        lower.chars().count() <= TASK_CHARACTERS && start.split(' ').count() > 1 || start.chars().any(|c| c >= FIRST_IDEOGRAPH);
    is_long && (begins || PROHIBITION_ENDS.iter().any(|end| ends.ends_with(end))) && !binds(&lower) && may_state(&lower)
}

/// Returns true if a sentence prohibits something for the work at hand only: `don't commit yet`.
pub fn is_passing_prohibition(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let start = without_openers(&lower);
    PROHIBITIONS.iter().any(|phrase| places(start, phrase).next() == Some(0)) && binds(&lower)
}

/// Returns true if a sentence in lower case is about the work at hand.
fn binds(lower: &str) -> bool {
    names_task(lower) || MOMENTS.iter().any(|word| places(lower, word).next().is_some())
}

/// Returns the places of a phrase in a text, in whole words that are not quoted. Ideographs need no spaces around them.
fn places(text: &str, phrase: &str) -> impl Iterator<Item = usize> {
    let is_border = |c: char| !c.is_alphanumeric() && !matches!(c, '"' | '\'' | '`' | '-' | '_');
    let is_bare = phrase.starts_with(|c: char| c >= FIRST_IDEOGRAPH);
    text.match_indices(phrase).map(|(at, _)| at).filter(move |at| {
        let (before, after) = (text[..*at].chars().next_back(), text[at + phrase.len()..].chars().next());
        is_bare || before.is_none_or(is_border) && after.is_none_or(is_border)
    })
}

/// Returns a sentence in lower case without the words before the sentence proper.
fn without_openers(lower: &str) -> &str {
    let proper = spaced(lower).find(|(_, word)| !OPENERS.contains(&&lower[word.clone()]));
    proper.map_or(lower, |(_, word)| &lower[word.start..])
}

/// Returns true if a sentence with the opening of a rule describes something: `always calls it`, `only a.rs was included`.
fn describes(start: &str) -> bool {
    let mut words = start.split([' ', ',']);
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_third_person = second.ends_with('s') && !second.ends_with("ss") && !second.ends_with("us");
    match first {
        "always" | "never" => is_third_person || ["a", "an", "it", "that", "the", "this"].contains(&second),
        "only" => ["was", "were", "is", "are", "has", "have"].iter().any(|verb| start.split(' ').any(|word| word == *verb)),
        "use" => ["case", "cases", "of"].contains(&second),
        _ => false,
    }
}

/// Returns true if a sentence in lower case names an issue or a page: it is about one task.
pub fn names_task(lower: &str) -> bool {
    let is_number = |rest: &str| rest.trim_start_matches(['#', ' ']).starts_with(|c: char| c.is_ascii_digit());
    let numbered = |word: &str| lower.match_indices(word).any(|(at, _)| is_number(&lower[at + word.len()..]));
    lower.contains("://") || numbered("#") || ["issue ", "ticket ", "pull request ", "pr "].into_iter().any(numbered)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const TASK: Option<Rule> = Some(Rule::Task);
    const LASTING: Option<Rule> = Some(Rule::Lasting);

    pub(crate) const SENTENCES: &[(&str, Option<Rule>)] = &[
        ("Never commit without running the tests.", LASTING),
        ("From now on, use pnpm.", LASTING),
        ("ok, but please always ask me before a release", LASTING),
        ("Always pass the context.", LASTING),
        ("use pnpm, not npm", LASTING),
        ("please use tabs instead of spaces", LASTING),
        ("stop adding comments", LASTING),
        ("I prefer tabs", LASTING),
        ("how many times do I have to say it: no comments", LASTING),
        ("nein, wir verwenden hier pnpm", LASTING),
        ("以后提交信息用英文", LASTING),
        ("これからは英語でコミットしてください", LASTING),
        ("Don’t touch the lock file without asking.", LASTING),
        ("we never commit the lock file", LASTING),
        ("Remember to run the linter before you commit", LASTING),
        ("From now on, name the issue #12 in each commit", LASTING),
        ("Verwende ab jetzt nur SQLite.", LASTING),
        ("Bitte nie direkt auf main pushen", LASTING),
        ("Il faut toujours relancer les tests", LASTING),
        ("以后不要自动提交", LASTING),
        ("Please use tabs in Go files.", TASK),
        ("Don't add comments.", TASK),
        ("Only change the tests.", TASK),
        ("I don't understand this.", None),
        ("Should we always do this?", None),
        ("Add a test for it.", None),
        ("The cache is never full.", None),
        ("always calls showUsage(cmd, err) on the root command", None),
        ("Always the same error with this build", None),
        ("Never mind, I found it.", None),
        ("it fails every time we start it in the container", None),
        ("you always forget the changelog", None),
        ("In the future we might add a cache", None),
        ("Only index.html was included in the commit.", None),
        ("We need a check that it is \"always\" closed.", None),
        ("Which fix for the never-closed blocker should you take", None),
        ("Make sure to implement issue 12 with tests", None),
        ("Use the text of https://example.com/a", None),
        ("Das geht immer noch nicht", None),
        ("ça ne marche toujours pas", None),
        ("它总是失败", None),
    ];

    #[test]
    fn rules_are_told_from_reports_and_questions() {
        for (sentence, expected) in SENTENCES {
            assert_eq!(rule(sentence), *expected, "{sentence}");
        }
    }
}
