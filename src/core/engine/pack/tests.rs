use super::*;

#[test]
fn every_lane_has_one_row() {
    for (at, row) in LANES.iter().enumerate() {
        assert!(LANES[..at].iter().all(|other| other.lane != row.lane), "{:?}", row.lane);
        assert!(row.start >= ALWAYS && row.share > 0.0);
    }
}
