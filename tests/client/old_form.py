#!/usr/bin/env python3
"""Writes a session in the form in which Claude Code 1.0.89 wrote them. README.md beside this file says what that form is."""

import argparse
import json
import pathlib

VERSION, MODEL = "1.0.89", "claude-sonnet-4-20250514"
ROW = (
    "parentUuid isSidechain userType cwd sessionId version gitBranch type message requestId uuid timestamp toolUseResult "
    "isMeta isApiErrorMessage isCompactSummary isVisibleInTranscriptOnly"
).split()
MESSAGE = "id type role model content stop_reason stop_sequence usage".split()
USAGE = "input_tokens cache_creation_input_tokens cache_read_input_tokens output_tokens service_tier".split()
# Tools that have another name since.
TOOLS = {"Agent": "Task"}


def read(file):
    with open(file, encoding="utf-8") as rows:
        return [json.loads(row) for row in rows if row.strip()]


def only(names, value):
    return {name: value[name] for name in names if name in value}


def message(value):
    value = only(MESSAGE, value)
    if "usage" in value:
        value["usage"] = only(USAGE, value["usage"])
    if str(value.get("model", "")).startswith("claude-"):
        value["model"] = MODEL
    if isinstance(value["content"], list):
        # Thinking always had its text.
        value["content"] = [block(part) for part in value["content"] if part["type"] != "thinking" or part["thinking"]]
    return value


def block(part):
    part = {key: value for key, value in part.items() if key != "caller"}
    if part["type"] == "tool_use":
        part["name"] = TOOLS.get(part["name"], part["name"])
    return part


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("session", type=pathlib.Path, metavar="SESSION.jsonl")
    parser.add_argument("out", type=pathlib.Path, metavar="OUT.jsonl")
    arguments = parser.parse_args()
    rows = read(arguments.session)
    # What a subagent said stood among the rows of the session.
    for file in sorted(arguments.session.with_suffix("").glob("subagents/*.jsonl")):
        rows += read(file)
    parents, last, written = {}, {}, []
    for row in sorted(rows, key=lambda row: row.get("timestamp") or ""):
        if row.get("subtype") == "compact_boundary":
            continue
        said = row["type"] in ("user", "assistant") and message(row["message"])
        if said and said["content"]:
            written.append({**only(ROW, row), "version": VERSION, "message": said})
        elif row.get("uuid"):
            parents[row["uuid"]] = row.get("parentUuid")
    for row in written:
        while row["parentUuid"] in parents:
            row["parentUuid"] = parents[row["parentUuid"]]
        if row["parentUuid"] not in last:
            row["parentUuid"] = None
        last[row["uuid"]] = row
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with open(arguments.out, "w", encoding="utf-8") as out:
        for row in written:
            out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
