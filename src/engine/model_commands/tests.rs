use super::*;
use crate::engine::Analysis;
use crate::model::{Block, BlockKind, BlockNumber, Role, Topic, Turn, Zone};

/// Returns the commands of a text, one line each: the parsed command or the error.
fn found(text: &str) -> Vec<String> {
    find(text)
        .into_iter()
        .map(|said| {
            assert!(text[said.place.clone()].starts_with('@'), "{text}");
            match said.command {
                Ok(command) => written(&command),
                Err(malformed) => malformed.to_string(),
            }
        })
        .collect()
}

fn written(command: &ModelCommand) -> String {
    let blocks = command.blocks.iter().map(|named| match named {
        Named::Selector(selector) => selector.clone(),
        Named::Words(words) => format!("about {words}"),
    });
    let mut parts: Vec<String> = blocks.collect();
    parts.extend(command.level.map(|level| level.name().to_owned()));
    if command.pin != Pin::Here {
        parts.push(command.pin.name().to_owned());
    }
    if !command.text.is_empty() {
        parts.push(format!("{:?}", command.text));
    }
    if !command.reason.is_empty() {
        parts.push(format!("because {}", command.reason));
    }
    format!("{} {}", command.verb.name(), parts.join(", "))
}

#[test]
fn commands_are_found() {
    for (text, expected) in [
        ("@pin(12)", &["pin 12"][..]),
        ("@pin(block-12, top)", &["pin block-12, top"]),
        ("@unpin(#12)", &["unpin #12"]),
        ("I archive those: @archive(3..9).", &["archive 3..9"]),
        ("@archive(3..9, reason: auth is done, and tested)", &["archive 3..9, because auth is done, and tested"]),
        ("@archive(3..9, \"auth is done\")", &["archive 3..9, because auth is done"]),
        ("@archive(tool(Read) & stale)", &["archive tool(Read) & stale"]),
        ("@archive((1 | 5) & path(\"src/**\"), reason: \"old\")", &["archive (1 | 5) & path(\"src/**\"), because old"]),
        ("@archive(3, 5..9, 12)", &["archive 3, 5..9, 12"]),
        ("@archive(auth flow)", &["archive about auth flow"]),
        ("@archive(\"auth flow\")", &["archive \"auth flow\""]),
        ("@compress(7, minimal) and @pin(3)", &["compress 7, minimal", "pin 3"]),
        ("@compress(\"middle\", \"trimmed\")", &["compress middle, trimmed"]),
        ("@compress(block-18, \"summarized\")", &["compress block-18, summarized"]),
        ("@archive(\"setup conversation\")", &["archive \"setup conversation\""]),
        ("@pin(\"12\", \"bottom\")", &["pin 12, bottom"]),
        ("@expand(\"tool(Read)\", \"original\")", &["expand tool(Read), original"]),
        ("@compress(stael)", &["compress about stael"]),
        ("@expand(31)@expand(32)", &["expand 31", "expand 32"]),
        ("@expand(31); @expand(32, trimmed)", &["expand 31", "expand 32, trimmed"]),
        ("@recall(7)", &["recall 7"]),
        ("@recall(how are tokens refreshed, and when?)", &["recall about how are tokens refreshed, and when?"]),
        ("@recall(\"retry policy\")", &["recall about retry policy"]),
        ("@focus(\"retry\" | 12)", &["focus \"retry\" | 12"]),
        ("@update(12, \"the plan, as it \\\"stands\\\"\\nnow\")", &["update 12, \"the plan, as it \\\"stands\\\"\\nnow\""]),
        (
            "@create(\"run `make` first\n\n```sh\nmake db\n```\n> and so on :)\")",
            &["create \"run `make` first\\n\\n```sh\\nmake db\\n```\\n> and so on :)\""],
        ),
        ("**@pin(3)**", &["pin 3"]),
        ("- @pin(3)\n2. @pin(4)", &["pin 3", "pin 4"]),
        ("text\n    @pin(3)", &["pin 3"]),
        ("@pin(\n  12\n)", &["pin 12"]),
        ("a 5\" disk @pin(3) and 3\" more", &["pin 3"]),
        ("a lone ` and @pin(3)", &["pin 3"]),
        ("> a quoted line\n\n@pin(3)", &["pin 3"]),
        ("```\n@pin(1)\n```\n@pin(2)", &["pin 2"]),
    ] {
        assert_eq!(found(text), expected, "{text}");
    }
}

#[test]
fn mentions_are_not_commands() {
    for text in [
        "",
        "@",
        "@archive",
        "@archive (3)",
        "@Archive(3)",
        "me@archive(3..9)",
        "npm i @scope/pin(3)",
        "\\@pin(3)",
        "`@pin(3)`",
        "``a ` @pin(3)``",
        "```\n@pin(3)\n```",
        "```\n@pin(3)",
        "~~~text\n```\n@pin(3)\n~~~",
        "- ```\n  @pin(3)\n  ```",
        "it says:\n\n    @pin(3)\n    @pin(4)\n",
        "\t@pin(3)",
        "> @pin(3)",
        "- > @pin(3)",
        "the manual says \"write @pin(3) to keep it\"",
        "the manual says “write @pin(3) to keep it”",
        "«@pin(3)»",
        "'@pin(3)'",
        "[@31 | trimmed from 3.2k]",
        "it is [@7 | archived from 3.2k | Bash echo @archive(3) | done]",
        "[@expand(31) | trimmed from 3.2k]",
        "it stands there: [@recall(7) | archived from 3.2k | Bash echo @archive(3) | done]",
        "[@pin(3)](https://example.org)",
        "<!-- @pin(3) -->",
        "<code>@pin(3)</code>",
        "@archive() moves blocks, @update(…, \"…\") replaces them, @compress(..., minimal) too",
        "@archive(<blocks>)",
        "@pin(3).then(done)",
        "@pin(3)(4)",
        "@app.route(\"/\")",
        "@decorator(3)",
        "@media(3)",
        "@pytest.mark.parametrize(\"a\", [1])",
        "{@pin(3)}",
        "/@pin(3)",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}

/// Sentences in which a command is executed: on a line of its own, or in a sentence that does not negate it.
const COMMANDS: &[&str] = &[
    "@archive(3)",
    "  @archive(3)  ",
    "**@archive(3)**",
    "- @archive(3)",
    "* **@archive(3)**",
    "12. @archive(3)",
    "- [ ] @archive(3)",
    "@archive(3).",
    "@archive(3) — the part about auth is done",
    "@archive(3) and that is it",
    "I archive it: @archive(3)",
    "I archive it (all of it): @archive(3)",
    "The auth part is done; @archive(3)",
    "Block 3 is not needed any more: @archive(3)",
    "Block 3 is not needed any more. @archive(3)",
    "Block 3 isn't needed any more — @archive(3)",
    "Block 3 isn’t needed any more, so I @archive(3)",
    "That never worked. Let me tidy up: @archive(3)",
    "Never mind.\n\n@archive(3)",
    "I must not keep this\n@archive(3)",
    "- do not forget the tests\n- @archive(3)",
    "1) @archive(3)",
    "see [the plan](plan.md) first @archive(3)",
    "a | b\n@archive(3)",
    "a | b\n--|--\n1 | 2\n\n@archive(3)",
    "# Tidy up\n@archive(3)",
    "Ich räume auf: @archive(3)",
    "Das wird nicht mehr gebraucht: @archive(3)",
    "Ce n'est plus utile : @archive(3)",
    "それは不要です。@archive(3)",
    "Wir brauchen es nicht mehr. @archive(3)",
    "the so-called 'auth' part is done @archive(3)",
    "it's done, users' data is safe: @archive(3)",
    "array[0] and f(x) are read @archive(3)",
    "smile :) @archive(3)",
    "open ( and @archive(3)",
    "~ 5 lines @archive(3)",
];

/// Sentences that only mention a command.
const MENTIONS: &[&str] = &[
    // In parentheses, brackets, links, tables, headings.
    "(@archive(3))",
    "( @archive(3) )",
    "as said (see @archive(3) above)",
    "as said (with f(x), then @archive(3), and so on)",
    "over two lines (first\nthen @archive(3))",
    "（@archive(3)）",
    "[see](@archive(3))",
    "[see](https://example.org/ @archive(3))",
    "[see @archive(3)](https://example.org)",
    "![@archive(3)](a.png)",
    "[see @archive(3)][1]",
    "[1]: @archive(3)",
    "[a list, @archive(3), of things]",
    "<https://example.org/@archive(3)>",
    "| command | effect |\n| --- | --- |\n| @archive(3) | moves it |",
    "command | effect\n--- | ---\n@archive(3) | moves it",
    "@archive(3) | moves it\n:-- | --:\na | b",
    "| @archive(3) |",
    "## @archive(3)",
    "### What @archive(3) does",
    "~~@archive(3)~~",
    // Quoted.
    "'write @archive(3) to move it'",
    "‘write @archive(3)’",
    "「@archive(3)」",
    "the manual says: \"@archive(3)\"",
    // Negated.
    "You must not use @archive(3)",
    "I must not use @archive(3) here",
    "I don't @archive(3)",
    "I don’t @archive(3) yet",
    "Do not write @archive(3) again",
    "Do not, under any circumstances, @archive(3)",
    "Never @archive(3)",
    "Never write this: @archive(3)",
    "Please don't: @archive(3)",
    "I did not run @archive(3)",
    "I will not @archive(3) or @archive(3)",
    "never @archive(3), @archive(3)",
    "I keep it instead of @archive(3)",
    "rather than @archive(3) I keep it",
    "without @archive(3) it stays",
    "there is no need for @archive(3)",
    "I can't use @archive(3)",
    "Avoid @archive(3)",
    "not @archive(3) but something else",
    "Not needed:\nI will not\nuse @archive(3)",
    "Bitte nicht @archive(3) verwenden",
    "Ich schreibe kein @archive(3)",
    "statt @archive(3)",
    "N'utilisez pas @archive(3)",
    "au lieu de @archive(3)",
    "sans @archive(3)",
    "No uses nunca @archive(3)",
    "en lugar de @archive(3)",
    "não use @archive(3)",
    "non usare @archive(3)",
    "gebruik geen @archive(3)",
    "не используйте @archive(3)",
    "nie używaj @archive(3)",
    "不要用 @archive(3)",
    "请勿使用 @archive(3)",
    "@archive(3) は使わないでください",
    "여기서는 @archive(3) 사용하지 마세요",
    // Hypothetical, or an example.
    "If you agree, @archive(3)",
    "I could @archive(3) it",
    "you can use @archive(3) for that",
    "You would write @archive(3)",
    "e.g. @archive(3)",
    "commands such as @archive(3)",
    "something like @archive(3)",
    "for example, @archive(3)",
    "zum Beispiel @archive(3)",
    // The sentence is about the command.
    "@archive(3) is what I would write",
    "@archive(3) must not be used",
    "@archive(3) would drop it",
    "@archive(3) isn’t needed",
    "- @archive(3) moves it to cold storage",
];

#[test]
fn commands_are_distinguished_from_mentions() {
    for text in COMMANDS {
        assert_eq!(found(text), ["archive 3"], "{text}");
    }
    for text in MENTIONS {
        assert_eq!(found(text), [""; 0], "{text}");
    }
    assert_eq!(found("I must not use @archive(3). But I do this:\n\n@pin(4)"), ["pin 4"]);
}

#[test]
fn malformed_commands_name_their_fault() {
    for (text, expected) in [
        ("@achive(3)", "there is no command @achive; did you mean @archive?"),
        ("@archives(3)", "there is no command @archives; did you mean @archive?"),
        ("@archive(3..9", "the closing ')' is missing"),
        ("@archive(3\n\nand so on)", "the closing ')' is missing"),
        ("@create(\"no end", "the closing '\"' of the text is missing"),
        ("@create(\"\")", "it needs a text in double quotes; example: @create(\"the note\")"),
        ("@create(\"-\")", "it needs a text in double quotes; example: @create(\"the note\")"),
        ("@create(a note)", "it needs a text in double quotes; example: @create(\"the note\")"),
        ("@update(12)", "it needs a text in double quotes; example: @update(12, \"the text\")"),
        ("@update(12, plain)", "it needs a text in double quotes; example: @update(12, \"the text\")"),
        ("@update(\"text\")", "it needs a text in double quotes; example: @update(12, \"the text\")"),
        ("@compress(minimal)", "it names no blocks; example: @compress(12)"),
        ("@pin(3,)", "it names no blocks; example: @pin(12)"),
        ("@compress(3, archived)", "@compress does not accept 'archived'"),
        ("@archive(kind(imag))", "kind() does not accept 'imag'; did you mean 'image'?"),
        ("@archive(3 & )", "a selector is missing at column 4; for the selector language: aperture help selectors"),
        ("@archive(9..3)", "'9..3' is neither a number nor a range like 10..20 at column 5; did you mean '3..9'?"),
    ] {
        assert_eq!(found(text), [expected], "{text}");
    }
}

fn reading() -> Analysis {
    let mut reading = Analysis::default();
    for number in 1..=8 {
        let mut block = Block::new(BlockKind::Text, Role::User);
        (block.number, block.preview) = (number, format!("words {number}").into());
        block.position.zone = if number == 8 { Zone::Cold } else { Zone::Middle };
        block.topic = Some(u32::from(number > 4));
        reading.session.blocks.push(block);
        reading.window.blocks.extend((number < 8).then_some(number));
    }
    let topic = |label: &str| Topic { label: label.to_owned(), keywords: vec!["tokens".to_owned()], turns: Vec::new() };
    reading.topics = vec![topic("auth flow"), topic("retry policy")];
    reading.turns = vec![Turn { number: 1, prompt: "Fix the invoice".to_owned(), blocks: vec![2, 3], ..Turn::default() }];
    reading
}

#[test]
fn blocks_are_found_by_number_and_by_words() {
    let check = |text: &str, expected: &str| {
        let said = find(text);
        let command = said[0].command.as_ref().unwrap();
        let found = resolve(&command.blocks, &reading(), 8).map_or_else(|error| error.to_string(), |blocks| ranges(&blocks));
        assert_eq!(found, expected, "{text}");
    };
    check("@pin(3)", "3");
    check("@pin(3, 5..6, 4)", "3..6");
    check("@pin(1 | 3)", "1|3");
    check("@pin(auth flow)", "1..4");
    check("@pin(auht flow)", "1..4");
    check("@pin(\"auth  flow\")", "1..4");
    check("@pin(Retry Policies)", "5..7");
    check("@pin(the invoice)", "2..3");
    check("@pin(all)", "1..7");
    check("@pin(412)", "no block 412; nearest: 7 (\"words 7\"), 6 (\"words 6\")");
    check("@pin(2..3, 90..)", "no block 90; nearest: 7 (\"words 7\"), 6 (\"words 6\")");
    check("@pin(stael)", "no block is about 'stael'; nearest: stale");
    check("@pin(auth fla)", "no block is about 'auth fla'; nearest: \"auth flow\"");
    check("@pin(zebra)", "no block is about 'zebra'");
    check("@pin(error)", "no matching blocks");
    check("@create(\"x\")", "");
}

#[test]
fn removing_commands_wait_unless_allowed() {
    let policy = ModelPolicy::default();
    let waiting: Vec<&str> =
        Verb::ALL.into_iter().filter(|verb| policy.permission(*verb) == Permission::Approve).map(Verb::name).collect();
    assert_eq!(waiting, ["compress", "archive", "update"]);
    let loose = policy.clone().with([(Verb::Archive, Permission::Auto)]);
    let strict = policy.with([(Verb::Pin, Permission::Deny)]);
    let both = loose.and(&strict);
    assert_eq!((both.permission(Verb::Archive), both.permission(Verb::Pin)), (Permission::Approve, Permission::Deny));
}

/// Formats a command as earlier versions stored a tool call: its blocks by numbers or by search words.
fn stored_form(command: &ModelCommand) -> String {
    let quoted = |text: &str| {
        let text = text.replace('\\', r"\\").replace('"', r#"\""#);
        format!("\"{}\"", text.replace('\n', r"\n").replace('\t', r"\t"))
    };
    let blocks = command.blocks.iter().map(|named| match named {
        Named::Selector(selector) => selector.clone(),
        Named::Words(words) => quoted(words),
    });
    let level = command.level.map(|level| level.name().to_owned());
    let pin = (command.pin != Pin::Here).then(|| command.pin.name().to_owned());
    let text = (!command.text.is_empty()).then(|| quoted(&command.text));
    let reason = (!command.reason.is_empty()).then(|| format!("reason: {}", quoted(&command.reason)));
    let arguments: Vec<String> = blocks.chain(level).chain(pin).chain(text).chain(reason).collect();
    format!("@{}({})", command.verb.name(), arguments.join(", "))
}

#[test]
fn stored_commands_are_read_at_any_length() {
    for text in ["...".to_owned(), "a \"word\"\r\n".repeat(20_000)] {
        let command = ModelCommand { text, ..ModelCommand::new(Verb::Create, Vec::new()) };
        assert!(read(&stored_form(&command)) == Some(command));
    }
    for none in ["", "@pin", "@pin(3) and more", "@pni(3)", "pin(3)", "@pin(3", "@create(\"no end)"] {
        assert_eq!(read(none), None, "{none}");
    }
}

#[test]
fn long_texts_take_no_long_time() {
    for piece in [
        "@create(\"", "@archive(((", " \"a", "`", "``` ", "“", "<!--", "[@", "(", "[", "~~", "| ", "a.", "not @pin(3) ", "\\",
        "@pin(3", "> ", "@recall(\"a\\",
    ] {
        find(&piece.repeat(crate::testing::all_or(20_000, 2_000)));
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_read(text in "[\\PC\n]{0,60}") {
        find(&text);
    }

    #[test]
    fn any_mixture_is_read(
        pieces in proptest::collection::vec(
            proptest::sample::select(vec![
                "@pin(", "@archive(", "@create(\"", "3..9", ")", "\"", "`", "```", "\n", " ", "[@", "]", "\\", "reason: ", ",", "é",
                "stale", "(", "> ", "    ", "“", "<!--", "@update(12, ", "```aperture", "{\"housekeeping\": {\"response_header\": \"",
                "\"}", "}", "\"context_requests\": [",
            ]),
            0..24,
        )
    ) {
        let text = pieces.concat();
        let mut end = 0;
        for said in find(&text) {
            proptest::prop_assert!(said.place.start >= end && said.place.end > said.place.start);
            end = said.place.end;
            let is_block = said.place.start < text.len() && !text[said.place.clone()].starts_with('@');
            proptest::prop_assert!(!is_block || text.contains("```aperture"));
            // A command on its own parses as it does in the text: a proposal is parsed again when it is approved.
            if let Ok(command) = said.command {
                proptest::prop_assert_eq!(read(&text[said.place]), Some(command));
            }
        }
    }

    #[test]
    fn written_commands_are_read_unchanged(
        verb in proptest::sample::select(Verb::ALL.into_iter().filter(|verb| *verb != Verb::Housekeeping).collect::<Vec<_>>()),
        text in "(\\PC|[\"\\\\\n\r\t\u{8}(),@…]){1,40}",
        numbers in proptest::collection::btree_set(1u32..60, 1..9),
        at in 0usize..9,
    ) {
        let numbers: Vec<BlockNumber> = numbers.into_iter().collect();
        let blocks = vec![Named::Selector(ranges(&numbers))];
        let command = match verb {
            Verb::Create => ModelCommand { text, ..ModelCommand::new(verb, Vec::new()) },
            Verb::Update => ModelCommand { text, ..ModelCommand::new(verb, blocks) },
            Verb::Archive => ModelCommand { reason: text, ..ModelCommand::new(verb, blocks) },
            Verb::Recall => ModelCommand::new(verb, vec![Named::Words(text)]),
            Verb::Pin => ModelCommand { pin: [Pin::Here, Pin::Top, Pin::Bottom][at % 3], ..ModelCommand::new(verb, blocks) },
            Verb::Expand | Verb::Compress => {
                let level = [None, Some(Level::Trimmed), Some(Level::Summarized)][at % 3];
                ModelCommand { level, ..ModelCommand::new(verb, blocks) }
            }
            _ => ModelCommand::new(verb, blocks),
        };
        // An empty text is rejected before it is written.
        let says = !matches!(verb, Verb::Create | Verb::Update) || !command.text.trim().is_empty() && command.text != "-";
        proptest::prop_assert_eq!(read(&stored_form(&command)), says.then_some(command));
    }
}

#[test]
fn a_text_of_commands_alone_has_a_result_for_each() {
    let read = |text: &str| {
        let results = read_all(text).into_iter().map(|found| match found.command {
            Ok(command) => format!("{} {}", command.verb.name(), &text[found.place]),
            Err(malformed) => malformed.to_string(),
        });
        results.collect::<Vec<_>>()
    };
    assert_eq!(
        read("@pin(12)\n@recall(\"a (b\"); unpin(3..9)"),
        ["pin @pin(12)", "recall @recall(\"a (b\")", "unpin unpin(3..9)"]
    );
    assert_eq!(read("`x`\n@pin(12)"), ["'`x`' is not a command; example: @recall(\"auth flow\")", "pin @pin(12)"]);
    assert_eq!(read("@archve(3)"), ["there is no command @archve; did you mean @archive?"]);
    assert_eq!(read("@pin(12"), ["the closing ')' is missing"]);
    assert!(read(" \n").is_empty());
}
