#!/usr/bin/env python3
"""Does the real client resume what aperture wrote? README.md beside this file says what is needed and what is checked."""

import argparse
import collections
import dataclasses
import difflib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

# Share of a measured saving by which the reported one may miss it.
TOLERANCE = 0.03
# The measure of `est_tokens`: characters of a block's JSON in a token, and tokens of an image.
CHARACTERS_PER_TOKEN, IMAGE = 3.5, 1200
# Characters around the content of a sent block (its type, its ids), which a transcript does not show, and by how many
# tokens they vary.
FRAMES = {"text": 26, "attachment": 26, "thinking": 35, "tool_use": 95, "tool_result": 80}
VARIATION = 9
# Tokens of a change that are not worth a judgement.
SMALL = 115
# The first version of each family of models that binds thinking to everything before it (src/core/engine/cost/binding.rs).
FIRST_BINDING = {"opus": (5, 5), "sonnet": (5, 5), "haiku": (5, 5), "fable": (5, 1), "mythos": (5, 1)}
# What the client itself says and does not keep: the end of a turn that was not answered, and that a read was cut where the
# result does not say so. See README.md.
UNANSWERED, CUT = "No response requested.", "[Truncated: PARTIAL view — "
# The most undos that a run of steps can need.
UNDOS = 20
# Seconds that a program may take.
PATIENCE = 180
COLUMNS = (
    "session",
    "version",
    "step",
    "verdict",
    "blocks",
    "tokens saved: announced / no longer sent",
    "by aperture's own count",
    "same prefix: blocks / expected",
    "remarks",
)
NOTE = "A note of the check: nothing is to be done about it."


class Unmet(Exception):
    """A program did what it must not: its message says what."""


@dataclasses.dataclass
class Result:
    """One line of the table: a step on a session, and how far what was sent is what was announced."""

    session: str
    version: str
    step: str
    verdict: str
    why: list
    changed: int = 0
    # By the measure of `est_tokens`: what the transcripts announce, the whole request, and the blocks of the session alone.
    announced: int = 0
    measured: int = 0
    measured_blocks: int = 0
    # By aperture's own count.
    reported: int = 0
    prefix: int = -1
    expected_prefix: int = -1


@dataclasses.dataclass
class Sight:
    """What the model would see of a file, as aperture writes it: its parts in the order in which they are sent."""

    parts: list
    # By number of the block: its turn, and how many images it holds.
    turns: dict
    images: dict

    def kinds(self):
        return [kind(part) for part in self.parts]

    def tokens(self):
        """Tokens of all parts by the measure of `est_tokens`."""
        return sum(tokens(part, self.images.get(part["block"], 0)) for part in self.parts)

    def count(self, wanted):
        return sum(part["kind"].split()[0] == wanted for part in self.parts)


def kind(part):
    """Role and type of the sent block that a part of a transcript stands for."""
    word = part["kind"].split()[0]
    role = "assistant" if part["role"] in ("assistant", "tool_use", "thinking") else "user"
    return named(role, "text" if word in ("attachment", "other") else word, part["content"] or "")


def named(role, word, text):
    return (role, "unanswered") if (role, word, text.strip()) == ("assistant", "text", UNANSWERED) else (role, word)


def tokens(part, images):
    """Tokens of the sent block, nearly."""
    content, word = part["content"] or "", part["kind"].split()[0]
    if images:
        text = content.replace("[image]", "").strip()
        return IMAGE * images + (counted(FRAMES["text"] + as_json(text)) if text else 0)
    # The input of a tool is sent as JSON, all else as a string in it.
    if part["role"] == "tool_use":
        try:
            return counted(FRAMES[word] + as_json(json.loads(content)))
        except ValueError:
            pass
    return counted(FRAMES.get(word, 0) + as_json(content))


def as_json(value):
    return len(json.dumps(value, ensure_ascii=False))


def counted(characters):
    return max(1, int(characters / CHARACTERS_PER_TOKEN))


class Copy:
    """A copy of a session in a home of its own, which aperture may change."""

    def __init__(self, arguments, original, home):
        self.aperture, self.checker = arguments.aperture, arguments.checker
        self.extra = [] if arguments.no_binding else ["--binding", "error"]
        self.original, self.home = original, home
        rows = list(objects(original))
        directories = (row["cwd"] for row in rows if str(row.get("cwd", "")).startswith("/"))
        self.directory = arguments.directory or next(directories, "/home/user")
        models = (row["message"].get("model") for row in rows if isinstance(row.get("message"), dict))
        self.model = next((model for model in reversed([*models]) if str(model).startswith("claude-")), "")
        self.frozen = any((row.get("attachment") or {}).get("type") == "prompt_snapshot" for row in rows)
        versions = list(dict.fromkeys(row["version"] for row in rows if isinstance(row.get("version"), str)))
        self.version = versions[0] + ("…" if len(versions) > 1 else "") if versions else "?"
        self.file = home / ".claude" / "projects" / original.parent.name / original.name
        self.begin()

    def begin(self):
        """A fresh copy in an empty home."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.file.parent.mkdir(parents=True)
        shutil.copy2(self.original, self.file)
        beside = self.original.with_suffix("")
        if beside.is_dir():
            shutil.copytree(beside, self.file.with_suffix(""))

    def run(self, *words):
        """The JSON that aperture writes, or None and its reason when it says that the request cannot be met."""
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(self.home), "APERTURE_HOME": str(self.home / "aperture")}
        command = [self.aperture, *words, "--json", "--session", str(self.file)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if done.returncode == 0:
            return json.loads(done.stdout), ""
        reason = next((line for line in done.stderr.splitlines() if line.startswith("because: ")), done.stderr[-300:].strip())
        if done.returncode == 1:
            return None, reason.removeprefix("because: ")
        raise Unmet(f"aperture {' '.join(words)} ended with {done.returncode}: {reason}")

    def see(self):
        transcript, reason = self.run("transcript", "--all")
        if transcript is None:
            raise Unmet(f"no transcript: {reason}")
        blocks = (self.run("blocks", "window")[0] or {}).get("blocks", [])
        turns = {block["number"]: block["turn"] for block in blocks if block["turn"]}
        images = {block["number"]: len(block["images"]) for block in blocks if block["images"]}
        return Sight([part for message in transcript["messages"] for part in message["parts"]], turns, images)

    def binds(self):
        """Whether the model refuses thinking behind a changed prefix; one that is not known counts as one that does."""
        words = self.model.split("-")
        version = (*(int(word) for word in words if word.isdigit() and len(word) < 3), 0, 0)[:2]
        first = next((first for family, first in FIRST_BINDING.items() if family in words), (5, 0))
        return version == (0, 0) or version >= first

    def before_compaction(self):
        """What the checker says of the rows before the last compaction alone, or nothing where there is none."""
        content = self.original.read_bytes().splitlines(keepends=True)
        places = [place for place, row in enumerate(content) if b'"compact_boundary"' in row and b'"type":"system"' in row]
        if not places:
            return None
        alone = self.home / "before" / self.original.name
        alone.parent.mkdir()
        alone.write_bytes(b"".join(content[: places[-1]]))
        return self.resume(alone)

    def resume(self, file=None):
        """What the checker says of a file; of the copy, also against the original."""
        against = [] if file else ["--baseline", str(self.original)]
        command = [self.checker, str(file or self.file), self.directory, *against, *self.extra]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        try:
            return json.loads(done.stdout.strip().splitlines()[-1])
        except (ValueError, IndexError):
            raise Unmet(f"the checker printed no JSON: {(done.stderr or done.stdout)[-300:].strip()}") from None

    def unchanged(self):
        return self.file.read_bytes() == self.original.read_bytes()

    def undo(self):
        """Takes back all that was done, and says what is wrong then: the file must be the original, byte for byte."""
        for _ in range(UNDOS):
            if self.run("undo")[0] is None:
                break
        else:
            return f"still something to undo after {UNDOS} times"
        if not self.unchanged():
            return f"the file differs from the original, first in row {first_difference(self.original, self.file)}"
        return ""


def objects(file):
    with open(file, "rb") as rows:
        for row in rows:
            try:
                value = json.loads(row)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value


def first_difference(one, other):
    one, other = one.read_bytes().split(b"\n"), other.read_bytes().split(b"\n")
    return 1 + next((place for place, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))


def sent(answer):
    """The sent blocks of the session, each as its kind and its tokens, without what the client says of reads that were cut."""
    blocks = []
    for role, word, size, start in answer.get("history_kinds") or []:
        start = start.removeprefix("<system-reminder>").lstrip()
        if word == "text" and role != "assistant" and start.startswith(CUT):
            continue
        # Whether a text of the client is the system's or the user's depends on the model.
        blocks.append((named("user" if role == "system" else role, word, start), size))
    return blocks


def sent_kinds(answer):
    return [kind for kind, _ in sent(answer)]


def sent_tokens(answer, end):
    """Tokens of the first blocks that were sent of the session."""
    return sum(size for _, size in sent(answer)[:end])


def cuts(answer):
    """How often the client itself says that a read was cut."""
    return len(answer.get("history_kinds") or []) - len(sent(answer))


def measured(baseline, before, answer, after):
    """Tokens that are no longer sent; what the client says anew at the end counts only where it cannot be told apart."""
    if sent_kinds(baseline)[: len(before.parts)] == before.kinds() and sent_kinds(answer)[: len(after.parts)] == after.kinds():
        return sent_tokens(baseline, len(before.parts)) - sent_tokens(answer, len(after.parts))
    if sent(answer):
        return sent_tokens(baseline, None) - sent_tokens(answer, None)
    return baseline["est_tokens"] - answer["est_tokens"]


def first_change(before, after):
    """Place of the first part that is another or gone; their number where something is only added behind them."""

    def sent(part):
        # Thinking can be without text: then it is told by its block.
        return part["kind"], part["content"] or part["block"]

    for place, (one, other) in enumerate(zip(before.parts, after.parts)):
        if sent(one) != sent(other):
            return place
    return min(len(before.parts), len(after.parts))


def split(kinds):
    """Kinds of blocks, and the texts of user and client behind the last other block."""
    end = len(kinds)
    while end and kinds[end - 1] in (("user", "text"), ("assistant", "unanswered")):
        end -= 1
    return kinds[:end], kinds[end:]


def place_among_sent(kinds, sent, place):
    """Where the part at `place` is among the sent blocks, and whether that is sure.

    The client adds blocks and leaves some out, so both lists are aligned by their kinds.
    """
    if not sent or place == 0:
        return place, not sent or kinds[:1] == sent[:1]
    end = 0
    for match in difflib.SequenceMatcher(None, kinds, sent, autojunk=False).get_matching_blocks():
        if match.a <= place - 1 < match.a + match.size:
            exact = place == len(kinds) or place < match.a + match.size
            return match.b + place - match.a, exact
        if match.a < place:
            end = match.b + match.size
    return end, False


def judge(baseline, before, answer, after, *, returns, binds, frozen):
    """What is wrong with a resume of a changed file; how many sent blocks are as before, and should be; remarks."""
    wrong = []

    def must(holds, what):
        if not holds:
            wrong.append(what)

    against = answer.get("baseline") or {}
    must(answer.get("ok"), f"not ok: {answer.get('first_error')}")
    if "history_blocks" not in answer or "common_prefix_blocks" not in against:
        return wrong or ["the checker left keys out"], -1, -1, []
    must(answer["http_400s"] == 0, f"{answer['http_400s']} requests refused")
    must(not answer["auto_compacted"], "the client compacted by itself")
    must(not answer.get("history_empty"), "no history was sent")
    must(not frozen or against.get("same_system_and_tools", True), "another system prompt, or other tools")
    mismatches = baseline.get("binding_mismatches", 0)
    bound = answer["binding_mismatches"]
    must(bound <= mismatches or not binds, f"{bound} thinking blocks bound to another prefix, {mismatches} before")
    thinking, remarks = against["thinking_after_first_diff"], []
    if not binds and thinking:
        remarks.append(f"{thinking} thinking blocks stay, which this model does not bind to what precedes them")
        thinking = 0
    # What a compaction hid comes back with the thinking that was signed for it, which only the check of bindings can tell apart.
    must(thinking == 0 or returns, f"{thinking} thinking blocks after the first change")

    uses, results = answer["tool_uses_sent"], answer["tool_results_sent"]
    must(uses == results, f"{uses} tool uses, {results} results")
    expected = baseline["tool_uses_sent"] + after.count("tool_use") - before.count("tool_use")
    must(uses == expected, f"{uses} tool uses, expected {expected}")
    kinds_before, sent_before, sent_after = before.kinds(), sent_kinds(baseline), sent_kinds(answer)
    if cuts(answer) != cuts(baseline):
        remarks.append(f"the client itself says {cuts(answer) - cuts(baseline):+} times that a read was cut")
    if sent_before and sent_after:
        # What the client says anew at the end of each resume is its own choice; the rest is the session.
        (body, tail), (body_before, tail_before) = split(sent_after), split(sent_before)
        (announced, added), (announced_before, added_before) = split(after.kinds()), split(kinds_before)
        left, right = collections.Counter(body_before), collections.Counter(body)
        left.subtract(announced_before)
        right.subtract(announced)
        more = len(tail) - len(added) - len(tail_before) + len(added_before)
        extra = {key: right[key] - left[key] for key in sorted({*left, *right}) if right[key] != left[key]}
        # Where the session ends within a tool call, the client closes it, and notes stand before that.
        moved = extra.pop(("user", "text"), 0) if more else 0
        more += moved
        must(not extra and (not moved or not more), f"sent and not announced: {extra or moved}")
        if body_before == announced_before:
            must(body == announced, "another order of kinds")
            must(len(tail) >= len(added), "the end of the history is missing")
        if more:
            remarks.append(f"the client itself adds {more:+} texts at the end")
    else:
        expected = baseline["history_blocks"] + len(after.parts) - len(before.parts)
        must(answer["history_blocks"] == expected, f"{answer['history_blocks']} blocks sent, expected {expected}")

    place, sure = place_among_sent(kinds_before, sent_before, first_change(before, after))
    prefix = against["common_prefix_blocks"]
    must(prefix == place or (not sure and prefix > place), f"the first {prefix} blocks are as before, expected {place}")
    return wrong, prefix, place, remarks


def step(copy, name, baseline, before, words):
    """One command on the copy and a resume of it, as a line."""
    result = Result(copy.original.stem[:8], copy.version, name, "ok", [])
    try:
        resumed(copy, result, baseline, before, words)
    except (Unmet, subprocess.TimeoutExpired) as problem:
        result.verdict, result.why = "FAILED", [str(problem)]
    return result


def resumed(copy, result, baseline, before, words):
    content = copy.file.read_bytes()
    change, reason = copy.run(*words)
    if change is None or copy.file.read_bytes() == content:
        result.verdict, result.why = "skipped", [reason or "nothing to do"]
        return
    result.changed = len(change["changes"])
    after = copy.see()
    answer = copy.resume()
    returns = words == ["uncompact"]
    judged = judge(baseline, before, answer, after, returns=returns, binds=copy.binds(), frozen=copy.frozen)
    wrong, result.prefix, result.expected_prefix, result.why = judged
    difference, _ = copy.run("diff")
    first = [block["number"] for block in difference["blocks"] if block["kind"] == "changed"]
    places = [place for place, part in enumerate(before.parts) if part["block"] in first]
    if places and min(places) < first_change(before, after):
        wrong.append("the report names a change before the first that is seen")
    if "est_tokens" in answer and "est_tokens" in baseline:
        result.announced = before.tokens() - after.tokens()
        result.measured = baseline["est_tokens"] - answer["est_tokens"]
        result.measured_blocks = measured(baseline, before, answer, after)
        result.reported = round(difference["tokens_before"]["value"] - difference["tokens_after"]["value"])
        allowed = TOLERANCE * abs(result.measured_blocks) + SMALL + VARIATION * abs(len(before.parts) - len(after.parts))
        if abs(result.announced - result.measured_blocks) > allowed:
            wrong.append(f"{result.measured_blocks} tokens are no longer sent, announced {result.announced}")
    if not wrong:
        return
    alone = copy.before_compaction() if returns else None
    if alone and (alone.get("auto_compacted") or not alone.get("ok")):
        # Nothing can be said of rows that the client, or its API, does not take as they are.
        why = "the client compacts them by itself" if alone.get("auto_compacted") else alone.get("first_error")
        result.verdict, result.prefix, wrong = "unusable", -1, [f"what stood before that compaction, alone: {why}"]
    else:
        result.verdict = "FAILED"
    result.why = wrong + result.why


def steps(copy):
    """All steps on one session, a line each."""
    name = copy.original.stem[:8]

    def line(what, verdict, *why):
        return Result(name, copy.version, what, verdict, list(why))

    baseline = copy.resume(copy.original)
    if not baseline.get("ok") and copy.extra:
        # Its thinking is bound to something that the file no longer has: without the binding, only more mismatches are wrong.
        copy.extra = []
        baseline = copy.resume(copy.original)
    if not baseline.get("ok") or baseline.get("history_empty") or baseline.get("auto_compacted"):
        why = "the client compacts it by itself" if baseline.get("auto_compacted") else "no history is sent"
        yield line("baseline", "unusable", baseline.get("first_error") or why)
        return
    before = copy.see()
    aligned = sent_kinds(baseline)[: len(before.parts)] == before.kinds()
    binding = "binding checked" if copy.extra else "binding not checked"
    listed = "kinds as in the transcript" if aligned else "kinds differ from the transcript"
    kinds = listed if sent_kinds(baseline) else "kinds not listed"
    yield line("baseline", "ok", f"{baseline['history_blocks']} blocks, {len(before.parts)} parts", binding, kinds)

    yield step(copy, "compress", baseline, before, ["compress", "--preset", "balanced", "--level", "minimal", "--force"])
    archived = step(copy, "archive", baseline, before, ["archive", "middle"])
    if archived.verdict == "skipped":
        archived = step(copy, "archive", baseline, before, ["archive", "kind(tool_result)"])
    yield archived
    content = copy.file.read_bytes()
    _, reason = copy.run("pin", "recency & kind(tool_result)")
    if reason:
        yield line("pin", "skipped", reason)
    elif copy.file.read_bytes() == content:
        yield line("pin", "ok", "the file is as it was")
    else:
        yield line("pin", "FAILED", "the file changed")
    yield step(copy, "create", baseline, before, ["create", NOTE])
    hidden, _ = copy.run("blocks", "archived")
    numbers = [block["number"] for block in (hidden or {}).get("blocks", [])]
    if numbers:
        yield step(copy, "recall", baseline, before, ["recall", str(numbers[0]), "--inject"])
    yield undone(copy, "undo", baseline)

    turns = sorted(set(before.turns.values()))
    first, last = max(2, turns[0]) if turns else 0, turns[-1] - 1 if turns else 0
    folding = [("compact", "compact", f"{first}..{last}")] if len(turns) >= 3 and first <= last else []
    for name, *words in [*folding, ("uncompact", "uncompact")]:
        result = step(copy, name, baseline, before, words)
        yield result
        if result.verdict != "skipped":
            yield undone(copy, f"undo {name}", baseline)


def undone(copy, name, baseline):
    """All undos, and a resume of what they leave; a copy that is not the original again is replaced."""
    result = Result(copy.original.stem[:8], copy.version, name, "ok", [])
    try:
        wrong = copy.undo()
    except (Unmet, subprocess.TimeoutExpired) as problem:
        wrong = str(problem)
    answer = copy.resume()
    if answer.get("sent_sha") != baseline.get("sent_sha"):
        wrong = "; ".join(filter(None, [wrong, "what is sent is not what was sent before"]))
    if wrong:
        result.verdict, result.why = "FAILED", [wrong]
        copy.begin()
    return result


def check(arguments, original):
    with tempfile.TemporaryDirectory(prefix="aperture-check-") as home:
        copy = Copy(arguments, original, pathlib.Path(home))
        try:
            yield from steps(copy)
        except (Unmet, subprocess.TimeoutExpired) as problem:
            yield Result(original.stem[:8], copy.version, "run", "FAILED", [str(problem)])


def row(result):
    judged = result.prefix >= 0
    count = f"{result.announced} / {result.measured}" if judged else ""
    count += f" ({result.measured_blocks} of the session)" if judged and result.measured != result.measured_blocks else ""
    own = str(result.reported) if judged else ""
    prefix = f"{result.prefix} / {result.expected_prefix}" if judged else ""
    why = "; ".join(result.why).replace("|", "\\|").replace("\n", " ")
    cells = [result.session, result.version, result.step, result.verdict, str(result.changed or ""), count, own, prefix, why]
    return "| " + " | ".join(cells) + " |"


def summary(results):
    """Counts of the verdicts, and how far announced savings are from what is no longer sent."""
    verdicts = collections.Counter(result.verdict for result in results)
    yield ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    judged = [result for result in results if result.prefix >= 0]
    for what, seen in (("of the session's blocks", "measured_blocks"), ("of the whole request", "measured")):
        worth = [(result, getattr(result, seen)) for result in judged if abs(getattr(result, seen)) > SMALL]
        errors = sorted(abs(result.announced - tokens) / abs(tokens) for result, tokens in worth)
        if len(errors) > 1:
            within = sum(error <= TOLERANCE for error in errors)
            tenths = statistics.quantiles(errors, n=10)
            yield (
                f"announced tokens against those {what}: within {TOLERANCE:.0%} in {within} of {len(errors)} steps that change "
                f"more than {SMALL}; median error {statistics.median(errors):.3%}, p90 {tenths[8]:.2%}, highest {errors[-1]:.1%}"
            )
    ratios = [result.reported / result.announced for result in judged if result.announced > SMALL]
    if len(ratios) > 1:
        fifths = statistics.quantiles(ratios, n=10)
        yield (
            f"aperture's own count of what is saved is {statistics.median(ratios):.2f} times the checker's "
            f"(10 % {fifths[0]:.2f}, 90 % {fifths[8]:.2f})"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--aperture", default="aperture", help="the program under test [default: aperture]")
    parser.add_argument("--checker", required=True, help="the program that resumes a session file")
    parser.add_argument("--directory", help="where the client is started [default: what the session says]")
    parser.add_argument("--no-binding", action="store_true", help="do not ask for the check of thinking")
    parser.add_argument("--rows", help="a file that gets each line as JSON as well")
    parser.add_argument("sessions", nargs="+", type=pathlib.Path, metavar="SESSION.jsonl")
    arguments = parser.parse_args()
    results = []
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + " --- |" * len(COLUMNS))
    for session in arguments.sessions:
        for result in check(arguments, session.resolve()):
            results.append(result)
            print(row(result), flush=True)
            if arguments.rows:
                with open(arguments.rows, "a", encoding="utf-8") as rows:
                    rows.write(json.dumps(dataclasses.asdict(result), ensure_ascii=False) + "\n")
    print()
    print("\n".join(summary(results)))
    return 1 if any(result.verdict == "FAILED" for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
