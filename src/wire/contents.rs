//! The contents that the operation log of a session leads to, by the contents that a request has.

use crate::model::{AddressCounter, BlockAddress, BlockEdit, Key, OperationId, WindowChange};
use crate::provider::RequestElement;
use crate::store::ContentOperation;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
struct State {
    /// The changed contents, by what they were before any change.
    texts: BTreeMap<BlockAddress, (Key, Arc<str>)>,
    /// The contents that are no longer in the window.
    gone: BTreeSet<BlockAddress>,
    /// The operations that changed the window, as places among all changes of the window.
    windows: Vec<usize>,
}

/// The contents of a session over its log.
#[derive(Debug, Default)]
pub struct Contents {
    /// The changed contents after each operation, oldest first.
    states: Vec<(OperationId, State)>,
    /// The original contents of which each content can be a form.
    classes: FxHashMap<Key, Vec<Key>>,
    /// Original contents, for blocks that a client has in a changed form.
    originals: FxHashMap<Key, Arc<str>>,
    windows: Vec<(OperationId, WindowChange)>,
    /// The contents that these changes removed, and those that they added.
    moved: (FxHashSet<Key>, FxHashSet<Key>),
}

impl Contents {
    /// Computes the contents after each operation. `original` returns the text of an original content, if the log has it.
    pub fn new(operations: &[ContentOperation], original: &dyn Fn(Key) -> Option<String>) -> Contents {
        let mut states: Vec<(OperationId, State)> = Vec::new();
        let mut classes: FxHashMap<Key, Vec<Key>> = FxHashMap::default();
        let mut windows = Vec::new();
        for operation in operations {
            let mut state = states.last().map(|(_, state)| state.clone()).unwrap_or_default();
            match operation.point {
                Some(point) => state = at(&states, point).cloned().unwrap_or_default(),
                None => state.apply(operation, windows.len(), &mut classes),
            }
            states.push((operation.id, state));
            let window = operation.window.clone().filter(|_| operation.point.is_none());
            windows.extend(window.map(|window| (operation.id, window)));
        }
        let edits = operations.iter().flat_map(|operation| &operation.edits);
        let mut originals: FxHashMap<Key, Arc<str>> =
            edits.map(|edit| (Key::from_bytes(edit.text.as_bytes()), Arc::from(&*edit.text))).collect();
        originals.retain(|content, _| classes.get(content).is_some_and(|known| known.contains(content)));
        // Only an exact undo, redo or restore leads to an original without its text.
        if operations.iter().any(|operation| operation.point.is_some()) {
            for content in classes.values().flatten() {
                if let (false, Some(text)) = (originals.contains_key(content), original(*content)) {
                    originals.insert(*content, text.into());
                }
            }
        }
        let changes = || windows.iter().map(|(_, window): &(_, WindowChange)| window);
        let left = changes().flat_map(|window| window.removed.iter().map(|removed| removed.content)).collect();
        let entered = changes().flat_map(|window| window.texts().map(|text| Key::from_bytes(text.as_bytes()))).collect();
        Contents { states, classes, originals, windows, moved: (left, entered) }
    }

    /// Returns a content of an element in the form that was changed, or as it is sent, and true if the client records it so.
    pub fn known_form(&self, element: &RequestElement, content: usize) -> (Key, bool) {
        let recorded = element.recorded(content).iter().copied().find(|recorded| self.classes.contains_key(recorded));
        (recorded.unwrap_or(element.contents[content].1), recorded.is_some())
    }

    /// Returns the original of a content, in any form, if it was ever changed.
    pub fn original(&self, content: Key) -> Option<Key> {
        self.classes.get(&content).and_then(|originals| originals.first()).copied()
    }

    /// Returns two facts about a content: true if a change of the window removed it, and true if one added it.
    pub fn moved(&self, content: Key) -> (bool, bool) {
        (self.moved.0.contains(&content), self.moved.1.contains(&content))
    }

    /// Returns the newest operation; 0 if there is none.
    pub fn last(&self) -> OperationId {
        self.states.last().map_or(0, |(id, _)| *id)
    }

    pub fn leaves_out(&self, point: OperationId, thinking: Key) -> bool {
        let address = BlockAddress { content: thinking, occurrence: 0 };
        at(&self.states, point).and_then(|state| state.texts.get(&address)).is_some_and(|(_, text)| text.is_empty())
    }

    /// Returns a reader of the contents at a point of the log, for the blocks of one request. At `None` nothing is changed. `is_folded`
    /// is true if the request has no content that is gone at the end of the log.
    pub fn reader(&self, point: Option<OperationId>, is_folded: bool) -> Reader<'_> {
        let gone = self.states.last().filter(|_| is_folded).map(|(_, state)| &state.gone);
        Reader { contents: self, state: point.map(|point| at(&self.states, point)), gone, counter: AddressCounter::default() }
    }

    /// Returns the changes of the window that are in force at a point of the log, oldest first, each with its operation.
    pub fn windows(&self, point: OperationId) -> impl Iterator<Item = &(OperationId, WindowChange)> {
        let places = at(&self.states, point).map(|state| &state.windows[..]).unwrap_or_default();
        places.iter().filter_map(|place| self.windows.get(*place))
    }

    /// Returns true if one content can be a form of another.
    pub fn is_form(&self, content: Key, other: Key) -> bool {
        let originals = |content| self.classes.get(&content).map(Vec::as_slice).unwrap_or_default();
        content == other || originals(content).iter().any(|original| originals(other).contains(original))
    }
}

impl State {
    /// Applies the changes of an operation; `window` is the place of its change of the window among all of them.
    fn apply(&mut self, operation: &ContentOperation, window: usize, classes: &mut FxHashMap<Key, Vec<Key>>) {
        // All addresses are those before the operation.
        let before = self.clone();
        for edit in &operation.edits {
            self.change(&before, edit, classes);
        }
        let Some(change) = &operation.window else { return };
        self.gone.extend(change.removed.iter().map(|removed| before.address(*removed)));
        for restored in &change.restored {
            let originals = classes.get(&restored.content).cloned().unwrap_or_else(|| vec![restored.content]);
            let first = self.gone.iter().find(|gone| originals.contains(&gone.content)).copied();
            if let Some(first) = first {
                self.gone.remove(&first);
            }
        }
        self.windows.push(window);
    }

    /// Returns the address of a content that was counted at this point of the log.
    fn address(&self, BlockAddress { content, occurrence }: BlockAddress) -> BlockAddress {
        let moved = self.texts.iter().filter(|(original, (current, _))| *current == content && original.content != content);
        let moved: Vec<BlockAddress> =
            moved.map(|(address, _)| *address).filter(|address| !self.gone.contains(address)).collect();
        moved.get(occurrence as usize).copied().unwrap_or_else(|| {
            // Of the blocks with this original content, only the unchanged ones were counted.
            let is_counted = |occurrence: &u32| {
                let address = BlockAddress { content, occurrence: *occurrence };
                !self.texts.contains_key(&address) && !self.gone.contains(&address)
            };
            let occurrence = (0..).filter(is_counted).nth(occurrence as usize).unwrap_or(occurrence);
            BlockAddress { content, occurrence }
        })
    }

    fn change(&mut self, before: &State, edit: &BlockEdit, classes: &mut FxHashMap<Key, Vec<Key>>) {
        let changed = Key::from_bytes(edit.text.as_bytes());
        let address = BlockAddress { content: edit.content, occurrence: edit.occurrence };
        let address = if edit.is_of_thinking() { address } else { before.address(address) };
        for content in [address.content, changed] {
            let originals = classes.entry(content).or_default();
            if !originals.contains(&address.content) {
                originals.push(address.content);
            }
        }
        match changed == address.content {
            true => drop(self.texts.remove(&address)),
            false => drop(self.texts.insert(address, (changed, edit.text.as_str().into()))),
        }
    }
}

/// Returns the state after an operation, or after the newest one before it.
fn at(states: &[(OperationId, State)], point: OperationId) -> Option<&State> {
    let count = states.partition_point(|(id, _)| *id <= point);
    count.checked_sub(1).map(|place| &states[place].1)
}

/// Reads the contents of a request in order.
pub struct Reader<'c> {
    contents: &'c Contents,
    /// `None` if nothing is changed; otherwise the state, if the log had one.
    state: Option<Option<&'c State>>,
    gone: Option<&'c BTreeSet<BlockAddress>>,
    counter: AddressCounter,
}

impl Reader<'_> {
    /// Returns the text in the place of the next content of the request; `None` if it stays.
    pub fn next(&mut self, content: Key) -> Option<Arc<str>> {
        let state = self.state?;
        let mut found = None;
        for original in self.contents.classes.get(&content)? {
            let mut address = self.counter.next(*original);
            while self.gone.is_some_and(|gone| gone.contains(&address)) {
                address = self.counter.next(*original);
            }
            let changed = state.and_then(|state| state.texts.get(&address));
            let replaced = match changed {
                Some((current, text)) => (*current != content).then(|| text.clone()),
                None if *original != content => self.contents.originals.get(original).cloned(),
                None => None,
            };
            found = found.or(replaced);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Level;

    fn key(text: &str) -> Key {
        Key::from_bytes(text.as_bytes())
    }

    fn change(id: OperationId, edits: &[(&str, u32, &str)]) -> ContentOperation {
        let edit = |(content, occurrence, text): &(&str, u32, &str)| BlockEdit {
            content: key(content),
            occurrence: *occurrence,
            text: (*text).to_owned(),
            level: Level::Trimmed,
            ..BlockEdit::default()
        };
        ContentOperation { id, point: None, edits: edits.iter().map(edit).collect(), window: None }
    }

    fn point(id: OperationId, point: OperationId) -> ContentOperation {
        ContentOperation { id, point: Some(point), edits: Vec::new(), window: None }
    }

    #[track_caller]
    fn check(operations: &[ContentOperation], at: Option<OperationId>, request: &[&str], sent: &[&str]) {
        let known = ["long", "other"];
        let original = |content| known.iter().find(|text| key(text) == content).map(|text| (*text).to_owned());
        let contents = Contents::new(operations, &original);
        let mut reader = contents.reader(at, false);
        let found: Vec<String> =
            request.iter().map(|text| reader.next(key(text)).map_or(text.to_string(), |to| to.to_string())).collect();
        assert_eq!(found, sent);
    }

    #[test]
    fn a_changed_content_is_sent_in_the_place_of_its_original() {
        let log = [change(1, &[("long", 0, "short")])];
        check(&log, Some(1), &["a", "long", "b"], &["a", "short", "b"]);
        check(&log, Some(0), &["long"], &["long"]);
        check(&log, None, &["long"], &["long"]);
        check(&[], Some(0), &["long"], &["long"]);
    }

    #[test]
    fn equal_contents_are_changed_each_at_its_place() {
        let log = [change(1, &[("long", 0, "a"), ("long", 1, "b"), ("long", 3, "c")]), change(2, &[("long", 0, "d")])];
        check(&log, Some(1), &["long", "long", "long", "long"], &["a", "b", "long", "c"]);
        check(&log, Some(2), &["long", "long", "long", "long"], &["a", "b", "d", "c"]);
    }

    #[test]
    fn changes_of_changes_lead_to_the_last_one_from_any_form() {
        let log = [change(1, &[("long", 0, "short")]), change(2, &[("short", 0, "tiny")])];
        for form in ["long", "short", "tiny"] {
            check(&log, Some(2), &[form], &["tiny"]);
            check(&log, Some(1), &[form], &["short"]);
        }
        let expanded = [&log[..], &[change(3, &[("tiny", 0, "long")])]].concat();
        for form in ["long", "short", "tiny"] {
            check(&expanded, Some(3), &[form], &["long"]);
        }
    }

    #[test]
    fn an_undo_restores_the_original_from_any_form() {
        let log = [change(1, &[("long", 0, "short")]), point(2, 0), point(3, 1)];
        check(&log, Some(2), &["long"], &["long"]);
        check(&log, Some(2), &["short"], &["long"]);
        check(&log, Some(3), &["long"], &["short"]);
        let unknown = [change(1, &[("unknown", 0, "short")]), point(2, 0)];
        check(&unknown, Some(2), &["short"], &["short"]);
    }

    #[test]
    fn equal_contents_are_told_apart_by_their_order() {
        let log = [change(1, &[("long", 1, "short")]), change(2, &[("long", 1, "third")])];
        check(&log, Some(1), &["long", "long", "long"], &["long", "short", "long"]);
        check(&log, Some(2), &["long", "long", "long"], &["long", "short", "third"]);
        check(&log, Some(2), &["long", "short", "long"], &["long", "short", "third"]);
    }

    #[test]
    fn one_marker_can_stand_for_several_contents() {
        let log = [change(1, &[("long", 0, "gone"), ("other", 0, "gone")])];
        check(&log, Some(1), &["long", "other"], &["gone", "gone"]);
        check(&log, Some(1), &["gone", "gone"], &["gone", "gone"]);
    }
}
