//! `aperture memory`: lists the files with the number of their entries.

use super::moved::offer;
use super::report::{MemoryFileCounts, MemoryTree, MemoryTreesReport};
use super::run::{Memories, problems};
use crate::app::CommandError;
use crate::memory::Tree;
use crate::model::MemoryState;

/// Prints the trees.
pub fn run(memories: &Memories<'_>) -> Result<(), CommandError> {
    let trees = memories.read_all()?.iter().map(view).collect();
    memories.env.print(&MemoryTreesReport { trees, moved: offer(memories) })
}

fn view(tree: &Tree) -> MemoryTree {
    let mut files = Vec::new();
    for (file, _) in tree.files() {
        let mut row = MemoryFileCounts { path: file.path(), ..MemoryFileCounts::default() };
        for memory in tree.memories().filter(|memory| memory.file == *file) {
            match memory.state {
                _ if memory.is_by_hand() => row.by_hand += 1,
                MemoryState::Active => row.active += 1,
                MemoryState::Pending => row.pending += 1,
                MemoryState::Superseded | MemoryState::Archived => row.retired += 1,
            }
        }
        files.push(row);
    }
    MemoryTree {
        scope: tree.place.scope,
        directory: tree.place.directory.display().to_string(),
        in_project: !tree.place.is_private,
        files,
        problems: problems(&tree.problems),
    }
}
