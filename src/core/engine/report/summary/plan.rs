//! The plan of the agent: the items of its latest task list.

use super::{Contents, Part};
use crate::model::{Block, BlockKind, BlockNumber, PlanNames, ToolVerb};
use rustc_hash::FxHashMap;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub text: String,
    pub status: Status,
    pub block: BlockNumber,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Current,
    Open,
    Done,
}

impl Item {
    pub fn part(&self) -> Part {
        Part::new(&self.text, self.block)
    }
}

/// Returns the plan after the given calls: lists replace each other, or single items are created and updated.
pub(super) fn plan<'a>(blocks: impl Iterator<Item = &'a Block>, contents: &Contents, names: &PlanNames) -> Vec<Item> {
    // The index of a deleted item is not reused.
    let mut items: Vec<Option<Item>> = Vec::new();
    // The index of the item with an id.
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    let mut made = 0;
    for block in blocks.filter(|block| block.kind == BlockKind::ToolUse) {
        let plans = block.has_verb(ToolVerb::Plan);
        let Some(input) = contents.get(&block.number).filter(|_| plans) else { continue };
        let Ok(input) = serde_json::from_str::<Value>(input) else { continue };
        let listed = names.lists.iter().find_map(|key| input[*key].as_array());
        if let Some(listed) = listed {
            let read = |value: &Value| {
                let text = member(value, &names.texts)?;
                Some(Item { text: text.to_owned(), status: status(value, names)?, block: block.number })
            };
            items = listed.iter().filter_map(read).map(Some).collect();
            places.clear();
        } else if let Some(text) =
            member(&input, &names.created).filter(|_| names.changed.iter().all(|key| input[*key].is_null()))
        {
            made += 1;
            let item = Item { text: text.to_owned(), status: Status::Open, block: block.number };
            places.insert(made.to_string(), items.len());
            items.push(Some(item));
        } else if let Some(id) = member(&input, &names.changed) {
            let item = places.get(id).and_then(|place| items.get_mut(*place));
            match (item, status(&input, names)) {
                (Some(item), None) => *item = None,
                (Some(Some(item)), Some(status)) if member(&input, &names.statuses).is_some() => item.status = status,
                _ => {}
            }
        }
    }
    items.into_iter().flatten().collect()
}

/// Returns the status of an item; `None` if it was deleted.
fn status(value: &Value, names: &PlanNames) -> Option<Status> {
    let word = member(value, &names.statuses).unwrap_or_default();
    match () {
        () if names.removed.contains(&word) => None,
        () if names.done.contains(&word) => Some(Status::Done),
        () if names.current.contains(&word) => Some(Status::Current),
        () => Some(Status::Open),
    }
}

/// Returns the first of the members that is a text.
fn member<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| value[*name].as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Role, Tool};

    fn names() -> PlanNames {
        PlanNames {
            lists: vec!["todos", "plan"],
            texts: vec!["content", "step"],
            created: vec!["subject"],
            changed: vec!["taskId"],
            statuses: vec!["status"],
            done: vec!["completed"],
            current: vec!["in_progress"],
            removed: vec!["deleted"],
        }
    }

    fn check(inputs: &[&str], expected: &[(&str, Status)]) {
        let mut contents = Contents::default();
        let blocks: Vec<Block> = inputs
            .iter()
            .zip(1..)
            .map(|(input, number)| {
                let mut block = Block::new(BlockKind::ToolUse, Role::ToolUse);
                let tool = Tool::new("T", ToolVerb::Plan, "");
                (block.number, block.tool) = (number, Some(Box::new(tool)));
                contents.insert(number, (*input).to_owned());
                block
            })
            .collect();
        let items = plan(blocks.iter(), &contents, &names());
        assert_eq!(items.iter().map(|item| (&*item.text, item.status)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_list_replaces_the_one_before() {
        let last = r#"{"todos":[{"content":"b","status":"in_progress"},{"content":"c","status":"pending"},{"content":"a","status":"completed"}]}"#;
        let expected = [("b", Status::Current), ("c", Status::Open), ("a", Status::Done)];
        check(&[r#"{"todos":[{"content":"x","status":"pending"}]}"#, last, "not json", "{}"], &expected);
        check(&[r#"{"plan":[{"step":"s","status":"completed"}],"explanation":"e"}"#], &[("s", Status::Done)]);
    }

    #[test]
    fn items_are_made_and_moved_on() {
        let made = [r#"{"subject":"a","description":"d"}"#, r#"{"subject":"b"}"#];
        check(&[made[0], made[1], r#"{"taskId":"1","status":"completed"}"#], &[("a", Status::Done), ("b", Status::Open)]);
        check(&[made[0], r#"{"taskId":"1","status":"deleted"}"#, r#"{"taskId":"9","status":"completed"}"#], &[]);
    }
}
