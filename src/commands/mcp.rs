//! `aperture mcp`: serves the commands as tools for a model.

/// Arguments of `mcp`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture mcp             for the session that the client has open
  aperture mcp -s 6666     for a session by an id prefix
  claude mcp add aperture -- aperture mcp

Started by a client, such as Claude Code by its .mcp.json:
  {\"mcpServers\": {\"aperture\": {\"command\": \"aperture\", \"args\": [\"mcp\"]}}}

It uses standard input and output, and ends with exit code 0 when the client closes them.
Changes are written to the session file; a client that has it open reads them after /resume.")]
pub struct Arguments {}
