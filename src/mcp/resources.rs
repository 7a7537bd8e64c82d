//! Resources that a client can attach by address: session manifests, and blocks.

use super::tools::Tool;
use crate::app::{Client, Env};
use crate::workspace::{self, Listed, Project};
use serde_json::{Map, Value, json};

/// The maximum number of listed sessions of the project, newest first.
const LISTED: usize = 20;
const MANIFEST: &str = "aperture://manifest";

/// Returns the templates of addresses with a parameter.
pub fn templates() -> Value {
    json!([
        described("uriTemplate", "aperture://session/{id}/manifest", "manifest of a session", "Manifest of a session, by its id"),
        described("uriTemplate", "aperture://block/{number}", "block", "The content of a block of this session, by its number"),
    ])
}

fn described(key: &str, address: &str, name: &str, about: &str) -> Value {
    json!({key: address, "name": name, "description": about, "mimeType": "text/plain"})
}

/// Returns the manifest of the current session, then those of the newest sessions of the project.
pub fn list(env: &Env, client: &Client) -> Vec<Value> {
    let mut resources =
        vec![described("uri", MANIFEST, "manifest", "Manifest of this session: costs, stale blocks, suggestions")];
    let Ok(current) = super::session::find(env, client, None).or_else(|_| env.newest()) else { return resources };
    let project = Project::of_session(env.disk, &current);
    let listed = workspace::list(env.disk, &env.totals(), &env.places, Some(&project), true, &mut |_, _| {}).unwrap_or_default();
    let mut sessions: Vec<Listed> = listed.into_iter().flatten().collect();
    sessions.retain(|listed| !listed.found.location.subagent && listed.identity.bytes > 0);
    sessions.sort_by_key(|listed| std::cmp::Reverse(listed.identity.modified));
    resources.extend(sessions.iter().take(LISTED).map(|listed| {
        let id = &listed.found.location.id;
        described("uri", &format!("aperture://session/{id}/manifest"), &format!("manifest of {id}"), "Manifest of that session")
    }));
    resources
}

/// Returns the tool call that produces the content of an address; `None` if the address is invalid.
pub fn call(address: &str) -> Option<(&'static Tool, Map<String, Value>)> {
    let path = address.strip_prefix("aperture://")?;
    let (tool, arguments) = match path.split('/').collect::<Vec<_>>()[..] {
        ["manifest"] => ("manifest", json!({})),
        ["session", id, "manifest"] => ("manifest", json!({ "session": id })),
        ["block", number] => ("show", json!({ "selector": number.parse::<u32>().ok()?.to_string() })),
        _ => return None,
    };
    Some((Tool::by_name(tool)?, arguments.as_object()?.clone()))
}

#[cfg(test)]
mod tests {
    use super::call;
    use serde_json::Value;

    #[test]
    fn an_address_is_a_call() {
        let check = |address: &str, expected: Option<&str>| {
            let found = call(address).map(|(tool, arguments)| format!("{} {}", tool.name, Value::Object(arguments)));
            assert_eq!(found.as_deref(), expected, "{address}");
        };
        check("aperture://manifest", Some("manifest {}"));
        check("aperture://session/66/manifest", Some(r#"manifest {"session":"66"}"#));
        check("aperture://block/12", Some(r#"show {"selector":"12"}"#));
        for wrong in ["", "aperture://", "aperture://block/all", "aperture://block/", "file:///etc/passwd", "aperture://x/y"] {
            check(wrong, None);
        }
    }
}
