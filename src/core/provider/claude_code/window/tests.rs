use super::super::messages::messages;
use super::super::parse::parse;
use super::window;
use crate::model::{BlockKind, Segment, Session};
use crate::testing::all_or;

/// Parses rows given as JSON with `'` for `"` into a session and the content of each block.
fn session(rows: &[String]) -> (Session, Vec<String>) {
    let mut segment = Segment::default();
    let mut contents = Vec::new();
    for row in rows {
        let line = row.replace('\'', "\"");
        let parsed = parse(line.as_bytes());
        for parsed in parsed.blocks {
            let mut block = parsed.block;
            block.bytes = parsed.content.len() as u64;
            block.preview = parsed.content.trim().into();
            block.row = segment.rows.len() as u32;
            contents.push(match block.kind {
                BlockKind::ToolUse => "use".into(),
                BlockKind::Thinking => "thinking".into(),
                _ => parsed.content.into_owned(),
            });
            segment.blocks.push(block);
        }
        segment.rows.push(parsed.row);
    }
    (Session::join("claude-code", crate::provider::conventions(), "s".into(), vec![segment]), contents)
}

/// Checks the sent contents: blocks in order, messages separated by `|`.
fn check(rows: &[String], expected: &str) {
    let (session, contents) = session(rows);
    let window = window(&session);
    let sent: Vec<String> = messages(&session, &window)
        .iter()
        .map(|message| {
            let text = |part: &crate::provider::Part| part.text(|block| contents[block as usize - 1].as_str().into());
            message.parts.iter().map(|part| text(part).trim().to_owned()).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(sent.join(" | "), expected, "{rows:#?}");
    assert_eq!(window.blocks.len() + window.hidden.total() as usize, session.blocks.len());
}

/// A row of any type; `time` in seconds.
fn row(kind: &str, id: &str, parent: &str, time: u32, more: &str) -> String {
    let parent = if parent.is_empty() { "null".into() } else { format!("'{parent}'") };
    let stamp = format!("2026-01-01T00:{:02}:{:02}.000Z", time / 60, time % 60);
    format!("{{'type':'{kind}','uuid':'{id}','parentUuid':{parent},'timestamp':'{stamp}','isSidechain':false{more}}}")
}

/// A prompt whose text is its id.
fn user(id: &str, parent: &str, time: u32) -> String {
    row("user", id, parent, time, &format!(",'message':{{'role':'user','content':'{id}'}}"))
}

fn assistant(id: &str, parent: &str, time: u32, message: &str, block: &str) -> String {
    let message = format!("{{'id':'{message}','role':'assistant','model':'claude-opus-4-8','content':[{block}]}}");
    row("assistant", id, parent, time, &format!(",'message':{message}"))
}

/// An assistant text that is its id.
fn says(id: &str, parent: &str, time: u32, message: &str) -> String {
    assistant(id, parent, time, message, &format!("{{'type':'text','text':'{id}'}}"))
}

fn thinks(id: &str, parent: &str, time: u32, message: &str) -> String {
    assistant(id, parent, time, message, "{'type':'thinking','thinking':'','signature':'x'}")
}

fn uses(id: &str, parent: &str, time: u32, message: &str, call: &str) -> String {
    assistant(id, parent, time, message, &format!("{{'type':'tool_use','id':'{call}','name':'Read','input':{{}}}}"))
}

/// A tool result whose text is its id.
fn result(id: &str, parent: &str, time: u32, call: &str) -> String {
    let block = format!("{{'type':'tool_result','tool_use_id':'{call}','content':'{id}'}}");
    row("user", id, parent, time, &format!(",'message':{{'role':'user','content':[{block}]}}"))
}

fn attachment(id: &str, parent: &str, time: u32, attachment: &str, rendered: &str) -> String {
    let more = format!(",'attachment':{{{attachment}}},'rendered':[{{'content':'{rendered}'}}],'renderedRole':'system'");
    row("attachment", id, parent, time, &more)
}

fn noted(leaf: &str, explicit: bool) -> String {
    format!("{{'type':'last-prompt','leafUuid':'{leaf}','explicit':{explicit}}}")
}

fn boundary(id: &str, time: u32, metadata: &str) -> String {
    row("system", id, "", time, &format!(",'subtype':'compact_boundary','compactMetadata':{{{metadata}}}"))
}

/// A prompt with an answer, a second prompt, and an edited sibling of the second prompt.
fn branches() -> Vec<String> {
    vec![
        user("a", "", 0),
        says("b", "a", 1, "m1"),
        user("c", "b", 2),
        says("d", "c", 3, "m2"),
        user("e", "b", 4),
        says("f", "e", 5, "m3"),
    ]
}

fn with(mut rows: Vec<String>, more: &[String]) -> Vec<String> {
    rows.extend_from_slice(more);
    rows
}

#[test]
fn the_leaf_is_the_noted_row_or_the_last_one() {
    // The last row is the leaf where none is noted.
    check(&branches(), "a | b | e | f");
    // The noted leaf wins over another branch.
    check(&with(branches(), &[noted("d", false)]), "a | b | c | d");
    // Rows after the noted leaf count.
    check(&with(branches(), &[noted("d", false), user("g", "d", 9), says("h", "g", 10, "m4")]), "a | b | c | d | g | h");
    // Rows after a rewind do not count.
    check(&with(branches(), &[noted("b", true)]), "a | b");
    check(&with(branches(), &["{'type':'last-prompt','leafUuid':null,'explicit':true}".into()]), "");
    // A dangling leaf is ignored.
    check(&with(branches(), &[noted("z", false)]), "a | b | e | f");
}

#[test]
fn results_beside_the_walk_are_found() {
    let rows = [
        user("a", "", 0),
        thinks("t", "a", 1, "m1"),
        uses("u", "t", 2, "m1", "one"),
        uses("v", "u", 3, "m1", "two"),
        result("r1", "u", 4, "one"),
        result("r2", "v", 5, "two"),
        says("b", "r2", 6, "m2"),
    ];
    check(&rows, "a | thinking use use | r1 r2 | b");
    let rows = [
        user("a", "", 0),
        uses("u", "a", 2, "m1", "one"),
        uses("v", "u", 3, "m1", "two"),
        result("r2", "v", 5, "two"),
        result("r1", "x", 40, "one"),
        says("b", "r2", 41, "m2"),
    ];
    check(&rows, "a | use use | r2 r1 | b");
}

#[test]
fn a_compaction_cuts_and_keeps() {
    let metadata = "'preservedMessages':{'anchorUuid':'s','uuids':['c','d']}";
    let summary = |parent| row("user", "s", parent, 11, ",'isCompactSummary':true,'message':{'role':'user','content':'sum'}");
    let tail = |metadata| [boundary("k", 10, metadata), summary("k"), user("x", "s", 12), says("y", "x", 13, "m9")];
    let rows = branches()[..4].to_vec();
    check(&with(rows.clone(), &tail("")), "sum x | y");
    check(&with(rows.clone(), &tail(metadata)), "sum c | d | x | y");
    check(&with(rows, &tail("'preservedMessages':{'anchorUuid':'s','uuids':['c','gone']}")), "sum x | y");
}

#[test]
fn a_missing_parent_is_bridged_if_it_is_near() {
    check(&[user("a", "", 0), says("b", "a", 1, "m1"), user("c", "gone", 5)], "a | b | c | No response requested.");
    check(&[user("a", "", 0), says("b", "a", 1, "m1"), user("c", "gone", 7)], "c | No response requested.");
}

#[test]
fn rows_of_other_kinds_cut_the_chain_or_link_it() {
    let mut rows = branches();
    rows[1] = "{'type':'assistant','uuid':'b'".into();
    rows[4] = user("e", "b", 44);
    rows[5] = says("f", "e", 45, "m3");
    check(&rows, "e | f");
    let mut rows = branches();
    rows[4] = row("user", "e", "b", 4, ",'message':{'role':'user','content':7}");
    check(&rows, "a | b | f");
    let mut rows = branches();
    rows.extend([
        row("progress", "p", "f", 6, ""),
        row("progress", "q", "p", 6, ""),
        user("g", "q", 60),
        says("h", "g", 61, "m4"),
    ]);
    check(&rows, "a | b | e | f | g | h");
}

#[test]
fn thinking_is_stripped_as_the_markers_say() {
    let rows = [
        user("a", "", 0),
        thinks("t1", "a", 1, "m1"),
        says("b", "t1", 2, "m1"),
        user("c", "b", 3),
        thinks("t2", "c", 4, "m2"),
        says("d", "t2", 5, "m2"),
    ];
    let marker = |scope: &str| row("attachment", "s", "d", 6, &format!(",'attachment':{{'type':'thinking_stripped',{scope}}}"));
    check(&rows, "a | thinking b | c | thinking d");
    check(&with(rows.to_vec(), &[marker("'scope':'all'")]), "a | b | c | d");
    let partial = marker("'scope':'partial','from':{'messageId':'m2','thinkingIndex':0}");
    check(&with(rows.to_vec(), &[partial]), "a | thinking b | c | d");
}

#[test]
fn halves_and_repeated_rows_are_dropped() {
    let lost = [user("a", "", 0), uses("u", "a", 1, "m1", "one"), user("b", "u", 2), says("c", "b", 3, "m2")];
    check(&lost, "a b | c");
    let orphan = [user("a", "", 0), says("b", "a", 1, "m1"), result("r", "b", 2, "one"), says("c", "r", 3, "m2")];
    check(&orphan, "a | b | (no content) | c");
    let rows = [user("a", "", 0), thinks("t", "a", 1, "m1"), user("b", "t", 2), says("c", "b", 3, "m2")];
    check(&rows, "a b | c");
    let rows = [
        user("a", "", 0),
        uses("u", "a", 1, "m1", "one"),
        result("r", "u", 2, "one"),
        uses("v", "r", 3, "m2", "one"),
        says("b", "v", 4, "m2"),
    ];
    check(&rows, "a | use | r | b");
    let again = row("user", "a", "", 0, ",'message':{'role':'user','content':'again'}");
    check(&[user("a", "", 0), says("b", "a", 1, "m1"), again, noted("b", false)], "again | b");
}

#[test]
fn a_call_that_was_running_is_answered() {
    let rows = [user("a", "", 0), uses("u", "a", 1, "m1", "one")];
    let (session, _) = session(&rows);
    let messages = messages(&session, &window(&session));
    assert_eq!(messages.iter().map(|message| message.role).collect::<Vec<_>>(), ["user", "assistant", "user", "assistant"]);
}

#[test]
fn attachments_are_a_system_turn_or_folded_into_results() {
    let note = attachment("n", "a", 1, "'type':'date'", "<system-reminder>\\nnote\\n</system-reminder>");
    check(&[user("a", "", 0), note, says("b", "n", 2, "m1")], "a | note | b");
    let note = attachment("n", "r", 3, "'type':'date'", "note");
    let rows = [
        user("a", "", 0),
        uses("u", "a", 1, "m1", "one"),
        result("r", "u", 2, "one"),
        note,
        says("b", "n", 4, "m2").replace("opus-4-8", "opus-4-6"),
    ];
    check(&rows.map(|row| row.replace("opus-4-8", "opus-4-6")), "a | use | r\n\nnote | b");
}

#[test]
fn sidechains_are_hidden_unless_they_are_all() {
    let side = |row: String| row.replace("'isSidechain':false", "'isSidechain':true");
    let rows = [user("a", "", 0), says("b", "a", 1, "m1"), side(user("x", "", 2)), side(says("y", "x", 3, "m2"))];
    check(&rows, "a | b");
    let (session, _) = session(&rows);
    assert_eq!(window(&session).hidden.sidechain, 2);
    check(&branches().into_iter().map(side).collect::<Vec<_>>(), "a | b | e | f");
}

#[test]
fn cycles_end() {
    check(&[user("a", "b", 0), says("b", "a", 1, "m1")], "a | b");
    check(&[user("a", "a", 0)], "a | No response requested.");
    let links = [row("system", "p", "q", 0, ""), row("system", "q", "p", 0, ""), user("a", "p", 9), noted("q", false)];
    check(&links, "a | No response requested.");
}

#[test]
fn long_chains_of_any_shape_have_a_window() {
    let count = all_or(20_000, 5_000);
    let chain: Vec<String> = (0..count)
        .map(|n| {
            if n % 2 == 0 {
                user(&n.to_string(), &format!("{}", n - 1), 1)
            } else {
                says(&n.to_string(), &format!("{}", n - 1), 1, &format!("m{n}"))
            }
        })
        .collect();
    // Every parent is missing, and all rows have the same timestamp.
    let scattered = chain.iter().map(|row| row.replace("'parentUuid':'", "'parentUuid':'x")).collect();
    let prompts = (0..count).map(|n| user(&n.to_string(), &format!("{}", n - 1), 1)).collect();
    let nested = (0..count)
        .map(|n: i32| uses(&n.to_string(), &format!("{}", n - 1), 1, &format!("m{}", n.min(count - n)), &n.to_string()))
        .collect();
    for rows in [chain, scattered, prompts, nested] {
        let (session, _) = session(&rows);
        let sent = window(&session).blocks.len();
        assert!((1..=count as usize).contains(&sent), "{sent}");
    }
}

proptest::proptest! {
    #[test]
    fn any_tree_gives_a_window(links in proptest::collection::vec((0u8..12, 0u8..12, 0u8..4, 0u8..9, 0u32..20), 0..40)) {
        let rows: Vec<String> = links.iter().map(|(id, parent, message, kind, time)| {
            let (id, parent, message) = (format!("i{id}"), format!("i{parent}"), format!("m{message}"));
            match kind {
                0 => user(&id, &parent, *time),
                1 => says(&id, &parent, *time, &message),
                2 => thinks(&id, &parent, *time, &message),
                3 => uses(&id, &parent, *time, &message, &message),
                4 => result(&id, &parent, *time, &message),
                5 => attachment(&id, &parent, *time, "'type':'date'", "note"),
                6 => row("system", &id, &parent, *time, ""),
                7 => boundary(&id, *time, "'preservedMessages':{'anchorUuid':'i1','uuids':['i2','i3']}"),
                _ => noted(&id, time % 2 == 0),
            }
        }).collect();
        let (session, _) = session(&rows);
        let window = window(&session);
        let mut blocks = window.blocks.clone();
        blocks.sort_unstable();
        blocks.dedup();
        proptest::prop_assert_eq!(blocks.len(), window.blocks.len());
        let uses = |kind| window.blocks.iter().filter(|block| session.blocks[**block as usize - 1].kind == kind).count();
        proptest::prop_assert!(uses(BlockKind::ToolResult) <= uses(BlockKind::ToolUse));
        let branched = session.blocks.iter().filter(|block| window.is_left(block.row)).count();
        proptest::prop_assert_eq!(branched, window.hidden.branched as usize);
        proptest::prop_assert!(!window.rows.iter().any(|row| window.is_left(*row)));
    }
}

/// Checks the rows that were left, given the places of the rows.
fn check_left(rows: &[String], expected: &[u32]) {
    assert_eq!(window(&session(rows).0).left, expected, "{rows:#?}");
}

fn compacted(id: &str, follows: &str, time: u32) -> String {
    row("system", id, "", time, &format!(",'subtype':'compact_boundary','logicalParentUuid':'{follows}','compactMetadata':{{}}"))
}

#[test]
fn rows_on_another_branch_than_the_conversation_were_left() {
    let rewound = branches();
    check_left(&rewound, &[2, 3]);
    check_left(&rewound[..4], &[]);
    check_left(&with(rewound.clone(), &[noted("d", false)]), &[4, 5]);
    // The first prompt was edited, and all of the conversation was left.
    check_left(&[user("a", "", 1), says("b", "a", 2, "m1"), user("c", "", 3), says("d", "c", 4, "m2")], &[0, 1]);
    check_left(&with(rewound[..2].to_vec(), &["{'type':'last-prompt','leafUuid':null,'explicit':true}".into()]), &[0, 1]);
    // Any row can be the first of a branch.
    let note = |id: &str, parent: &str| attachment(id, parent, 2, "'type':'date'", "note");
    let link = |id: &str, parent: &str| row("system", id, parent, 2, "");
    for first in [note("n", "b"), link("n", "b")] {
        let rows = [rewound[..2].to_vec(), vec![first, user("c", "n", 3), user("e", "b", 4), says("f", "e", 5, "m3")]];
        check_left(&rows.concat(), &[2, 3]);
    }
    let rows = [rewound[..4].to_vec(), vec![link("n", "b"), user("e", "n", 4), says("f", "e", 5, "m3")]];
    check_left(&rows.concat(), &[2, 3]);
    // A row beside the conversation that no message follows.
    let rows = [rewound[..2].to_vec(), vec![note("n", "a"), user("e", "b", 4), says("f", "e", 5, "m3")]];
    check_left(&rows.concat(), &[]);
    // A row after a missing one, and an answer that begins a conversation.
    check_left(&with(rewound[..2].to_vec(), &[user("e", "gone", 30), says("f", "e", 31, "m3"), noted("b", false)]), &[]);
    check_left(&[says("z", "", 0, "m0"), user("a", "", 30), says("b", "a", 31, "m1")], &[]);
}

#[test]
fn a_compaction_follows_the_row_that_it_names() {
    let tail = |follows| [compacted("k", follows, 10), user("g", "k", 11), says("h", "g", 12, "m9")];
    check_left(&with(branches(), &tail("f")), &[2, 3]);
    // Nothing was written after the rewind.
    check_left(&with(branches()[..4].to_vec(), &tail("b")), &[2, 3]);
    check_left(&with(branches()[..4].to_vec(), &tail("d")), &[]);
    check_left(&with(branches(), &tail("gone")), &[2, 3]);
    // The command that asked for the compaction is beside it, and another prompt was left.
    let beside = |text: &str| row("user", "z", "d", 9, &format!(",'message':{{'role':'user','content':'{text}'}}"));
    let asked = |text: &str| [&[beside(text)][..], &tail("d")].concat();
    check_left(&with(branches()[..4].to_vec(), &asked("/compact the tests only")), &[]);
    check_left(&with(branches()[..4].to_vec(), &asked("the tests only")), &[4]);
    let first = [user("a", "", 1), says("b", "a", 2, "m1"), user("c", "", 3), says("d", "c", 4, "m2")];
    check_left(&with(first.to_vec(), &tail("d")), &[0, 1]);
    // The user went back to before the compaction.
    let back = with(branches()[..4].to_vec(), &tail("d"));
    check_left(&with(back, &[user("i", "b", 20), says("j", "i", 21, "m10")]), &[2, 3, 4, 5, 6]);
}

/// Checks the cuts: the row that names a missing one, the row that it certainly followed, and the rows that are not sent.
fn check_cuts(rows: &[String], expected: &[(u32, Option<u32>, &[u32])]) {
    let cuts = window(&session(rows).0).cuts;
    let cuts: Vec<(u32, Option<u32>, &[u32])> = cuts.iter().map(|cut| (cut.row, cut.before, &*cut.rows)).collect();
    assert_eq!(cuts, expected, "{rows:#?}");
}

#[test]
fn rows_that_a_missing_row_hides_are_cut() {
    let tail = |time: u32| [user("x", "gone", time), says("y", "x", time + 1, "m9")];
    check_cuts(&branches()[..4], &[]);
    check_cuts(&with(branches()[..4].to_vec(), &tail(5)), &[]);
    check_cuts(&with(branches()[..4].to_vec(), &tail(30)), &[(4, Some(3), &[0, 1, 2, 3])]);
    // The client resumes at the row that it noted.
    check_cuts(&with(branches()[..4].to_vec(), &[&[noted("d", false)][..], &tail(30)].concat()), &[(5, Some(3), &[5, 6])]);
    check_cuts(&with(branches()[..4].to_vec(), &[&[noted("d", true)][..], &tail(30)].concat()), &[]);
    // The clock was set back.
    check_cuts(&with(branches()[..4].to_vec(), &tail(1)), &[(4, None, &[2, 3])]);
    // A compaction keeps a row that is missing.
    let summary = row("user", "s", "k", 11, ",'isCompactSummary':true,'message':{'role':'user','content':'sum'}");
    let kept = |uuids: &str| {
        let boundary = boundary("k", 10, &format!("'preservedMessages':{{'anchorUuid':'s','uuids':[{uuids}]}}"));
        with(branches()[..4].to_vec(), &[boundary, summary.clone(), user("x", "s", 12), says("y", "x", 13, "m9")])
    };
    check_cuts(&kept("'c','d'"), &[]);
    check_cuts(&kept("'c','d','gone'"), &[(4, None, &[2, 3])]);
}
