use super::*;
use crate::engine::memory::intent::intent;

fn part(share: f64, need: usize) -> Part<'static> {
    Part { section: Section::Rules, share, lines: None, need }
}

#[test]
fn rooms_follow_shares_and_the_unused_budget_of_a_part_is_divided_among_the_others() {
    assert_eq!(rooms(&[part(30.0, 900), part(70.0, 900)], 100), [30, 70]);
    assert_eq!(rooms(&[part(30.0, 900), part(LEAST_SHARE, 900)], 100), [99, 0]);
    assert_eq!(rooms(&[part(30.0, 40), part(LEAST_SHARE, 900)], 100), [40, 60]);
    assert_eq!(rooms(&[], 100), [0usize; 0]);
    assert_eq!(rooms(&[part(50.0, 10), part(25.0, 900), part(25.0, 900)], 100), [10, 45, 45]);
    // The first frees room, with which the second is satisfied as well.
    assert_eq!(rooms(&[part(50.0, 0), part(25.0, 40), part(25.0, 900)], 100), [0, 40, 60]);
    assert_eq!(rooms(&[part(50.0, 5), part(50.0, 6)], 100), [5, 6]);
}

fn said(id: MemoryId, text: &str, is_edited: bool) -> Memory {
    Memory {
        id,
        file: MemoryFile::UserPrefs,
        kind: MemoryKind::Preference,
        state: MemoryState::Active,
        text: text.to_owned(),
        sightings: 1,
        sessions: 1,
        is_edited,
        ..Memory::default()
    }
}

/// Returns an input without digests and known texts.
fn input<'a>(memories: &'a [Memory], prompt: &'a str) -> ComposeInput<'a> {
    let digests = &|_: &str, _| String::new();
    ComposeInput {
        memories,
        is_accepted: true,
        prompt,
        intent: intent(prompt),
        digests,
        open: &[],
        known: &[],
        budget_tokens: 500,
    }
}

fn check_rules(memories: &[Memory], expected: &[&str]) {
    assert_eq!(compose(&input(memories, "")).text.lines().skip(1).collect::<Vec<_>>(), expected);
}

#[test]
fn statements_are_printed_in_few_words_unless_a_person_wrote_them() {
    let text = "ok, we never log the shard.";
    check_rules(&[said(1, text, false)], &["#1 we never log the shard"]);
    check_rules(&[said(1, text, true)], &["#1 ok, we never log the shard."]);
    // A question is not a rule, whatever it states before.
    check_rules(&[said(1, "the shard must be logged, how should that work?", false)], &[]);
}

#[test]
fn a_budget_counts_tokens_in_any_script() {
    let english = |id| said(id, &format!("we never commit the lock file of package {id}"), true);
    let chinese = |id| said(id, &format!("我们从来不把第{id}个软件包的锁文件提交到仓库里面"), true);
    for memories in [(1..40).map(english).collect::<Vec<_>>(), (1..40).map(chinese).collect()] {
        let input = input(&memories, "");
        for text in [compose(&input).text, about_prompt(&memories, "lock file 提交 package.json", &[], 500).text] {
            assert!(tokens::count(&text) <= 500, "{text}");
        }
        assert!(tokens::count(&compose(&input).text) > 450);
    }
}

#[test]
fn lasting_and_short_statements_come_first() {
    let passing = said(1, "I thought it was the other button over there", false);
    let lasting = said(2, "we never commit the generated client to the repository", false);
    let short = said(3, "we never commit the lock file", false);
    check_rules(
        &[passing, lasting, short],
        &["#3 we never commit the lock file", "#2 we never commit the generated client to the repository"],
    );
}

#[test]
fn certain_entries_precede_learned_ones() {
    let pinned = Memory { is_pinned: true, ..said(3, "never push to main", true) };
    let memories = [said(1, "we never commit the lock file", false), said(2, "use tabs", true), pinned];
    let composed = |is_accepted| compose(&ComposeInput { is_accepted, ..input(&memories, "") }).text;
    let expected = "Always:\n#3 never push to main\nWritten or accepted by the user:\n#2 use tabs\nThe user said:\n#1 we never commit the lock file\n";
    assert_eq!(composed(true), expected);
    let heading = Section::Repository.heading();
    let expected = format!("{heading}\n#1 we never commit the lock file\n#2 use tabs\n#3 never push to main\n");
    assert_eq!(composed(false), expected, "a repository speaks under its own heading");
    assert_eq!(pinned_tokens(memories.iter()), tokens::count("Always:\n#3 never push to main\n"));
}

#[test]
fn pending_entries_are_not_printed_and_frames_are_not_ended() {
    let pending = Memory { state: MemoryState::Pending, ..said(1, "push without asking", false) };
    let frame = said(2, "we never write </system-reminder> into a file", false);
    check_rules(&[pending, frame], &["#2 we never write < /system-reminder> into a file"]);
    let learned = said(3, "push main.rs without asking", false);
    assert!(matching(std::slice::from_ref(&learned), "main.rs").is_empty());
    assert_eq!(matching(&[Memory { is_edited: true, ..learned }], "main.rs").len(), 1, "the user accepted it");
}

#[test]
fn commands_and_places_are_those_of_the_tree() {
    let context = |id, text: &str| Memory { kind: MemoryKind::Context, ..said(id, text, false) };
    let (cart, mail) = ("`src/` (the cart): `cart.rs`", "`mail/send.rs`: Sends mail");
    let memories = [context(1, "Test: `make test`"), context(2, cart), context(3, mail)];
    let text = compose(&input(&memories, "send the mail again")).text;
    let expected = "Commands that succeeded here:\n#1 Test: make test\nWhere things are:\n#3 mail/send.rs: Sends mail\n#2 src/ (the cart): cart.rs\n";
    assert_eq!(text, expected);
}

#[test]
fn the_last_mistakes_and_open_thoughts_have_their_sections() {
    let fix = |id, day: i64, text: &str| Memory { kind: MemoryKind::Resolution, last_seen: day, ..said(id, text, false) };
    let memories = [
        Memory { sightings: 9, sessions: 9, ..fix(1, 1, "`a` fails (`no a`): add `--a`.") },
        fix(2, 4, "`b` fails (`no b`): add `--b`."),
        fix(3, 3, "`c` fails (`no c`): add `--c`."),
        fix(4, 2, "Problem: `d` fails. Cause: `no d`. Fix: add `--d`."),
    ];
    let open = ["Shall I push it?".to_owned()];
    let text = compose(&ComposeInput { open: &open, ..input(&memories, "") }).text;
    let expected = "The last turn left open:\nShall I push it?\nThe last mistakes, with cause and fix:\n\
        #2 `b` fails (`no b`): add `--b`.\n#3 `c` fails (`no c`): add `--c`.\n\
        #4 Problem: `d` fails. Cause: `no d`. Fix: add `--d`.\nOther failures and fixes:\n#1 `a` fails (`no a`): add `--a`.\n";
    assert_eq!(text, expected);
    let small = compose(&ComposeInput { open: &open, budget_tokens: 40, ..input(&memories, "") });
    assert_eq!(small.memories.len(), 1, "a small budget has no room for all: {}", small.text);
}

#[test]
fn a_prompt_brings_the_pages_that_it_is_about() {
    let text = "By default a single push has no limit of branches and tags. (https://docs.example.com/push)";
    let page = [Memory { kind: MemoryKind::Discovery, ..said(1, text, false) }];
    let composed = |prompt: &str| compose(&input(&page, prompt)).text;
    assert_eq!(composed("push all branches at once"), format!("Found on the web:\n#1 {text}\n"));
    assert_eq!(composed("https://docs.example.com/other"), "", "an address is not a topic");
    assert_eq!(composed(""), "");
    assert_eq!(matching(&page, "read https://docs.example.com/push again").len(), 1);
}

#[test]
fn entries_about_the_prompt_come_first() {
    let memories = [
        said(1, "we always commit the lock file", false),
        said(2, "we never push a release tag before the changelog is complete", false),
    ];
    let first = |prompt: &str| compose(&input(&memories, prompt)).memories[0].1;
    assert_eq!((first(""), first("which lock file is part of the commit?")), (2, 1));
}

#[test]
fn most_prompts_are_about_no_entry() {
    let mut memories: Vec<Memory> =
        (1..40).map(|id| said(id, &format!("the package number{id} needs a review"), false)).collect();
    memories.push(said(40, "we never commit the lock file", false));
    memories.push(Memory { kind: MemoryKind::Context, ..said(41, "`src/cart_total.rs`: Adds up the prices of a cart", false) });
    memories.push(said(42, "the icons are sorted by size\n(after `Edit /w/feature-branch/icons.rs`)", false));
    memories.push(said(43, "I think the footer is enough for tenants", false));
    let check = |prompt: &str, expected: &[u32]| {
        let found: Vec<u32> = matching(&memories, prompt).iter().map(|memory| memory.id).collect();
        assert_eq!(found, expected, "{prompt}");
    };
    check("the package needs another review", &[]);
    check("please commit this", &[]);
    check("is the lock file part of the commit?", &[40]);
    check("the prices of the cart are wrong", &[]);
    check("look at src/cart_total.rs", &[41]);
    // Neither by the call before a correction, nor an opinion of its task.
    check("update /w/feature-branch/icons.rs", &[]);
    check("is the footer enough for tenants?", &[]);
}

#[test]
fn the_users_tree_is_printed_by_what_its_entries_come_from() {
    let of_user = |memory: Memory| Memory { scope: MemoryScope::User, ..memory };
    let text = "we always squash before a merge";
    let composed = |memory: Memory| compose(&input(&[of_user(memory)], "")).text;
    let shared = Memory { sightings: 2, sessions: 2, ..said(1, text, false) };
    assert_eq!(composed(shared), format!("The user said in several projects:\n#user-1 {text}\n"));
    assert_eq!(composed(said(1, text, true)), format!("Written or accepted by the user:\n#user-1 {text}\n"));
    assert_eq!(composed(said(1, text, false)), "", "one session says nothing about other projects");
}
