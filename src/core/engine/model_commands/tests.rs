use super::*;
use crate::engine::Analysis;
use crate::model::{Block, BlockKind, BlockNumber, Role, Topic, Turn, Zone};
use crate::testing::entries;

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
fn each_text_has_the_commands_of_the_table() {
    for (text, expected) in entries::<(String, Vec<String>)>(include_str!("found.jsonl")) {
        assert_eq!(found(&text), expected, "{text}");
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
    let topic = |label: &str| Topic { label: label.to_owned(), keywords: vec!["tokens".to_owned()], ..Topic::default() };
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
