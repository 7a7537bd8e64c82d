//! `aperture mcp`: serves the commands as tools for a model.

/// Arguments of `mcp`.
#[derive(Clone, Debug, PartialEq, serde::Serialize, clap::Args)]
#[command(after_help = "Examples:
  aperture mcp             for the session that the client has open
  aperture mcp -s 6666     for a session by the beginning of its id
  claude mcp add aperture -- aperture mcp

Started by a client, such as Claude Code by its .mcp.json:
  {\"mcpServers\": {\"aperture\": {\"command\": \"aperture\", \"args\": [\"mcp\"]}}}

It speaks the protocol on standard input and output, and ends with exit code 0 when the client is gone.
What changes a session is written to its file; a client that has it open sees that after /resume.")]
pub struct Arguments {}
