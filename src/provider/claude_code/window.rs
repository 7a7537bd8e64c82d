use crate::model::{Session, Window};

/// What the client would send if it resumed the session now.
pub(super) fn window(session: &Session) -> Window {
    let rows: Vec<u32> = (0..session.rows.len() as u32).collect();
    Window { blocks: session.blocks.iter().map(|block| block.number).collect(), chain: rows.clone(), rows, ..Window::default() }
}
