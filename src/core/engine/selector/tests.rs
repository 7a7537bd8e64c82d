//! Tests of selectors.

use super::*;
use crate::model::{Tool, ToolVerb, Turn};

fn reading() -> Analysis {
    let mut reading = Analysis::default();
    for number in 1..=6 {
        let mut block = Block::new(BlockKind::Text, Role::User);
        block.number = number;
        block.position.turn = number.div_ceil(2);
        block.position.zone = Zone::Middle;
        block.tokens = crate::model::TokenCount::estimated(f64::from(number) * 1000.0);
        reading.session.blocks.push(block);
    }
    let blocks = &mut reading.session.blocks;
    blocks[1].tool = Some(Box::new(Tool::new("Read", ToolVerb::Read, "/home/me/src/auth/flow.rs")));
    blocks[1].call = Some(Key::from_text("toolu_01abc"));
    (blocks[2].kind, blocks[2].role, blocks[2].error) = (BlockKind::ToolResult, Role::ToolResult, true);
    blocks[3].state = State::Stale;
    blocks[4].position.zone = Zone::Cold;
    blocks[5].usefulness.outdated = Some((Outdated::Duplicate, 9));
    blocks[2].usefulness.alike = Some(5);
    let turn = |number| Turn { number, begins_task: number == 3, ..Turn::default() };
    reading.turns = (1..=3).map(turn).collect();
    reading
}

fn check(selector: &str, expected: &[u32]) {
    assert_eq!(Selector::parse(selector).unwrap().select(&reading()).unwrap(), expected, "{selector}");
}

fn fails(selector: &str, message: &str) {
    let error = Selector::parse(selector).and_then(|parsed| parsed.select(&reading())).unwrap_err();
    let text = format!("{error}; {}", error.hint());
    let text = text.trim_end_matches("; to list them: aperture blocks");
    let text = text.split("; to find it as text: aperture search").next().unwrap_or_default();
    assert_eq!(text.trim_end_matches("; for the selector language: aperture help selectors"), message, "{selector}");
}

#[test]
fn numbers_are_written_in_three_ways() {
    for selector in ["2", "#2", "block-2"] {
        check(selector, &[2]);
    }
}

#[test]
fn selectors_name_blocks_by_number_name_function_and_topic() {
    // Ranges have two ends or one.
    check("2..4", &[2, 3, 4]);
    check("#2..#4", &[2, 3, 4]);
    check("5..", &[5, 6]);
    check("..2", &[1, 2]);
    check("..#2", &[1, 2]);
    check("6|..2", &[1, 2, 6]);
    check("(..3) ~ ..2", &[3]);
    check("~..4", &[5, 6]);
    check("2..99", &[2, 3, 4, 5, 6]);
    // Names select by zone and state.
    check("cold", &[5]);
    check("stale", &[4]);
    check("error", &[3]);
    check("duplicate", &[6]);
    check("superseded", &[6]);
    check("alike", &[3]);
    check("window", &[1, 2, 3, 4, 6]);
    check("pinned", &[]);
    // Functions take an argument.
    check("tool(read)", &[2]);
    check("tool(R*d)", &[2]);
    check("path(\"src/**\")", &[2]);
    check("path(*.rs)", &[2]);
    check("kind(tool_result)", &[3]);
    check("role(tool_result)", &[3]);
    check("turn(2..3)", &[3, 4, 5, 6]);
    check("task(1)", &[1, 2, 3, 4]);
    check("task(2..)", &[5, 6]);
    check("larger(4.5k)", &[5, 6]);
    // A quoted topic looks at words and targets.
    check("\"auth flow\"", &[2]);
    check("topic(auth)", &[2]);
    check("\"\"", &[]);
}

#[test]
fn a_tool_use_id_names_its_blocks() {
    check("toolu_01abc", &[2]);
    fails("toolu_01xyz", "no block has the tool-use id 'toolu_01xyz'");
    fails("call_uJcaVsyvxMhuwPCU", "no block has the tool-use id 'call_uJcaVsyvxMhuwPCU'");
}

#[test]
fn operators_combine() {
    check("1 | 2 & cold", &[1]);
    check("(1 | 5) & cold", &[5]);
    check("~cold & 4..6", &[4, 6]);
    check("4..6 ~ cold", &[4, 6]);
    check("~~1", &[1]);
}

#[test]
fn errors_say_where_and_what_instead() {
    fails("99", "there is no block 99: the session has blocks 1 to 6");
    fails("0", "there is no block 0: the session has blocks 1 to 6");
    fails("stael", "unknown selector 'stael'; did you mean 'stale'?");
    fails("kind(imag)", "kind() does not accept 'imag'; did you mean 'image'?");
    fails("(1", "a ')' is missing at column 3");
    fails("1 2", "unexpected '2' at column 3");
    fails("", "a selector is missing at column 1");
    fails("\"x", "the closing '\"' is missing at column 1");
    fails("'x", "the closing ''' is missing at column 1");
    fails("turn(0)", "there is no turn 0: the session has turns 1 to 3; to list the turns: aperture blocks --tree");
    fails("5..2", "'5..2' is neither a number nor a range like 10..20 at column 5; did you mean '2..5'?");
}

#[test]
fn commas_join() {
    check("2,4", &[2, 4]);
    check("1, 3..4 , error & cold", &[1, 3, 4]);
    check("tool(Read,R*d)", &[2]);
    check("turn(1, 3)", &[1, 2, 5, 6]);
    check("kind(tool_result, text) & 2..3", &[2, 3]);
    check("path(\"src/{auth,shop}/*.rs\") | path(src/{auth,shop}/*.rs)", &[2]);
    check("path('src/{auth,shop}/*.rs') & tool('Read')", &[2]);
    fails("1,,2", "unexpected ',' at column 3");
    let all = |texts: &[&str]| Selector::parse_all(texts).and_then(|parsed| parsed.select(&reading()));
    assert_eq!(all(&["2,", "4", "5..6"]), Ok(vec![2, 4, 5, 6]));
    assert_eq!(all(&["stale", "~1..5"]), Ok(vec![4, 6]));
    assert!(all(&["(1", "2)"]).is_err() && all(&[]).is_err() && all(&["1", ","]).is_err());
}

#[test]
fn misspelled_names_are_suggested() {
    let meant = |selector: &str, expected: &str| {
        let error = Selector::parse(selector).and_then(|parsed| parsed.select(&reading())).unwrap_err();
        let error = error.in_session(&reading());
        assert_eq!(format!("{error}; {}", error.hint()), expected, "{selector}");
    };
    meant("Read", "unknown selector 'Read'; did you mean 'tool(Read)'?");
    meant("Raed", "unknown selector 'Raed'; did you mean 'tool(Read)'?");
    meant("stael", "unknown selector 'stael'; did you mean 'stale'?");
    meant("src/a.rs", "unknown selector 'src/a.rs'; did you mean 'path(src/a.rs)'?");
    meant("stale & ./a.rs", "unknown selector './a.rs'; did you mean 'path(./a.rs)'?");
    meant("Cargo.toml", "unknown selector 'Cargo.toml'; did you mean 'path(Cargo.toml)'?");
    meant("*.rs", "unknown selector '*.rs'; did you mean 'path(*.rs)'?");
    meant("mcp__*", "unknown selector 'mcp__*'; did you mean 'tool(mcp__*)'?");
    meant("image", "unknown selector 'image'; did you mean 'kind(image)'?");
    meant("#2x", "'2x' is neither a number nor a range like 10..20 at column 4; did you mean '2'?");
    meant("2-4", "'2-4' is neither a number nor a range like 10..20 at column 4; did you mean '2..4'?");
    meant("tool(Raed)", "no block of the session uses the tool 'Raed'; did you mean 'tool(Read)'?");
    meant("~tool(Zip)", "no block of the session uses the tool 'Zip'; did you mean 'tool(Read)'?");
    meant(
        "path(\"src/auth/flwo.rs\")",
        "no block of the session has the path 'src/auth/flwo.rs'; did you mean 'path(src/auth/flow.rs)'?",
    );
    meant("path(src/auth)", "no block of the session has the path 'src/auth'; did you mean 'path(src/auth/**)'?");
    meant("path(nosuch)", "no block of the session has the path 'nosuch'; to list tools and files: aperture blocks all");
    meant(
        "task(3)",
        "there is no task 3: the session has tasks 1 to 2; to see where tasks begin: aperture summary; without a sidecar there is one",
    );
    meant("turn(99)", "there is no turn 99: the session has turns 1 to 3; to list the turns: aperture blocks --tree");
}

#[test]
fn patterns_may_match_nothing() {
    check("tool(mcp__*)", &[]);
    check("path(docs/**)", &[]);
    check("turn(2..99)", &[3, 4, 5, 6]);
}

#[test]
fn nesting_is_bounded() {
    assert!(Selector::parse(&"(".repeat(10_000)).is_err());
    assert!(Selector::parse(&"~".repeat(10_000)).is_err());
    check(&format!("1{}", "|1".repeat(100_000)), &[1]);
    check(&format!("1{}", "&1".repeat(100_000)), &[1]);
}

#[test]
fn every_documented_name_is_known() {
    for (name, _) in NAMES.iter().chain(FUNCTIONS) {
        assert!(Selector::parse(name).is_ok(), "{name}");
    }
}

#[test]
fn a_path_is_matched_as_it_is_shown() {
    for (pattern, path, expected) in [
        (r"src\price.ts", r"C:\Users\Ana María\shop\src\price.ts", true),
        ("src/price.ts", r"C:\Users\Ana María\shop\src\price.ts", true),
        (r"c:\Users\Ana María\shop\src\price.ts", r"C:\Users\Ana María\shop\src\price.ts", true),
        ("C:/Users/Ana María/shop/src/*.ts", r"c:\Users\Ana María\shop\src\price.ts", true),
        (r"C:\shop\src\**\*.ts", r"c:\shop\src\a\price.ts", true),
        (r"D:\shop\src\price.ts", r"C:\shop\src\price.ts", false),
        (r"rc\price.ts", r"C:\shop\src\price.ts", false),
        ("app/[id]/page.tsx", "/w/shop/app/[id]/page.tsx", true),
        (r"app\[id]\page.tsx", r"C:\shop\app\[id]\page.tsx", true),
        (r"app/\[id\]/page.tsx", "/w/shop/app/[id]/page.tsx", true),
        ("app/[ab]/page.tsx", "/w/shop/app/a/page.tsx", true),
        ("src/a.rs", "/w/shop/src/a.rs", true),
        ("src/A.rs", "/w/shop/src/a.rs", false),
        (r"src\**", r"C:\shop\src\a\price.ts", true),
        (r"src\*.ts", r"src\price.ts", true),
        (r"src/\*.ts", "src/price.ts", false),
        ("~/other/z.ts", "/home/dev/other/z.ts", true),
        ("~/other/*", "/Users/ana/other/z.ts", true),
        ("~/z.ts", "/home/dev/other/z.ts", false),
        ("~/z.ts", "~/z.ts", true),
    ] {
        assert_eq!(PathPattern::new(pattern).unwrap().matches(path), expected, "{pattern} of {path}");
    }
}
