#!/usr/bin/env python3
"""Do the installed hooks work within the real client? README.md beside this file says what is needed and what is checked."""

import argparse
import http.server
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

# A key that opens nothing; the client only has to have one.
KEY = "sk-ant-dummy-hooks"
# Seconds that the client may take for a step.
PATIENCE = 60
# What a request for a summary of the conversation says.
SUMMARY = "detailed summary"
MANIFEST, COMMANDS = "[CONTEXT MANIFEST", "aperture keeps the memory of this session"
LONG = "\n".join(f"line {number}: the value of setting_{number} is {number * 7}" for number in range(400))


class Api(http.server.BaseHTTPRequestHandler):
    """Answers as the API does, by a script: what the last prompt contains decides."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer("application/json", b"{}")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        tokens = len(json.dumps(body)) // 4
        if "count_tokens" in self.path:
            return self.answer("application/json", json.dumps({"input_tokens": tokens}).encode())
        if not self.path.startswith("/v1/messages"):
            return self.answer("application/json", b"{}")
        self.server.requests.append(body)
        blocks = reply(body, len(self.server.requests))
        usage = {"input_tokens": tokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 20}
        stop = "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn"
        message = {"id": f"msg_{len(self.server.requests):024}", "type": "message", "role": "assistant", "model": body["model"],
                   "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        if not body.get("stream"):
            return self.answer("application/json", json.dumps({**message, "content": blocks, "stop_reason": stop}).encode())
        events = [{"type": "message_start", "message": message}]
        for index, block in enumerate(blocks):
            if block["type"] == "text":
                start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                start, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events.append({"type": "content_block_start", "index": index, "content_block": start})
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
            events.append({"type": "content_block_stop", "index": index})
        events.append({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage})
        events.append({"type": "message_stop"})
        self.answer("text/event-stream", "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events).encode())

    def answer(self, kind, content):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def texts(message):
    content = message["content"]
    return [content] if isinstance(content, str) else [block.get("text") or "" for block in content if block["type"] == "text"]


def reply(body, number):
    """What the scripted model says."""
    users = [message for message in body["messages"] if message["role"] == "user"]
    last = users[-1]
    if not isinstance(last["content"], str) and any(block["type"] == "tool_result" for block in last["content"]):
        return [{"type": "text", "text": "I have read it."}]
    prompt = "\n".join(texts(last))
    if SUMMARY in prompt:
        return [{"type": "text", "text": "<analysis>short</analysis>\n<summary>The settings were read.</summary>"}]
    if "READ-THE-FILE" in prompt:
        return [{"type": "tool_use", "id": f"toolu_{number:024}", "name": "Read", "input": {"file_path": os.path.join(Run.project, "settings.txt")}}]
    command = re.search(r"SAY (.*)", prompt)
    return [{"type": "text", "text": command.group(1).replace(";", "\n") if command else "Done."}]


class Run:
    """A home and a project of their own, in which client and aperture run."""

    project = ""

    def __init__(self, arguments, root):
        self.client, self.root = arguments.client, root
        self.home, Run.project = root / "home", str(root / "shop")
        (self.home / ".claude").mkdir(parents=True)
        pathlib.Path(Run.project).mkdir()
        self.bin = root / "bin"
        self.bin.mkdir()
        shutil.copy2(arguments.aperture, self.bin / "aperture")
        (pathlib.Path(Run.project) / "settings.txt").write_text(LONG)
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True, "projectOnboardingSeenCount": 4}
        (self.home / ".claude.json").write_text(json.dumps({
            "hasCompletedOnboarding": True, "theme": "dark", "numStartups": 3, "bypassPermissionsModeAccepted": True,
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []}, "projects": {Run.project: trusted}}))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
        server.daemon_threads, server.requests = True, []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.requests = server.requests
        self.environment = {
            "PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "xterm-256color",
            "SHELL": "/bin/bash", "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1", "IS_SANDBOX": "1", "TZ": "UTC", "APERTURE_HOME": str(root / "aperture")}
        self.failed = 0

    def aperture(self, *words):
        done = subprocess.run([self.bin / "aperture", *words], env=self.environment, cwd=Run.project, capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        return done

    def ask(self, prompt, *words):
        """A prompt in a run of its own; returns the requests that it led to."""
        before = len(self.requests)
        done = subprocess.run([self.client, "-p", prompt, "--permission-mode", "bypassPermissions", *words], env=self.environment,
                              cwd=Run.project, input="", capture_output=True, text=True, timeout=PATIENCE, check=False)
        if done.returncode:
            print("   the client says:", done.stdout[-300:], done.stderr[-300:])
        return self.requests[before:]

    def session(self):
        files = (self.home / ".claude" / "projects").glob("*/*.jsonl")
        return max(files, key=lambda file: file.stat().st_mtime)

    def check(self, what, holds, why=""):
        self.failed += not holds
        print(f"{'ok    ' if holds else 'FAILED'} {what}{'' if holds or not why else ': ' + str(why)[:600]}")


def said(requests, role="system"):
    """All texts of a role in the last request."""
    return "\n".join(text for message in requests[-1]["messages"] if message["role"] == role for text in texts(message)) if requests else ""


def plain(messages):
    """The messages as a cache sees them: its own marks are no part of what is cached, and the client merges neighbours."""
    blocks = []
    for message in messages:
        content = message["content"]
        content = [{"type": "text", "text": content}] if isinstance(content, str) else content
        blocks += [(message["role"], json.dumps({k: v for k, v in block.items() if k != "cache_control"})) for block in content]
    return blocks


def tree(home):
    """Every settings file below a home with its bytes."""
    files = [home / ".claude" / name for name in ("settings.json", "skills", "commands")]
    found = [one for file in files for one in ([file] if file.is_file() else sorted(file.rglob("*")))]
    return {str(one): one.read_bytes() if one.is_file() else None for one in found}


def printed(run):
    """Sessions without a screen."""
    settings = run.home / ".claude" / "settings.json"
    settings.write_text('{\n    "theme":   "dark",\n    "permissions": { "allow": [] }\n}')
    # The client writes the file anew at its first start.
    run.ask("before all")
    before = tree(run.home)
    run.aperture("install", "claude-code")
    run.check("install --check finds all of it", run.aperture("install", "claude-code", "--check").returncode == 0)

    first = run.ask("READ-THE-FILE")
    run.check("a new session is told how to shape its memory", COMMANDS in said(first), said(first)[-500:])
    # Another prompt in the same session: what SessionStart says at a resume comes behind the prompt.
    second = run.ask("second prompt", "--continue")
    run.check("a resumed session gets the manifest", MANIFEST in said(second), said(second)[-800:])
    kept = plain(first[-1]["messages"])
    run.check("what was cached before stays cached", plain(second[-1]["messages"])[: len(kept)] == kept)
    roles = [(message["role"], MANIFEST in "\n".join(texts(message))) for message in second[-1]["messages"]]
    last_user = max(place for place, (role, _) in enumerate(roles) if role == "user")
    run.check("the manifest is a system turn behind the prompt", ("system", True) in roles[last_user:], roles)

    session = str(run.session())
    blocks = json.loads(run.aperture("blocks", "tool(Read)", "--json", "-s", session).stdout)["blocks"]
    number = str(blocks[-1]["number"])
    run.aperture("focus", number, "-s", session)
    third = run.ask("third prompt", "--continue")
    run.check("the model hears what the user highlighted", "User has highlighted the following blocks as relevant: #" + number in said(third), said(third)[-800:])
    run.aperture("unfocus", number, "-s", session)
    run.aperture("archive", number, "-s", session)
    fourth = run.ask("fourth prompt", "--continue")
    run.check("the model hears what the user changed", f"archived #{number}" in said(fourth), said(fourth)[-800:])
    fifth = run.ask("fifth prompt", "--continue")
    run.check("what is known is not said again", said(fifth).count("User has highlighted") == 1 and said(fifth).count(f"archived #{number}") == 1)

    answer = run.ask("/aperture:manifest", "--continue")
    run.check("the slash command shows the manifest", MANIFEST in said(answer, "user"), said(answer, "user")[-500:])
    servers = subprocess.run([run.client, "mcp", "list"], env=run.environment, cwd=Run.project, capture_output=True, text=True,
                             timeout=PATIENCE, check=False).stdout
    run.check("the client knows the server", "aperture mcp" in servers, servers)
    print("       " + " ".join(line for line in servers.splitlines() if "aperture" in line))

    if run.aperture("inbox", "-s", session).returncode != 2:
        obeyed(run)

    run.aperture("uninstall", "claude-code")
    after = tree(run.home)
    run.check("uninstall leaves every byte as it was", after == before, {name for name in {**before, **after} if before.get(name) != after.get(name)})


def obeyed(run):
    """The model's own commands."""
    run.ask("READ-THE-FILE", "--continue")
    run.ask("READ-THE-FILE", "--continue")
    session = str(run.session())
    results = [block["number"] for block in json.loads(run.aperture("blocks", "tool(Read)", "--json", "-s", session).stdout)["blocks"]]
    first, last = results[-4], results[-1]
    run.ask(f"SAY I keep the newer one.;@pin(block-{last});@archive({first}..{first + 1})", "--continue")
    log = run.aperture("log", "-s", session).stdout
    run.check("@pin of the model is carried out at Stop", f"@pin(block-{last})" in log, log)
    inbox = run.aperture("inbox", "-s", session).stdout
    run.check("@archive waits for the user", f"@archive({first}..{first + 1})" in inbox, inbox)
    answered = run.ask("what happened?", "--continue")
    run.check("the model is told so with the next prompt", "waits for the user's approval" in said(answered), said(answered)[-800:])
    (run.root / "aperture" / "config.toml").write_text('[model]\narchive = "auto"\n')
    run.ask(f"SAY I still do.;@archive({first}..{first + 1})", "--continue")
    archived = run.ask("and now?", "--continue")
    sent = json.dumps(archived[-1]["messages"])
    run.check("@archive is carried out where the settings allow it, and the next request is without it", "| archived from" in sent or "archived from" in sent, sent[-900:])
    print("       " + " | ".join(run.aperture("log", "-s", session).stdout.splitlines()[:8]))


class Screen:
    """The client on a terminal that nobody looks at."""

    def __init__(self, run, *words):
        self.run, self.socket = run, str(run.root / "tmux.sock")
        command = "env -i " + " ".join(shlex.quote(f"{name}={value}") for name, value in run.environment.items())
        command += " " + " ".join(shlex.quote(word) for word in [str(run.client), *words])
        self.tmux("new-session", "-d", "-s", "s", "-x", "150", "-y", "50", "-c", Run.project, command)

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *words], capture_output=True, text=True, check=False).stdout

    def wait(self, holds, what):
        end = time.time() + PATIENCE
        while time.time() < end:
            text = self.tmux("capture-pane", "-p", "-t", "s", "-S", "-300")
            if holds(text):
                return text
            time.sleep(0.2)
        print(self.tmux("capture-pane", "-p", "-t", "s"))
        raise TimeoutError(what)

    def type(self, text):
        self.tmux("send-keys", "-t", "s", "-l", text)
        time.sleep(0.4)
        self.tmux("send-keys", "-t", "s", "Enter")

    def ask(self, text, requests=1):
        before = len(self.run.requests)
        self.type(text)
        self.wait(lambda _: len(self.run.requests) >= before + requests, f"no request after {text}")
        time.sleep(1.5)
        return self.run.requests[before:]


def on_screen(run):
    """A session on a terminal: status line, compaction, resume."""
    run.aperture("install", "claude-code")
    screen = Screen(run, "--permission-mode", "bypassPermissions")
    try:
        screen.wait(lambda text: "░" in text, "the status line")
        run.check("the status line is there", True)
        screen.ask("READ-THE-FILE", 2)
        session = str(run.session())
        number = json.loads(run.aperture("blocks", "tool(Read)", "--json", "-s", session).stdout)["blocks"][-1]["number"]
        run.aperture("pin", str(number), "-s", session)
        watch = subprocess.Popen([run.bin / "aperture", "watch", session, "--json"], env=run.environment, cwd=Run.project,
                                 stdout=subprocess.PIPE, text=True)
        wanted = {"session_opened", "turn_started", "blocks_updated", "token_count_changed"}
        told = {json.loads(watch.stdout.readline())["event"]}
        second = screen.ask("second prompt")
        late = threading.Timer(PATIENCE, watch.kill)
        late.start()
        while not wanted <= told and (line := watch.stdout.readline()):
            told.add(json.loads(line)["event"])
        late.cancel()
        watch.kill()
        run.check("watch tells of the prompt, the blocks and the window while the client goes on", wanted <= told, told)
        run.check("the model hears of the pin", f"pinned #{number}" in said(second), said(second)[-600:])
        summaries = screen.ask("/compact")
        asked = "\n".join(text for message in summaries[-1]["messages"] for text in texts(message))
        run.check("the summary is asked to keep what is pinned", "The user pinned these blocks" in asked and "setting_3" in asked, asked[-600:])
        snapshots = run.aperture("snapshot", "list", "-s", session).stdout
        run.check("the point before the compaction has a name", "before-compaction-" in snapshots, snapshots)
        after = screen.ask("third prompt")
        text = said(after)
        run.check("what was pinned comes back", "Blocks that the user pinned, as they were" in text and "line 3:" in text, text[-900:])
        run.aperture("unpin", str(number), "-s", session)
        later = run.aperture("blocks", "kind(text) & window", "--json", "-s", session)
        prompts = [block for block in json.loads(later.stdout)["blocks"] if block["role"] == "assistant"]
        run.aperture("update", str(prompts[-1]["number"]), "A-NEW-MEMORY", "-s", session, "--live")
        screen.type("/resume " + pathlib.Path(session).stem)
        time.sleep(3)
        resumed = screen.ask("fourth prompt")
        run.check("/resume shows what was changed", "A-NEW-MEMORY" in said(resumed, "assistant"), said(resumed, "assistant")[-600:])
    finally:
        screen.tmux("kill-server")
        run.aperture("uninstall", "claude-code")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--aperture", required=True, type=pathlib.Path, help="the aperture binary")
    parser.add_argument("--client", required=True, help="the client's binary, claude")
    parser.add_argument("--no-screen", action="store_true", help="leave out what needs tmux")
    arguments = parser.parse_args()
    failed = 0
    for part in [printed] + ([] if arguments.no_screen else [on_screen]):
        with tempfile.TemporaryDirectory() as root:
            run = Run(arguments, pathlib.Path(root).resolve())
            try:
                part(run)
            except (TimeoutError, subprocess.TimeoutExpired) as problem:
                run.check(part.__doc__.strip(), False, problem)
            failed += run.failed
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
