//! The intent of a prompt: which part of memory it needs first.

use crate::model::words;

words! {
    /// The intent of a prompt.
    #[derive(Default)]
    pub enum Intent {
        /// The way to run something here, or the cause of a failure.
        Operational = "operational",
        /// The meaning or the place of something.
        Factual = "factual",
        /// The steps of a task.
        Procedural = "procedural",
        /// The work of the agent, and its mistakes.
        Introspective = "introspective",
        /// Anything else, such as work on the code.
        #[default]
        General = "general",
    }
}

/// Bytes of a prompt that decide: longer ones are mostly pasted.
const START_BYTES: usize = 600;

/// Words and phrases of each intent, in lower case, in several languages; more specific intents first, which win ties.
const CUES: &[(Intent, &[&str])] = &[
    (
        Intent::Introspective,
        &[
            "did you", "do you tend", "how long did", "how often do you", "mistakes", "performance of your", "what went wrong",
            "why did you", "your mistake", "was lief schief", "warum hast du", "fehler hast du", "por qué hiciste",
            "qué salió mal", "pourquoi as-tu", "qu'as-tu", "por que você", "为什么你", "你做错", "なぜあなた", "失敗した",
            "왜 너",
        ],
    ),
    (
        Intent::Procedural,
        &[
            "cherry-pick", "commit", "deploy", "how do we", "merge", "migrate", "open a pr", "procedure", "publish",
            "pull request", "push", "rebase", "release", "roll back", "rollback", "ship", "steps to", "workflow", "ausrollen",
            "veröffentliche", "wie machen wir", "despliega", "publica", "cómo hacemos", "déploie", "publie", "comment fait-on",
            "implante", "发布", "部署", "提交", "リリース", "デプロイ", "コミット", "배포", "커밋",
        ],
    ),
    (
        Intent::Operational,
        &[
            "build", "command", "crash", "debug", "error", "fail", "fails", "failing", "format", "install", "lint", "run",
            "start", "test", "tests", "timeout", "baue", "befehl", "fehler", "schlägt fehl", "starte", "teste", "compila",
            "ejecuta", "prueba", "instala", "compile", "exécute", "erreur", "lance", "execute", "erro", "falha", "运行", "测试",
            "报错", "构建", "実行", "テスト", "エラー", "ビルド", "실행", "테스트", "오류",
        ],
    ),
    (
        Intent::Factual,
        &[
            "what is", "what are", "what does", "where", "which", "who", "when was", "explain", "tell me", "was ist", "wo ist",
            "welche", "wer", "erkläre", "qué es", "dónde", "cuál", "quién", "explica", "qu'est-ce", "où", "quel", "quelle",
            "explique", "o que é", "onde", "qual", "什么是", "在哪", "哪个", "谁", "どこ", "とは", "誰", "무엇", "어디", "누구",
        ],
    ),
];

/// Returns the intent of a prompt: the one with the most cues in its first 600 bytes.
pub fn intent(prompt: &str) -> Intent {
    let start = prompt[..prompt.floor_char_boundary(START_BYTES)].to_lowercase();
    let mut best = (Intent::General, 0);
    for (intent, cues) in CUES {
        let count = cues.iter().filter(|cue| has_words(&start, cue)).count();
        if count > best.1 {
            best = (*intent, count);
        }
    }
    best.0
}

/// Returns true if a text has a phrase that does not continue as another word. Languages without spaces have no such borders.
fn has_words(text: &str, phrase: &str) -> bool {
    let is_border = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let spaceless = phrase.chars().any(|c| c >= '\u{3000}');
    text.match_indices(phrase).any(|(at, _)| {
        spaceless || is_border(text[..at].chars().next_back()) && is_border(text[at + phrase.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intents_are_told_apart() {
        for (prompt, expected) in [
            ("Why does `cargo test` fail with a timeout?", Intent::Operational),
            ("Where is the parser, and which file has its tests?", Intent::Factual),
            ("Release version 2 and publish it", Intent::Procedural),
            ("Commit and open a PR, please", Intent::Procedural),
            ("Why did you delete it?", Intent::Introspective),
            ("Make the heading blue", Intent::General),
            ("Wo ist die Datenbank?", Intent::Factual),
            ("运行测试", Intent::Operational),
            ("", Intent::General),
            ("the shipper is a class", Intent::General),
        ] {
            assert_eq!(intent(prompt), expected, "{prompt}");
        }
    }
}
