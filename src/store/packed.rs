//! The cached form of segments. Each row and each block is decoded separately, so that all cores write them directly to
//! their final place.

use crate::model::{Block, BlockKind, Origin, Role, Row, RowKind, SecretPlace, Segment};
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};

/// Header of a packed segment, before its rows and blocks.
#[derive(Serialize, Deserialize)]
struct Head {
    start: u64,
    end: u64,
    origins: Vec<Origin>,
    secrets: Vec<SecretPlace>,
    /// Length of each row and of each block, in bytes.
    rows: Vec<u32>,
    blocks: Vec<u32>,
}

pub(super) fn pack(segment: &Segment) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    let rows = append(&mut content, &segment.rows)?;
    let blocks = append(&mut content, &segment.blocks)?;
    let (origins, secrets) = (segment.origins.clone(), segment.secrets.clone());
    let head = Head { start: segment.start, end: segment.end, origins, secrets, rows, blocks };
    let mut packed = postcard::to_stdvec(&head).ok()?;
    packed.append(&mut content);
    Some(packed)
}

/// Appends values to `content`; returns the length of each.
fn append<T: Serialize>(content: &mut Vec<u8>, values: &[T]) -> Option<Vec<u32>> {
    let mut lengths = Vec::with_capacity(values.len());
    for value in values {
        let before = content.len();
        *content = postcard::to_extend(value, std::mem::take(content)).ok()?;
        lengths.push((content.len() - before) as u32);
    }
    Some(lengths)
}

/// Appends a packed segment to the unpacked part of a file; `None` if there is a gap between them or it is damaged.
pub(super) fn unpack(content: &[u8], whole: &mut Segment) -> Option<()> {
    let (head, mut rest): (Head, _) = postcard::take_from_bytes(content).ok()?;
    if head.start != whole.end {
        return None;
    }
    whole.end = head.end;
    let (first_row, first_origin) = (whole.rows.len() as u32, whole.origins.len() as u32);
    whole.origins.extend(head.origins);
    whole.secrets.extend(head.secrets.into_iter().map(|place| SecretPlace { row: place.row.wrapping_add(first_row), ..place }));
    let rows = split(&mut rest, &head.rows)?;
    let blocks = split(&mut rest, &head.blocks)?;
    let damaged = AtomicBool::new(false);
    whole.rows.par_extend(rows.into_par_iter().map(|bytes| {
        let mut row: Row = decode(bytes, &damaged).unwrap_or_else(|| Row::new(RowKind::Broken));
        row.origin = row.origin.wrapping_add(first_origin);
        row
    }));
    whole.blocks.par_extend(blocks.into_par_iter().map(|bytes| {
        let mut block: Block = decode(bytes, &damaged).unwrap_or_else(|| Block::new(BlockKind::Other, Role::User));
        block.row = block.row.wrapping_add(first_row);
        block
    }));
    (!damaged.into_inner()).then_some(())
}

fn split<'a>(rest: &mut &'a [u8], lengths: &[u32]) -> Option<Vec<&'a [u8]>> {
    lengths.iter().map(|length| rest.split_off(..*length as usize)).collect()
}

fn decode<T: DeserializeOwned>(bytes: &[u8], damaged: &AtomicBool) -> Option<T> {
    let value = postcard::from_bytes(bytes).ok();
    if value.is_none() {
        damaged.store(true, Ordering::Relaxed);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three consecutive segments, each with two rows of one block.
    fn segments() -> Vec<Segment> {
        let segment = |number: u64| {
            let origin = Origin { directory: format!("/{number}"), ..Origin::default() };
            let mut segment = Segment { start: number * 10, end: number * 10 + 10, origins: vec![origin], ..Segment::default() };
            for row in 0..2 {
                segment.rows.push(Row::new(RowKind::User));
                let mut block = Block::new(BlockKind::Text, Role::User);
                (block.row, block.preview) = (row, format!("block {row} of segment {number}").into());
                segment.blocks.push(block);
            }
            segment
        };
        (0..3).map(segment).collect()
    }

    fn unpacked(contents: &[Vec<u8>]) -> Option<Segment> {
        let mut whole = Segment::default();
        contents.iter().try_for_each(|content| unpack(content, &mut whole)).map(|()| whole)
    }

    #[test]
    fn packed_parts_are_unpacked_as_one() {
        let packed: Vec<Vec<u8>> = segments().iter().filter_map(pack).collect();
        assert_eq!(packed.len(), 3);
        assert_eq!(unpacked(&packed), Some(Segment::merge(segments())));
    }

    #[test]
    fn damaged_or_missing_values_are_none() {
        let packed: Vec<Vec<u8>> = segments().iter().filter_map(pack).collect();
        assert_eq!(unpacked(&packed[1..]), None);
        assert_eq!(unpacked(&[packed[0].clone(), packed[2].clone()]), None);
        for length in 0..packed[0].len() {
            assert_eq!(unpacked(&[packed[0][..length].to_vec()]), None);
        }
    }
}
