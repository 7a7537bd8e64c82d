use super::*;
use crate::engine::memory::topic::statement_key;
use crate::engine::memory::words::key_of;
use crate::model::MemoryFile;
use proptest::prelude::*;

fn seen(session: &str, day: i64) -> Sighting {
    Sighting { session: session.to_owned(), block: day as u32, row: format!("r{day}"), time: day * DAY_MILLISECONDS + 5 }
}

fn candidate(text: &str, is_strong: bool, sightings: &[(&str, i64)]) -> Candidate {
    let sightings = sightings.iter().map(|(session, day)| seen(session, *day)).collect();
    let (file, kind) = (MemoryFile::UserPrefs, MemoryKind::Correction);
    Candidate { key: key_of(text), file, kind, text: text.to_owned(), is_strong, sightings }
}

fn applied(existing: &[Memory], changes: &[Change]) -> Vec<Memory> {
    let mut memories = existing.to_vec();
    for change in changes {
        match memories.iter_mut().find(|memory| memory.id == change.memory.id) {
            Some(known) => *known = change.memory.clone(),
            None => memories.push(change.memory.clone()),
        }
    }
    memories
}

fn run(existing: &[Memory], candidates: &[Candidate], day: i64) -> (Vec<Memory>, Vec<(ChangeKind, u32)>) {
    let next_id = existing.iter().map(|memory| memory.id).max().unwrap_or_default() + 1;
    let facts = MergeFacts { next_id, now: day * DAY_MILLISECONDS, ..MergeFacts::default() };
    let changes = merge(existing, candidates, &facts);
    let kinds = changes.iter().map(|change| (change.kind, change.memory.id)).collect();
    (applied(existing, &changes), kinds)
}

use ChangeKind::{Activated, Added, Archived, Confirmed, Restored, Superseded};

#[test]
fn a_list_never_gets_shorter() {
    for (old, new, expected) in [
        ("Test: `a`, `b`", "Test: `b`", "Test: `a`, `b`"),
        ("Test: `a`", "Test: `b`, `a`", "Test: `b`, `a`"),
        ("Test: `a`", "Test: `b`", "Test: `b`, `a`"),
        ("`src/` (the cart): `a`, `b`", "`src/` (the cart): `c`", "`src/` (the cart): `c`, `a`, `b`"),
    ] {
        assert_eq!(with_items(old, new), expected, "{old} {new}");
    }
}

#[test]
fn a_second_session_activates_an_entry() {
    let (one, changes) = run(&[], &[candidate("use tabs", false, &[("s1", 10)])], 11);
    assert_eq!((changes, one[0].state), (vec![(Added, 1)], MemoryState::Pending));
    let same = candidate("use tabs", false, &[("s1", 10), ("s1", 12)]);
    let (one, changes) = run(&one, &[same], 12);
    assert_eq!((changes, one[0].sightings, one[0].sessions), (vec![(Confirmed, 1)], 2, 1));
    let (one, changes) = run(&one, &[candidate("use tabs", false, &[("s1", 10), ("s1", 12), ("s2", 12)])], 13);
    assert_eq!((changes, one[0].state, one[0].sessions), (vec![(Activated, 1)], MemoryState::Active, 2));
    // Sessions whose files are gone still count.
    let (one, _) = run(&one, &[candidate("use tabs", false, &[("s3", 14)])], 14);
    assert_eq!((one[0].sightings, one[0].sessions, one[0].first_seen), (4, 3, 10 * DAY_MILLISECONDS));
    let (_, changes) = run(&[], &[candidate("use tabs", true, &[("s1", 10)])], 11);
    assert_eq!(changes, [(Added, 1)]);
}

#[test]
fn an_entry_goes_with_the_words_that_taught_it() {
    let said = |text: &str, sightings: &[(&str, i64)], day: i64| run(&[], &[candidate(text, true, sightings)], day).0[0].clone();
    let first = said("Use `npm`.", &[("s1", 10)], 11);
    let old = Memory { state: MemoryState::Superseded, superseded_by: Some(2), ..first };
    let twice = said("Use `pnpm`.", &[("s2", 12), ("s3", 13)], 13);
    let said = Memory { id: 2, ..said("Use `pnpm`.", &[("s2", 12)], 12) };
    let changes_of = |existing: &[Memory], left: &[(&str, u32)]| {
        let left = left.iter().map(|(session, block)| ((*session).to_owned(), *block)).collect();
        let facts = MergeFacts { next_id: 9, now: 14 * DAY_MILLISECONDS, left: Some(&left), ..MergeFacts::default() };
        merge(existing, &[], &facts)
    };
    let block = said.evidence[0].block;
    assert_eq!(changes_of(std::slice::from_ref(&said), &[("s9", block)]), []);
    let changes = changes_of(&[old, said.clone()], &[("s2", block)]);
    let kinds: Vec<(ChangeKind, u32)> = changes.iter().map(|change| (change.kind, change.memory.id)).collect();
    assert_eq!(kinds, [(Restored, 1), (ChangeKind::Removed, 2)]);
    let edited = Memory { is_edited: true, ..said };
    assert_eq!(changes_of(&[edited], &[("s2", block)]), []);
    let changes = changes_of(std::slice::from_ref(&twice), &[("s2", block)]);
    assert_eq!((changes[0].kind, changes[0].memory.sightings), (Confirmed, 1));
    assert_eq!(changes_of(&[changes[0].memory.clone()], &[("s2", block)]), []);
    // A copy of the session still has the words.
    let copied = Memory { sightings: 1, ..twice };
    let changes = changes_of(std::slice::from_ref(&copied), &[("s2", block)]);
    assert!(changes.iter().all(|change| change.kind != ChangeKind::Removed && change.memory.evidence.len() == 1));
}

#[test]
fn decisions_of_a_person_are_kept() {
    let said = candidate("Use `pnpm`.", true, &[("s1", 10)]);
    let (one, _) = run(&[], std::slice::from_ref(&said), 11);
    let edited = Memory { text: "Use `pnpm` 9.".to_owned(), is_edited: true, ..one[0].clone() };
    let other = Candidate { text: "Use `pnpm` please.".to_owned(), ..candidate("Use `pnpm`.", true, &[("s1", 10), ("s2", 20)]) };
    let (after, changes) = run(std::slice::from_ref(&edited), &[other], 21);
    assert_eq!((changes, &*after[0].text, after[0].sightings), (vec![(Confirmed, 1)], "Use `pnpm` 9.", 2));
    let archived = Memory { state: MemoryState::Archived, ..edited };
    let (after, _) = run(&[archived], &[candidate("Use `pnpm`.", true, &[("s3", 30)])], 31);
    assert_eq!(after[0].state, MemoryState::Archived);
    let facts = MergeFacts { next_id: 1, forgotten: &[said.key], now: 11 * DAY_MILLISECONDS, ..MergeFacts::default() };
    assert_eq!(merge(&[], &[said], &facts), []);
}

#[test]
fn a_newer_statement_supersedes_an_older_one_and_keeps_its_facts() {
    let old = candidate("Deploy the `web` app with `make ship` on Monday mornings.", true, &[("s1", 10)]);
    let new = candidate("Deploy the app with `make ship` on Monday mornings only.", true, &[("s2", 20)]);
    let (memories, changes) = run(&[], &[new.clone(), old.clone()], 21);
    assert_eq!(changes, [(Added, 1), (Added, 2)]);
    assert_eq!((memories[0].state, memories[0].superseded_by), (MemoryState::Superseded, Some(2)));
    assert_eq!(memories[1].text, "Deploy the app with `make ship` on Monday mornings only. (earlier: `web`)");
    assert_eq!(run(&memories, &[new, old], 22).1, []);
}

#[test]
fn the_same_statement_in_other_words_is_a_second_sighting() {
    let (one, two) = (
        candidate("Write commit messages in English.", false, &[("s1", 10)]),
        candidate("Please always write the commit messages in English, with a subject.", false, &[("s2", 20)]),
    );
    let (memories, _) = run(&[], &[one.clone(), two.clone()], 21);
    let new = &memories[1];
    assert_eq!((new.state, new.sightings, new.sessions, new.first_seen), (MemoryState::Active, 2, 2, 10 * DAY_MILLISECONDS));
    assert_eq!((memories[0].state, new.evidence.len()), (MemoryState::Superseded, 2));
    assert_eq!(run(&memories, &[one, two], 22).1, []);
}

#[test]
fn statements_that_share_their_words_and_differ_are_two_entries() {
    for (one, other) in [
        ("Never import the parser from the lexer.", "Never import the lexer from the parser."),
        (
            "Never expose internal customer identifiers in responses of the API.",
            "Never expose internal customer identifiers in responses of the CLI.",
        ),
    ] {
        let candidate = |text, session, day| Candidate { key: statement_key(text), ..candidate(text, true, &[(session, day)]) };
        let (memories, _) = run(&[], &[candidate(one, "s1", 10), candidate(other, "s2", 20)], 21);
        let found: Vec<_> = memories.iter().map(|memory| (&*memory.text, memory.state, memory.sightings)).collect();
        assert_eq!(found, [(one, MemoryState::Active, 1), (other, MemoryState::Active, 1)]);
    }
    // A rule that was forgotten does not forbid its opposite.
    let forgotten = [statement_key("Always use npm instead of pnpm here.")];
    let text = "Always use pnpm instead of npm here.";
    let facts = MergeFacts { next_id: 1, forgotten: &forgotten, now: 11 * DAY_MILLISECONDS, ..MergeFacts::default() };
    let opposite = Candidate { key: statement_key(text), ..candidate(text, true, &[("s1", 10)]) };
    assert_eq!(merge(&[], &[opposite], &facts).len(), 1);
}

#[test]
fn the_newest_statement_wins_and_the_contradiction_is_recorded() {
    let use_it = candidate("use `npm` for packages", true, &[("s1", 10)]);
    let avoid = candidate("don't use `npm` for packages", true, &[("s2", 20)]);
    let (memories, _) = run(&[], std::slice::from_ref(&use_it), 11);
    let reads = [MemoryRead { memory: 1, session: "s3".to_owned(), time: 15 * DAY_MILLISECONDS }];
    let facts = MergeFacts { next_id: 2, reads: &reads, now: 21 * DAY_MILLISECONDS, ..MergeFacts::default() };
    let changes = merge(&memories, &[use_it.clone(), avoid.clone()], &facts);
    let memories = applied(&memories, &changes);
    assert_eq!((memories[0].state, memories[0].harmful), (MemoryState::Superseded, 1));
    assert_eq!((memories[1].state, memories[1].contradicts), (MemoryState::Active, Some(1)));
    assert_eq!(merge(&memories, &[use_it, avoid.clone()], &facts), []);
    // The user changes their mind again.
    let again = candidate("use `npm` for packages", true, &[("s1", 10), ("s3", 30)]);
    let (memories, changes) = run(&memories, &[again.clone(), avoid.clone()], 31);
    assert_eq!(changes, [(Restored, 1), (Superseded, 2)]);
    assert_eq!(run(&memories, &[again, avoid], 32).1, []);
    // An older statement does not return.
    let late = candidate("never use `npm` for packages", true, &[("s4", 5)]);
    assert_eq!(run(&memories, &[late], 33).1, []);
}

#[test]
fn a_failure_gets_its_fix_and_keeps_it() {
    let of = |kind, text: &str, day| {
        let seen = vec![seen("s1", day)];
        Candidate { key: 7, file: MemoryFile::Gotchas, kind, text: text.to_owned(), is_strong: true, sightings: seen }
    };
    let failure = |day| of(MemoryKind::Environment, "`a` fails: `no b`.", day);
    let (memories, _) = run(&[], &[failure(10)], 11);
    let (memories, _) = run(&memories, &[of(MemoryKind::Resolution, "`a` fails (`no b`): add `b`.", 12)], 13);
    let (memories, changes) = run(&memories, &[failure(14)], 15);
    assert_eq!(changes, [(Confirmed, 1)]);
    assert_eq!((memories[0].kind, &*memories[0].text), (MemoryKind::Resolution, "`a` fails (`no b`): add `b`."));
    // Reports that the fix does not help count once, however often they are read.
    let outcomes = [Outcome { id: 1, helpful: 0, harmful: 1 }];
    let facts = MergeFacts { next_id: 2, outcomes: &outcomes, now: 15 * DAY_MILLISECONDS, ..MergeFacts::default() };
    let changes = merge(&memories, &[], &facts);
    assert_eq!((changes[0].kind, changes[0].memory.is_refuted()), (ChangeKind::Contradicted, true));
    assert_eq!(merge(&applied(&memories, &changes), &[], &facts), []);
}

#[test]
fn entries_decay_while_the_project_is_in_use() {
    let old = candidate("use tabs", true, &[("s1", 10)]);
    let (memories, _) = run(&[], std::slice::from_ref(&old), 11);
    assert_eq!(run(&memories, std::slice::from_ref(&old), 5000).1, [], "the project rests");
    let new = candidate("write short commit messages", true, &[("s2", 200)]);
    let (memories, changes) = run(&memories, &[old.clone(), new.clone()], 201);
    assert_eq!(changes, [(Archived, 1), (Added, 2)]);
    assert_eq!(run(&memories, &[old.clone(), new.clone()], 202).1, []);
    let again = candidate("use tabs", true, &[("s1", 10), ("s3", 210)]);
    assert_eq!(run(&memories, &[again, new.clone()], 211).1, [(Restored, 1)]);
    let helpful = Memory { helpful: 1, state: MemoryState::Active, ..memories[0].clone() };
    assert_eq!(run(&[helpful, memories[1].clone()], &[old, new], 203).1, []);
}

#[test]
fn credentials_do_not_become_memories() {
    let text = format!("the token is ghp_{}", "q7Rz2mWk9TxB4lNvC8dF".repeat(2));
    assert_eq!(run(&[], &[candidate(&text, true, &[("s1", 10)])], 11).1, []);
}

proptest! {
    #[test]
    fn merging_again_changes_nothing(
        said in proptest::collection::vec(("(use|avoid|don't use|never use) `(a|b|c)`( for (tests|docs) [1-3])?", any::<bool>(), proptest::collection::vec((0usize..4, 0i64..400), 1..4)), 1..8),
        split in 0usize..8,
    ) {
        let candidates: Vec<Candidate> = said
            .iter()
            .map(|(text, is_strong, sightings)| {
                let mut sightings: Vec<_> = sightings.iter().map(|(session, day)| (["s1", "s2", "s3", "s4"][*session], *day)).collect();
                sightings.sort_by_key(|(_, day)| *day);
                candidate(text, *is_strong, &sightings)
            })
            .collect();
        let (first, _) = run(&[], &candidates[..split.min(candidates.len())], 500);
        let (memories, _) = run(&first, &candidates, 500);
        let (again, changes) = run(&memories, &candidates, 500);
        prop_assert_eq!(changes, [], "{:#?}", again);
        let ids: BTreeSet<u32> = memories.iter().map(|memory| memory.id).collect();
        prop_assert_eq!(ids.len(), memories.len());
    }
}
