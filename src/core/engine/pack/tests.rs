use super::*;

#[test]
fn every_lane_has_one_row() {
    for (at, row) in LANES.iter().enumerate() {
        assert!(LANES[..at].iter().all(|other| other.lane != row.lane), "{:?}", row.lane);
        assert!(row.start >= ALWAYS && row.share > 0.0);
    }
}

#[test]
fn the_rest_is_counted_by_section() {
    let unit = |section, block| Unit { section, block, text: "a".into(), title: "".into(), tokens: 1.0, place: (0, 0) };
    let left = left_out(&[unit(Section::Files, Some(9)), unit(Section::Turns, None), unit(Section::Files, Some(3))]);
    assert_eq!(rest(&left), "\nLines left out of #3..#9: files 2, turns 1\n");
    assert_eq!(rest(&[]), "");
}
