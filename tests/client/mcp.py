#!/usr/bin/env python3
"""Do the tools of `aperture mcp` answer the real client? README.md beside this file says what is needed and what is checked."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Seconds that a run of the client may take.
PATIENCE = 180
# What the scripted model reads and archives: too long for a line, and nowhere else.
SECRET_WORD = "heliotrope"
NOTES = "".join(f"line {number}: the garden has a {SECRET_WORD} in bed {number}\n" for number in range(1, 61))


class Unmet(Exception):
    """Something is not as it must be: its message says what."""


def need(holds, what):
    if not holds:
        raise Unmet(what)


def use(name, **arguments):
    """A turn of the scripted model: one use of a tool."""
    return [{"type": "tool_use", "name": name, "input": arguments}]


class Trial:
    """A home and a project, in which the client runs with aperture as one of its servers."""

    def __init__(self, arguments, directory):
        self.client, self.aperture, self.directory = arguments.client, arguments.aperture, directory
        self.home, self.project = directory / "home", directory / "project"
        self.project.mkdir(parents=True)
        self.home.mkdir()
        (self.project / "notes.txt").write_text(NOTES)
        self.environment = {"HOME": str(self.home), "APERTURE_HOME": str(self.home / "aperture")}
        # What removes something waits for the user unless the user allows it.
        (self.home / "aperture").mkdir()
        (self.home / "aperture" / "config.toml").write_text('[model]\narchive = "auto"\n')
        server = {"command": self.aperture, "args": ["mcp"], "env": {"APERTURE_HOME": self.environment["APERTURE_HOME"]}}
        (directory / "mcp.json").write_text(json.dumps({"mcpServers": {"aperture": server}}))

    def run(self, prompt, turns, *options):
        """The messages of the last request of a run in which the model says these turns."""
        script = self.directory / "script.json"
        script.write_text(json.dumps(turns))
        command = [self.client, str(self.home), str(self.project), str(script), "-p", prompt]
        command += ["--mcp-config", str(self.directory / "mcp.json"), *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        lines = done.stdout.strip().splitlines()
        need(lines, f"the client said nothing: {done.stderr[-500:]}")
        outcome = json.loads(lines[-1])
        need(outcome["exit"] == 0, f"the client ended with {outcome['exit']}: {done.stderr[-500:]}")
        need(outcome["refused"] == 0, f"{outcome['refused']} requests were refused")
        return outcome["messages"]

    def ask(self, *words):
        """What aperture says of the session of the project."""
        environment = {"PATH": os.environ.get("PATH", ""), **self.environment}
        command = [self.aperture, *words, "--json"]
        done = subprocess.run(command, env=environment, cwd=self.project, capture_output=True, text=True, check=False)
        need(done.returncode == 0, f"aperture {' '.join(words)}: {done.stderr}")
        return json.loads(done.stdout)


def text(content):
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def results(messages):
    """For each use of a tool of aperture its name and what the model got, in order."""
    names, found = {}, []
    for message in messages:
        for part in message["content"] if isinstance(message["content"], list) else []:
            if part["type"] == "tool_use":
                names[part["id"]] = part["name"]
            elif part["type"] == "tool_result":
                found.append((names[part["tool_use_id"]], text(part.get("content") or ""), part.get("is_error", False)))
    return [(name.removeprefix("mcp__aperture__"), said, bad) for name, said, bad in found if name.startswith("mcp__aperture__")]


def check(trial):
    """Yields a line for each thing that holds."""
    wanted = ["manifest", "blocks", "archive", "recall", "expand", "pin", "log"]
    search = use("ToolSearch", query="select:" + ",".join(f"mcp__aperture__{name}" for name in wanted), max_results=10)
    tool = lambda name, **arguments: use(f"mcp__aperture__{name}", **arguments)
    read = use("Read", file_path=str(trial.project / "notes.txt"))
    archive = tool("archive", selector="tool(Read) & kind(tool_result)", reason="the garden is known")
    turns = [read, search, tool("manifest"), tool("blocks", selector="tool(Read)"), archive]
    turns += [tool("recall", query=SECRET_WORD, max_tokens=400), tool("blocks", selector="tool(Read)", json=True)]
    turns += [tool("show", selector="nonsense"), tool("log"), [{"type": "text", "text": "done"}]]
    messages = trial.run("Look after the garden.", turns)
    said = results(messages)
    names = [name for name, _, _ in said]
    need(names == ["manifest", "blocks", "archive", "recall", "blocks", "show", "log"], f"other tools were called: {names}")
    answers = [answer for _, answer, _ in said]
    need("CONTEXT MANIFEST" in answers[0], f"no manifest: {answers[0]}")
    yield "manifest: the model gets the text"
    need("notes.txt" in answers[1], f"no blocks: {answers[1]}")
    yield "blocks: the session that the client has open is found"
    need("archived" in answers[2] and "/resume" in answers[2], f"not archived: {answers[2]}")
    yield "archive: the live session is changed, and the model is told how it is seen"
    need(SECRET_WORD in answers[3], f"not recalled: {answers[3]}")
    yield "recall: the original text is there at once"
    need(json.loads(answers[4])["schema"] == "aperture.blocks/2", f"no JSON: {answers[4]}")
    yield "json: the model gets the structured answer"
    need(said[5][2] and "hint: " in answers[5], f"no error: {answers[5]}")
    yield "a wrong selector: an error with a hint"
    need("mcp: archive" in answers[6], f"not logged: {answers[6]}")
    yield "log: it says that it was the model"
    whole = json.dumps(messages)
    need("bed 60" in whole, "the running client forgot what it had in memory")
    messages = trial.run("Go on.", [[{"type": "text", "text": "done"}]], "--continue")
    read_result = next(
        text(part["content"])
        for message in messages
        for part in (message["content"] if isinstance(message["content"], list) else [])
        if part["type"] == "tool_result"
    )
    need("the garden is known" in read_result and "bed 60" not in read_result, f"not archived: {read_result[:300]}")
    yield "resumed: the client sends the line that stands for the block"
    trial.ask("undo")
    messages = trial.run("Go on.", [[{"type": "text", "text": "done"}]], "--continue")
    need("bed 60" in json.dumps(messages[:6]), "not undone")
    yield "undone: the client sends the original again"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--aperture", required=True, help="the aperture binary")
    parser.add_argument("--client", required=True, help="a program that runs the real client against a scripted model")
    parser.add_argument("--work", help="a directory for what is written, which the client can reach")
    parser.add_argument("--keep", action="store_true", help="do not delete what was written")
    arguments = parser.parse_args()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="aperture-mcp-", dir=arguments.work))
    arguments.aperture = os.path.abspath(arguments.aperture)
    try:
        for line in check(Trial(arguments, directory)):
            print(f"ok    {line}")
    except Unmet as unmet:
        print(f"wrong {unmet}")
        return 1
    finally:
        if not arguments.keep:
            shutil.rmtree(directory, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
