//! The days after which the client deletes a session, by its settings. Source: the bundle of 0.61.0.

use serde_json::Value;

/// The period if the settings name none, and the shortest one with which the client deletes anything.
const DEFAULT_DAYS: u32 = 30;
const LEAST: &str = "1d";

/// Returns the number of days without a change after which the client deletes a session when it starts; `None` if the settings turn it
/// off, or have a period with which the client does not do it. The default if they are broken.
pub(super) fn retention_days(settings: &[u8]) -> Option<u32> {
    let settings: Value = serde_json::from_slice(settings).unwrap_or_default();
    let retention = &settings["general"]["sessionRetention"];
    if retention["enabled"] == false {
        return None;
    }
    let Some(period) = retention.get("maxAge") else { return Some(DEFAULT_DAYS) };
    let least = hours(retention["minRetention"].as_str().unwrap_or(LEAST)).or_else(|| hours(LEAST));
    let hours = hours(period.as_str()?).filter(|hours| Some(*hours) >= least)?;
    Some(u32::try_from(hours.div_ceil(24)).unwrap_or(u32::MAX))
}

/// Parses a period, such as `4w`.
fn hours(period: &str) -> Option<u64> {
    let hours = match period.bytes().next_back()? {
        b'h' => 1,
        b'd' => 24,
        b'w' => 7 * 24,
        b'm' => 30 * 24,
        _ => return None,
    };
    let number = period[..period.len() - 1].bytes().all(|byte| byte.is_ascii_digit()).then(|| period[..period.len() - 1].parse());
    number?.ok().filter(|number| *number > 0).map(|number: u64| number.saturating_mul(hours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_whole_days_and_none_if_the_client_refuses_it() {
        let days = |retention: &str| retention_days(format!(r#"{{"general":{{"sessionRetention":{retention}}}}}"#).as_bytes());
        for (retention, expected) in [
            ("{}", Some(30)),
            (r#"{"enabled":false}"#, None),
            (r#"{"maxAge":"4w"}"#, Some(28)),
            (r#"{"maxAge":"2m"}"#, Some(60)),
            (r#"{"maxAge":"25h"}"#, Some(2)),
            (r#"{"maxAge":"12h"}"#, None),
            (r#"{"maxAge":"12h","minRetention":"1h"}"#, Some(1)),
            (r#"{"maxAge":"3d","minRetention":"1w"}"#, None),
            (r#"{"maxAge":"0d"}"#, None),
            (r#"{"maxAge":"+3d"}"#, None),
            (r#"{"maxAge":"d"}"#, None),
            (r#"{"maxAge":"3é"}"#, None),
            (r#"{"maxAge":"99999999999999999999d"}"#, None),
        ] {
            assert_eq!(days(retention), expected, "{retention}");
        }
        assert_eq!([retention_days(b""), retention_days(b"{")], [Some(30); 2]);
    }
}
