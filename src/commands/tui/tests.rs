use super::keys::BINDINGS;
use super::picture::{BlockRow, Picture, SubagentRow, TurnRow};
use super::screen::{Detail, Effect, Entry, Event, Mode, Screen, Task};
use super::view::{Look, draw};
use crate::engine::LevelPreview;
use crate::model::{BlockKind, Level, OperationKind, Pin, State, Zone};
use crate::output::{Gate, Style};
use expect_test::expect_file;
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use std::path::PathBuf;

fn block(number: u32, turn: u32, sort: &str, file: &str, tokens: f64) -> BlockRow {
    BlockRow {
        number,
        turn,
        kind: if sort == "text" { BlockKind::Text } else { BlockKind::ToolResult },
        sort: sort.to_owned(),
        file: file.to_owned(),
        label: if file.is_empty() { format!("{sort} number {number}") } else { format!("{sort} {file}") },
        tokens,
        zone: if turn < 2 { Zone::Primacy } else { Zone::Middle },
        state: if sort == "Read" { State::Stale } else { State::Active },
        level: Level::Original,
        pin: None,
        is_focused: false,
        references: number % 3,
        stale_reason: (sort == "Read").then(|| "unused for 9 turns".to_owned()),
    }
}

fn picture() -> Picture {
    let mut blocks = vec![
        block(1, 1, "text", "", 120.0),
        block(2, 1, "Read", "src/cart.rs", 4_200.0),
        block(3, 1, "Bash", "", 900.0),
        block(5, 2, "text", "", 60.0),
        block(6, 2, "Read", "src/cart.rs", 4_100.0),
        block(7, 2, "Read", "src/tax.rs", 2_600.0),
        block(8, 2, "text", "", 210.0),
    ];
    blocks[2].level = Level::Trimmed;
    blocks[3].pin = Some(Pin::Here);
    let turn = |number: u32, prompt: &str| {
        let of = || blocks.iter().filter(move |block| block.turn == number);
        TurnRow {
            number,
            prompt: prompt.to_owned(),
            time: Some(1_764_000_000_000 + i64::from(number) * 600_000),
            tokens: of().map(|block| block.tokens).sum(),
            stale_tokens: of().filter(|block| block.is_stale()).map(|block| block.tokens).sum(),
            blocks: of().count(),
        }
    };
    Picture {
        path: PathBuf::from("/p/66666666-0000-4000-8000-000000000000.jsonl"),
        name: "66666666".to_owned(),
        title: "Round the tax once".to_owned(),
        model: "claude-opus-5".to_owned(),
        resume: "claude --resume 66666666-0000-4000-8000-000000000000".to_owned(),
        tokens: 152_000.0,
        capacity: 200_000,
        reserve: 33_000,
        free: 15_000,
        is_estimated: false,
        cache_ends: Some(1_764_001_500_000),
        next_prompt: Some((0.08, 0.95)),
        reclaimable: vec![("Read".to_owned(), 10_900.0)],
        stale_tokens: 10_900.0,
        is_open: false,
        turns: vec![turn(1, "Round the tax once, in cents"), turn(2, "Now the cart, with the same rule")],
        blocks,
        subagents: vec![SubagentRow {
            path: PathBuf::from("/p/66666666-0000-4000-8000-000000000000/subagents/agent-a1.jsonl"),
            title: "Find all uses of the rate".to_owned(),
            turn: 2,
            tokens: 31_000.0,
            steps: 12,
        }],
        newest_operation: None,
        proposals: Vec::new(),
    }
}

fn key(name: &str) -> KeyEvent {
    let code = match name {
        "Space" => KeyCode::Char(' '),
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "PageDown" => KeyCode::PageDown,
        "Backspace" => KeyCode::Backspace,
        "Left" => KeyCode::Left,
        _ if name.starts_with("Ctrl-") => KeyCode::Char(name.chars().nth(5).unwrap()),
        _ => KeyCode::Char(name.chars().next().unwrap()),
    };
    KeyEvent::new(code, if name.starts_with("Ctrl-") { KeyModifiers::CONTROL } else { KeyModifiers::NONE })
}

/// Presses keys, separated by blanks, and returns the work that they request.
fn press(screen: &mut Screen, keys: &str) -> Vec<Task> {
    let names = keys.split(' ').flat_map(|name| if name == "gg" { vec!["g", "g"] } else { vec![name] });
    names.flat_map(|name| screen.update(Event::Key(key(name)), 0)).collect()
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn effect() -> Effect {
    Effect {
        what: "2 blocks compressed".to_owned(),
        blocks: 2,
        tokens: (152_000.0, 144_600.0),
        saved_per_turn: Some(0.11),
        paid_now: Some(0.18),
        ..Effect::default()
    }
}

fn look() -> Look {
    let style = Style { color: true, width: 80, now: jiff::Timestamp::UNIX_EPOCH, zone: || jiff::tz::TimeZone::UTC };
    Look { gate: Gate::default(), style }
}

fn drawn(screen: &mut Screen, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, screen, &look(), 1_764_000_900_000)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..height).map(line).collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn only_y_carries_a_change_out() {
    let mut screen = Screen::new(picture());
    let planned = press(&mut screen, "gg Enter Down Down Space");
    let line = words("compress 2 -s 66666666");
    assert_eq!(planned.last(), Some(&Task::Plan(line.clone())), "the foot says what the mark is worth");
    assert_eq!(press(&mut screen, "c"), [Task::Plan(line.clone())]);
    assert_eq!(press(&mut screen, "y"), [], "its effect is not known yet");
    assert_eq!(screen.update(Event::Planned(line.clone(), Ok(effect())), 0), []);
    for other in BINDINGS.iter().flat_map(|binding| binding.keys).filter(|name| name.len() == 1 && !"ynq".contains(**name)) {
        assert_eq!(press(&mut screen, other), [], "{other}");
    }
    assert_eq!(press(&mut screen, "Enter"), []);
    assert_eq!(press(&mut screen, "y"), [Task::Execute(line)]);
    assert_eq!(press(&mut screen, "y"), [], "once");
}

#[test]
fn neither_y_nor_u_is_offered_for_a_change_of_nothing() {
    let nothing = Effect { is_nothing: true, notes: vec!["skips 1 block (focused)".to_owned()], ..Effect::default() };
    let line = words("compress 2 -s 66666666");
    let mut screen = Screen::new(picture());
    press(&mut screen, "gg Enter Down Down Space");
    screen.update(Event::Planned(line.clone(), Ok(nothing)), 0);
    assert_eq!(press(&mut screen, "c"), []);
    assert_eq!(screen.toast.as_ref().map(|(text, _)| &**text), Some("skips 1 block (focused)"));
    assert_eq!(press(&mut screen, "y"), []);
    let toast = |is_logged: bool| {
        let mut screen = Screen::new(picture());
        let done = Effect { is_logged, what: "nothing to do".to_owned(), ..Effect::default() };
        screen.update(Event::Executed(line.clone(), Ok(done)), 0);
        screen.toast.map(|(text, _)| text).unwrap_or_default()
    };
    assert_eq!((toast(false), toast(true)), ("nothing to do".to_owned(), "nothing to do · u undoes it".to_owned()));
}

#[test]
fn a_change_that_is_left_is_not_carried_out() {
    for way_out in ["Esc", "n", "q"] {
        let mut screen = Screen::new(picture());
        let line = words("archive 5..8 -s 66666666");
        assert_eq!(press(&mut screen, "a"), [Task::Plan(line.clone())]);
        screen.update(Event::Planned(line, Ok(effect())), 0);
        assert_eq!(press(&mut screen, way_out), []);
        assert_eq!(press(&mut screen, "y"), []);
    }
}

#[test]
fn keys_after_the_focus_returned_are_ignored() {
    let mut screen = Screen::new(picture());
    screen.update(Event::Focus(true), 1_000);
    assert_eq!(screen.update(Event::Key(key("u")), 1_299), []);
    assert_eq!(screen.update(Event::Key(key("u")), 1_300), [Task::Execute(words("undo -s 66666666"))]);
}

#[test]
fn actions_are_command_lines_about_what_is_marked() {
    let check = |keys: &str, line: &str| {
        let mut screen = Screen::new(picture());
        let tasks = press(&mut screen, keys);
        assert!(tasks.contains(&Task::Plan(words(line))), "{keys}: {tasks:?}");
    };
    check("c", "compress 5..8 -s 66666666");
    check("gg a", "archive 1..3 -s 66666666");
    check("gg Space Space p", "pin 1..3|5..8 -s 66666666");
    check("Enter Down p", "unpin 5 -s 66666666");
    check("gg Enter Down Down * c", "compress 2|6 -s 66666666");
    check("gg v Down v c", "compress 1..3|5..8 -s 66666666");
    check("Tab Tab Down f", "focus 7 -s 66666666");
    check("gg e", "expand 1..3 -s 66666666");
    check("Tab c", "compress 2 -s 66666666");
    check("b Enter", "compress --budget 100k -s 66666666");
    check(": c o m p r e s s Space - - s t a l e Enter", "compress --stale -s 66666666");
    let mut open = Screen::new(Picture { is_open: true, ..picture() });
    assert_eq!(press(&mut open, "c"), [Task::Plan(words("compress 5..8 -s 66666666 --live"))]);
}

#[test]
fn a_key_that_can_do_nothing_says_why() {
    let mut screen = Screen::new(picture());
    for (key, why) in [("e", "it is not shortened"), ("Down c", "a subagent has a window of its own: Enter opens it")] {
        assert_eq!(press(&mut screen, key), []);
        assert_eq!(screen.toast.as_ref().map(|(text, _)| text.clone()), Some(format!("{}: {why}", &key[key.len() - 1..])));
    }
    screen.update(Event::Tick, 60_000);
    assert_eq!(screen.toast, None);
}

#[test]
fn the_cursor_and_the_marks_stay_when_the_session_grows() {
    let mut screen = Screen::new(picture());
    press(&mut screen, "gg Enter Down Down Space Up");
    let mut grown = picture();
    grown.blocks.insert(0, block(0, 0, "text", "", 10.0));
    grown.turns.insert(0, TurnRow::default());
    grown.blocks.retain(|block| block.number != 7);
    grown.blocks.push(block(9, 2, "Bash", "", 700.0));
    screen.update(Event::Picture(Box::new(grown)), 0);
    assert_eq!(screen.block_at(screen.at).map(|block| block.number), Some(2));
    assert_eq!(screen.marked.iter().copied().collect::<Vec<_>>(), [2]);
    assert!(screen.toast.is_some(), "new blocks are told");
    let other = Picture { path: PathBuf::from("/p/other.jsonl"), ..picture() };
    screen.update(Event::Picture(Box::new(other)), 0);
    assert!(screen.marked.is_empty(), "marks belong to a session");
}

#[test]
fn a_change_by_another_program_is_told_with_its_undo() {
    let mut screen = Screen::new(picture());
    let changed = |id: u32| {
        Box::new(Picture { newest_operation: Some((id, OperationKind::Change, "model: archive 3".to_owned())), ..picture() })
    };
    screen.update(Event::Picture(changed(1)), 0);
    assert_eq!(screen.toast.as_ref().map(|(text, _)| &**text), Some("model: archive 3 · u undoes it"));
    screen.update(Event::Tick, 60_000);
    screen.update(Event::Picture(changed(1)), 60_000);
    assert_eq!(screen.toast, None, "once");
    screen.update(Event::Executed(words("archive 5 -s 66666666"), Ok(effect())), 60_000);
    let own = screen.toast.clone();
    screen.update(Event::Picture(changed(2)), 60_001);
    assert_eq!(screen.toast, own, "a change of this screen has been told");
}

#[test]
fn matches_are_turns_to_go_to() {
    let mut screen = Screen::new(picture());
    let search = Task::Search { query: "tax".to_owned(), in_all: false };
    assert_eq!(press(&mut screen, "/ t a x Enter"), [search]);
    let entry =
        |turn: u32| Entry { text: format!("the tax of turn {turn}"), turn, path: Some(picture().path), ..Entry::default() };
    screen.update(Event::Found { query: "tax".to_owned(), in_all: false, entries: vec![entry(2), entry(1)] }, 0);
    press(&mut screen, "o f Space t u r n Space 1 Enter");
    assert_eq!(screen.at, 0);
    press(&mut screen, "n");
    assert_eq!(screen.rows.len(), 2 + 7 + 1, "both turns are open");
    assert!(drawn(&mut screen, 80, 24).contains("cart"));
}

#[test]
fn a_click_goes_to_a_row_and_a_second_one_opens_it() {
    let mut screen = Screen::new(picture());
    assert_eq!(press(&mut screen, "m"), [Task::Mouse(true)]);
    let click = |screen: &mut Screen, row: u16| {
        drawn(screen, 140, 30);
        let kind = MouseEventKind::Down(MouseButton::Left);
        screen.update(Event::Mouse(MouseEvent { kind, column: 9, row, modifiers: KeyModifiers::NONE }), 0)
    };
    // The head has three lines, and the map a frame.
    assert_eq!(click(&mut screen, 4), []);
    assert_eq!((screen.at, screen.rows.len()), (0, 3));
    click(&mut screen, 4);
    assert_eq!(screen.rows.len(), 3 + 3);
    assert_eq!(click(&mut screen, 6), [Task::Explain(2)]);
    assert_eq!(click(&mut screen, 29), [], "the foot has no rows");
    let subagent = picture().subagents[0].path.clone();
    assert_eq!((click(&mut screen, 9), click(&mut screen, 9)), (vec![], vec![Task::Read(Some(subagent))]));
}

#[test]
fn a_word_is_completed_as_far_as_all_candidates_agree() {
    let mut screen = Screen::new(picture());
    let typed = |screen: &Screen| if let Mode::Input { field, .. } = &screen.mode { field.text() } else { String::new() };
    let asked = words("blocks to");
    assert_eq!(press(&mut screen, "= t o Tab"), [Task::Complete(asked.clone())]);
    let two = vec!["tool(Read)".to_owned(), "tool(Bash)".to_owned()];
    screen.update(Event::Completed(asked, two), 0);
    assert_eq!(typed(&screen), "tool(");
    assert!(screen.toast.as_ref().is_some_and(|(text, _)| text.contains("tool(Bash)")));
    press(&mut screen, "R Tab");
    screen.update(Event::Completed(words("blocks tool(R"), vec!["tool(Read)".to_owned()]), 0);
    assert_eq!(typed(&screen), "tool(Read)");
    screen.update(Event::Completed(words("blocks x"), vec!["xy".to_owned()]), 0);
    assert_eq!(typed(&screen), "tool(Read)", "the answer to another text");
}

#[test]
fn a_session_is_resumed_by_its_client() {
    let mut screen = Screen::new(picture());
    assert_eq!(press(&mut screen, "r"), [Task::Leave(Some(picture().resume))]);
}

#[test]
fn the_screens() {
    let check = |screen: &mut Screen, name: &str| {
        for (width, height) in [(60, 20), (80, 24), (140, 30)] {
            let expected = expect_file![format!("../../../tests/it/snapshots/tui/{name}-{width}.txt")];
            expected.assert_eq(&drawn(screen, width, height));
        }
    };
    let mut screen = Screen::new(picture());
    check(&mut screen, "turns");
    press(&mut screen, "gg Enter Down Down Space");
    press(&mut screen, "Up");
    let level = |level, tokens, content: &str| {
        let content = Some(content.to_owned());
        LevelPreview { level, preset: None, tokens, content, why: None, written_by: None }
    };
    let levels = vec![level(Level::Trimmed, 900.0, "fn total() {}\n"), level(Level::Minimal, 40.0, "[src/cart.rs]\n")];
    let detail = Detail {
        number: 2,
        facts: "turn 1 · beginning · stale · original · used 2 ×".to_owned(),
        reasons: vec!["edited later by #6".to_owned()],
        content: "use tax::Rate;\n\nfn total() {\n    tax::of(1);\n}\n".to_owned(),
        levels,
    };
    screen.update(Event::Explained(Box::new(detail)), 0);
    screen.update(Event::Planned(words("compress 2 -s 66666666"), Ok(effect())), 0);
    check(&mut screen, "detail");
    press(&mut screen, "l d");
    check(&mut screen, "difference");
    press(&mut screen, "c");
    check(&mut screen, "question");
    press(&mut screen, "Esc Tab Tab");
    check(&mut screen, "files");
    press(&mut screen, "Tab Down");
    check(&mut screen, "areas");
    press(&mut screen, "Tab Tab Tab");
    screen.picture.proposals = vec![(3, "archive #9, it is done".to_owned()), (4, "pin #2".to_owned())];
    press(&mut screen, "?");
    check(&mut screen, "keys");
    press(&mut screen, "Esc : s t a t");
    check(&mut screen, "typing");
    assert_eq!(drawn(&mut screen, 20, 5).lines().next(), Some("this screen needs 6…"));
    drawn(&mut screen, 400, 100);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// After any keys, a change of blocks is carried out by `y` only, and each screen can be drawn.
    #[test]
    fn random_keys_change_nothing_without_y(
        keys in proptest::collection::vec((0..BINDINGS.len() + 12, any::<bool>()), 1..120)
    ) {
        let mut screen = Screen::new(picture());
        for (place, (at, is_answered)) in keys.into_iter().enumerate() {
            let names = ["Backspace", "Down", "Up", "1", "a", "s", "Enter", "y", "t", "h", "m", "Space"];
            let name = BINDINGS.get(at).map_or_else(|| names[at - BINDINGS.len()], |binding| binding.keys[0]);
            let name = if name == "gg" || name == "g/" { "g" } else { name };
            for task in screen.update(Event::Key(key(name)), 0) {
                match task {
                    Task::Execute(words) => {
                        let first = words[0].as_str();
                        let at_once = ["undo", "redo", "snapshot", "approve", "deny"].contains(&first);
                        prop_assert!(at_once || name == "y", "{name} carried {words:?} out");
                    }
                    Task::Plan(words) if is_answered => drop(screen.update(Event::Planned(words, Ok(effect())), 0)),
                    Task::Explain(number) if is_answered => {
                        let detail = Detail { number, content: "a\nb".to_owned(), ..Detail::default() };
                        screen.update(Event::Explained(Box::new(detail)), 0);
                    }
                    _ => {}
                }
            }
            if place % 8 == 0 {
                drawn(&mut screen, 80, 24);
            }
            prop_assert!(!matches!(screen.mode, Mode::Confirm(_)) || !screen.command.is_empty());
        }
    }
}

#[test]
fn a_line_is_edited_as_in_a_shell_and_a_list_by_letters() {
    let mut screen = Screen::new(picture());
    let typed = |screen: &Screen| if let Mode::Input { field, .. } = &screen.mode { field.text() } else { String::new() };
    press(&mut screen, ": p i n Space 1 Left Left x");
    assert_eq!(typed(&screen), "pinx 1");
    press(&mut screen, "Ctrl-u 4");
    assert_eq!(typed(&screen), "4 1");
    press(&mut screen, "Esc");
    let entry = |text: &str, note: &str| Entry { text: text.to_owned(), note: note.to_owned(), ..Entry::default() };
    let entries = [entry("mend the parser", "aperture"), entry("the cart in the shop", "shop"), entry("a shop", "other")];
    let found = |typed: &str| super::screen::shown(&entries, typed);
    assert_eq!((found(""), found("shop"), found("mdpr"), found("xq")), (vec![0, 1, 2], vec![1, 2], vec![0], vec![]));
}
