// The panes: each is a function of the state that returns elements. `page` has the actions.
import { amount, clock, count, day, dollars, h, KINDS, kindOf, legend, ranges, table, tokens, ZONES } from "./elements.js";
import { isFile } from "./control.js";
import { byFile, byTurn, columns, drawBlocks, drawTimeline, flow, partAt, treemap, windowOf } from "./pictures.js";

const LISTED = 400;

function tip(text, event) {
  document.getElementById("tip")?.remove();
  if (!text) return;
  const element = h("div", { id: "tip" }, text);
  document.body.append(element);
  element.style.left = Math.min(event.clientX + 12, innerWidth - element.offsetWidth - 8) + "px";
  element.style.top = Math.min(event.clientY + 14, innerHeight - element.offsetHeight - 8) + "px";
}

function facts(block) {
  return [
    "#" + block.number + " " + block.label,
    tokens(block.tokens),
    block.stale_reason ? "stale: " + block.stale_reason : block.state.replace("_", " "),
    block.references > 0 ? "used " + block.references + " ×" : "",
    block.pin ? "pinned" : "",
    block.level === "original" ? "" : block.level,
  ].filter(Boolean).join(" · ");
}

// The blocks as a picture, by turn or by file. Keys: arrows move, space marks.
function map(state, page, isTreemap) {
  const canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": "Blocks of the window; arrow keys move, space marks; the list has the same blocks as a table" });
  // The canvas is as high as the pane and stays in it; what it shows moves, so that a long session needs no large picture.
  const paper = h("div", {}, canvas);
  const pane = document.getElementById("main");
  let layout;
  let top = 0;
  const paint = () => {
    const height = isTreemap ? layout.height : Math.min(layout.height, pane.clientHeight);
    top = isTreemap ? 0 : Math.max(Math.min(pane.getBoundingClientRect().top - paper.getBoundingClientRect().top, layout.height - height), 0);
    drawBlocks(canvas, layout, canvas.clientWidth || 600, { marked: state.marked, chosen: state.chosen, isTreemap, top, height });
  };
  const draw = () => {
    const width = canvas.clientWidth || 600;
    if (isTreemap) layout = treemap(byFile(state.blocks), width, Math.max(innerHeight - 320, 260));
    else layout = flow(byTurn(state.blocks, state.prompts), width);
    paper.style.height = layout.height + "px";
    const part = state.reveals && layout.parts.find((other) => other.block.number === state.chosen);
    if (part && (part.y < top || part.y > top + pane.clientHeight - 60)) pane.scrollTop = Math.max(part.y - pane.clientHeight / 2, 0);
    state.reveals = false;
    paint();
  };
  pane.onscroll = isTreemap ? null : () => requestAnimationFrame(paint);
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return partAt(layout, event.clientX - box.left, event.clientY - box.top + top);
  };
  canvas.addEventListener("mousemove", (event) => {
    const block = at(event);
    tip(block ? facts(block) : "", event);
  });
  canvas.addEventListener("mouseleave", () => tip(""));
  canvas.addEventListener("click", (event) => {
    const block = at(event);
    if (!block) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey) page.mark([block.number], event.shiftKey);
    page.choose(block.number);
  });
  page.onResize(canvas, draw);
  return [
    h("div", { class: "row" }, legend(Object.keys(KINDS).slice(0, -1)), h("span", { class: "dim" }, "hatched: stale · P pinned · F selected for the model")),
    paper,
  ];
}

function list(state, page) {
  const zones = h("div", { class: "zones" }, Object.entries(ZONES).map(([zone, name]) => {
    const inZone = state.blocks.filter((block) => block.zone === zone);
    const action = { primacy: "pin to the top", recency: "pin to the bottom", cold: "archive" }[zone];
    const element = h("div", { class: "zone" }, h("strong", {}, name), " ", h("span", { class: "dim" },
      zone === "cold" ? "" : count(inZone.length, "block") + ", " + amount(inZone.reduce((sum, block) => sum + block.tokens.value, 0)), action ? " · drop to " + action : ""));
    if (action && !isFile) {
      element.addEventListener("dragover", (event) => { event.preventDefault(); element.classList.add("over"); });
      element.addEventListener("dragleave", () => element.classList.remove("over"));
      element.addEventListener("drop", (event) => {
        event.preventDefault();
        element.classList.remove("over");
        const numbers = event.dataTransfer.getData("text/plain").split(",").map(Number).filter(Boolean);
        page.drop(numbers, zone);
      });
    }
    return element;
  }));
  const order = { tokens: (one, other) => other.tokens.value - one.tokens.value, number: (one, other) => one.number - other.number };
  const sorted = [...state.blocks].sort(order[state.sort]);
  const shown = sorted.filter((block) => !state.only || block.state === "stale").slice(0, state.listed);
  const rows = shown.map((block) => h("tr", {
    "aria-selected": String(block.number === state.chosen), draggable: "true",
    ondragstart: (event) => event.dataTransfer.setData("text/plain", (state.marked.has(block.number) ? [...state.marked] : [block.number]).join(",")),
    onclick: () => page.choose(block.number),
  },
    h("td", {}, h("input", { type: "checkbox", "aria-label": "mark #" + block.number, checked: state.marked.has(block.number), onclick: (event) => { event.stopPropagation(); page.mark([block.number], event.shiftKey); } })),
    h("td", { class: "number" }, "#" + block.number),
    h("td", { class: "number" }, tokens(block.tokens)),
    h("td", { class: "whole" }, h("span", { class: "key " + kindOf(block) }), KINDS[kindOf(block)]),
    h("td", { class: "label" }, h("button", { class: "link", onclick: () => page.choose(block.number) }, block.label)),
    h("td", { class: "whole" }, block.stale_reason ? "stale: " + block.stale_reason : block.pin ? "pinned" : block.focused ? "selected" : block.level !== "original" ? block.level : ""),
    h("td", { class: "number" }, block.references > 0 ? "used " + block.references + " ×" : ""),
  ));
  return [
    zones,
    h("div", { class: "row" },
      h("label", {}, "sort by ", h("select", { onchange: (event) => page.set({ sort: event.target.value }) },
        Object.keys(order).map((name) => h("option", { value: name, selected: name === state.sort }, name === "number" ? "place" : name)))),
      h("label", {}, h("input", { type: "checkbox", checked: state.only, onchange: (event) => page.set({ only: event.target.checked }) }), " only stale"),
      h("button", { onclick: () => page.markAll(shown.map((block) => block.number)) }, "mark these"),
    ),
    table(["", " #", " tokens", "kind", "block", "state", " use"], rows),
    sorted.length > shown.length && shown.length === state.listed && h("button", { onclick: () => page.set({ listed: state.listed + LISTED }) }, "show more"),
  ];
}

// The requests over time; a click shows the window of that moment, and what left and entered it since.
function timeline(state, page) {
  const requests = state.timeline.requests;
  if (requests.length === 0) return [h("p", {}, "No request is billed in this session yet.")];
  const canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": "Tokens by kind over the requests; arrow keys choose a request" });
  const operations = state.log.operations.filter((operation) => !operation.undone_by && !operation.inverts);
  const capacity = state.timeline.capacity_tokens;
  let layout;
  const draw = () => {
    const width = canvas.clientWidth || 600;
    layout = columns(requests, width);
    drawTimeline(canvas, layout, width, 260, { capacity, operations, chosen: state.moment });
  };
  const at = (event) => {
    const x = event.clientX - canvas.getBoundingClientRect().left;
    return layout.bars.findLast((bar) => bar.x <= x)?.place;
  };
  canvas.addEventListener("mousemove", (event) => {
    const request = requests[at(event)];
    tip(request ? [clock(request.time), sent(request), amount(request.cache_read_tokens.value) + " from the cache", dollars(request.dollars)].join(" · ") : "", event);
  });
  canvas.addEventListener("mouseleave", () => tip(""));
  canvas.addEventListener("click", (event) => page.set({ moment: at(event) ?? null }));
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) page.set({ moment: Math.min(Math.max((state.moment ?? requests.length) + step, 0), requests.length - 1) }, "canvas");
  });
  page.onResize(canvas, draw);
  const total = requests.reduce((sum, request) => sum + (request.dollars ?? 0), 0);
  const compactions = requests.filter((request) => request.after_compaction).length;
  const parts = [
    h("p", { class: "dim" }, [count(requests.filter((request) => request.sent_tokens).length, "request"), dollars(total), count(compactions, "compaction"), count(operations.length, "operation") + " (▼)"].join(" · ")),
    legend(Object.keys(KINDS)),
    canvas,
  ];
  if (state.moment !== null && requests[state.moment]) parts.push(moment(state, page, requests, state.moment));
  else parts.push(h("p", { class: "dim" }, "Click a request for its window, and the difference to now."));
  return parts;
}

const sent = (request) => request.sent_tokens ? amount(request.sent_tokens.value) + " sent" : "without a bill";

function moment(state, page, requests, place) {
  const request = requests[place];
  const then = windowOf(requests, place);
  const now = new Map(state.blocks.map((block) => [block.number, block]));
  const entered = state.blocks.filter((block) => !then.has(block.number)).sort((one, other) => other.tokens.value - one.tokens.value);
  const left = [...then].filter((number) => !now.has(number));
  const kinds = Object.keys(KINDS).map((kind) => h("tr", {}, h("td", {}, h("span", { class: "key " + kind }), KINDS[kind]), h("td", { class: "number" }, tokens(request.kinds[kind]))));
  return h("section", {},
    h("h2", {}, "Request " + (place + 1) + ", turn " + request.turn + ", " + day(request.time) + " " + clock(request.time)),
    h("p", {}, [request.model, sent(request), amount(request.cache_read_tokens.value) + " read from the cache, " + amount(request.cache_write_tokens.value) + " written", tokens(request.output_tokens) + " answered", dollars(request.dollars)].join(" · ")),
    table(["kind", " tokens"], kinds),
    h("h2", {}, "Since then"),
    h("p", {}, count(left.length, "block") + " left the window" + (left.length > 0 ? ": " + ranges(left).slice(0, 20).join(", ") : "") + "; " + count(entered.length, "block") + " entered it, the largest:"),
    h("ul", {}, entered.slice(0, 8).map((block) => h("li", {}, h("button", { class: "link", onclick: () => page.choose(block.number) }, "#" + block.number + " " + block.label), " " + tokens(block.tokens)))),
  );
}

const WHO = { user: "you", assistant: "answers", thinking: "thinking", tool_use: "calls", tool_result: "results", system: "client" };

function transcript(state, page) {
  const filters = h("div", { class: "row" }, Object.entries(WHO).map(([role, name]) =>
    h("label", {}, h("input", { type: "checkbox", checked: state.roles.has(role), onchange: () => page.toggle("roles", role) }), " " + name)),
    h("input", { type: "search", placeholder: "only with these words", value: state.words, "aria-label": "words", onchange: (event) => page.set({ words: event.target.value }) }));
  const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
  const persons = new Set(state.blocks.filter((block) => block.by_person).map((block) => block.number));
  // A text in the name of the user that no person wrote is one of the client.
  const roleOf = (part) => part.role === "user" && !persons.has(part.block) ? "system" : part.role;
  const has = (part) => state.roles.has(roleOf(part)) && words.every((word) => part.content.toLowerCase().includes(word));
  const messages = state.transcript.messages.map((message) => ({ ...message, parts: message.parts.filter(has) })).filter((message) => message.parts.length > 0);
  const shown = messages.slice(-state.listed);
  return [
    filters,
    messages.length > shown.length && h("button", { onclick: () => page.set({ listed: state.listed + LISTED }) }, "show " + (messages.length - shown.length) + " earlier"),
    shown.map((message) => h("article", { class: "message from-" + ({ user: "user", system: "client" }[roleOf(message.parts[0])] ?? "assistant") },
      h("div", { class: "dim" }, [roleOf(message.parts[0]) === "system" ? "client" : message.from, clock(message.time), tokens(message.tokens)].filter(Boolean).join(" · ")),
      message.parts.map((part) => part.role === "tool_use" || part.role === "tool_result" || part.role === "thinking"
        ? h("details", {}, h("summary", {}, "#" + part.block + " " + part.kind + " · " + tokens(part.tokens)), h("pre", { tabindex: "0" }, part.content))
        : h("pre", { tabindex: "0" }, part.content)))),
    messages.length === 0 && h("p", {}, "Nothing matches."),
  ];
}

function search(state, page) {
  const results = state.found?.sessions ?? [];
  return [
    h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); page.search(new FormData(event.target)); } },
      h("input", { name: "words", type: "search", class: "grow", value: state.query, placeholder: "words, \"a phrase\", role:me …", "aria-label": "search", autofocus: true }),
      h("label", {}, h("input", { name: "all", type: "checkbox", checked: state.inAll }), " all sessions"),
      h("button", { class: "main" }, "Search")),
    state.found && h("p", { class: "dim" }, state.found.total === 0 ? "nothing found" : count(state.found.total, "match").replace("matchs", "matches")),
    results.map((session) => h("section", {},
      h("h2", {}, h("button", { class: "link", onclick: () => page.open(session.session) }, session.title || session.session.slice(0, 8)), " ", h("span", { class: "dim" }, day(session.last_written_time))),
      session.turns.map((turn) => h("div", { class: "message from-" + (turn.role === "user" ? "user" : "assistant") },
        h("span", { class: "dim" }, "turn " + turn.turn + " · " + clock(turn.time)), h("div", {}, marked(turn.line, turn.marks)))))),
  ];
}

function marked(line, marks) {
  const bytes = new TextEncoder().encode(line);
  const text = (from, to) => new TextDecoder().decode(bytes.slice(from, to));
  const parts = [];
  let end = 0;
  for (const [from, to] of marks) {
    parts.push(text(end, from), h("mark", {}, text(from, to)));
    end = to;
  }
  return [...parts, text(end)];
}

function memory(state, page) {
  const rows = (state.memories?.memories ?? []).map((entry) => h("tr", {},
    h("td", {}, h("code", {}, entry.id)), h("td", {}, entry.kind.replace("_", " ")), h("td", {}, entry.text), h("td", {}, entry.state),
    h("td", {}, h("div", { class: "row" },
      h("button", { onclick: () => page.why(entry) }, "why"),
      h("button", { onclick: () => page.edit(entry) }, "edit"),
      h("button", { onclick: () => page.confirm({ memory: { action: { forget: { ids: [entry.id] } } } }, "Forget this entry?", entry.text) }, "forget")))));
  return [rows.length > 0 ? table(["id", "kind", "entry", "state", ""], rows) : h("p", {}, "Nothing is remembered for this project: aperture memory learn")];
}

function past(state, page) {
  const rows = state.log.operations.map((operation) => h("tr", {},
    h("td", { class: "number" }, operation.id), h("td", { class: "whole" }, day(operation.time) + " " + clock(operation.time)), h("td", {}, operation.actor),
    h("td", { class: "label" }, operation.command), h("td", { class: "number" }, tokens(operation.tokens_before) + " → " + tokens(operation.tokens_after)),
    h("td", {}, operation.undone_by ? "undone" : operation.inverts || isFile ? "" : h("button", { onclick: () => page.run({ undo: { operation: operation.id } }) }, "undo"))));
  const points = state.log.snapshots.map((point) => h("li", {}, point.name + " ", h("span", { class: "dim" }, day(point.time) + " " + clock(point.time)), " ",
    !isFile && h("button", { onclick: () => page.confirm({ restore: { point: point.name } }, "Restore " + point.name + "?") }, "restore")));
  const presets = (state.presets?.presets ?? []).map((preset) => h("tr", {}, h("td", {}, preset.name + (preset.used ? " (in use)" : "")), h("td", {}, preset.description), h("td", {},
    h("button", { onclick: () => page.confirm({ compress: { preset: preset.name } }, "Compress by " + preset.name + "?") }, "compress"))));
  return [
    h("h2", {}, "Operations"),
    rows.length > 0 ? table([" no.", "time", "by", "command", " window", ""], rows) : h("p", {}, "Nothing was changed."),
    h("h2", {}, "Snapshots"),
    points.length > 0 ? h("ul", {}, points) : h("p", {}, "There are none."),
    !isFile && h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); const name = new FormData(event.target).get("name"); if (name) page.run({ snapshot: { action: { save: { name } } } }); } },
      h("input", { name: "name", placeholder: "name of a new one", "aria-label": "name" }), h("button", {}, "save a snapshot")),
    presets.length > 0 && [h("h2", {}, "Presets"), table(["preset", "what it does", ""], presets)],
  ];
}

// The requests that passed the proxy, with the work of each stage.
function requests(state, page) {
  const all = (state.proxied?.requests ?? []).filter((request) => request.session === state.session).reverse();
  if (all.length === 0) return [h("p", {}, "No request of this session passed the proxy: aperture run -- claude")];
  return all.slice(0, 200).map((request) => h("details", {},
    h("summary", {}, [clock(request.time), request.model, tokens(request.client_tokens) + " → " + tokens(request.sent_tokens), request.outcome, dollars(request.saved_dollars) + " saved"].join(" · ")),
    table(["stage", "what it did"], request.stages.map((stage) => h("tr", {}, h("td", {}, stage.stage), h("td", {}, stage.note)))),
    request.record ? h("button", { onclick: () => page.bodies(request.number) }, "what was changed in its body")
      : h("p", { class: "dim" }, "Its bodies are not kept; for those of later requests: aperture proxy --record DIRECTORY")));
}

// The settings in the files, and the switches of the proxy's stages.
function settings(state, page) {
  const { files, values, switches } = state.config ?? { files: [], values: [], switches: [] };
  const toggle = ({ key, on }) => page.run({ config: { action: { set: { key, value: String(!on) } } } });
  const set = (file) => values.filter((value) => value.in_project === file.in_project).map((value) => value.key + " = " + value.value + "\n");
  return [
    h("h2", {}, "Stages of the proxy, which reads them when it starts"),
    switches.map((each) => h("div", {}, h("label", {}, h("input", { type: "checkbox", checked: each.on, onchange: () => toggle(each) }), " ", h("code", {}, each.key), " ", each.meaning))),
    files.map((file) => [
      h("h2", {}, (file.in_project ? "Project: " : "User: ") + file.path),
      set(file).length > 0 ? h("pre", {}, set(file)) : h("p", { class: "dim" }, "nothing is set"),
    ]),
  ];
}

function sessions(state, page) {
  const words = state.words.toLowerCase();
  const rows = (state.sessions?.sessions ?? []).filter((session) => (session.title + session.project + session.id).toLowerCase().includes(words)).slice(0, state.listed).map((session) => h("tr", {},
    h("td", {}, day(session.last_written_time)), h("td", { class: "label" }, h("button", { class: "link", onclick: () => page.open(session.id) }, session.title || session.id)),
    h("td", {}, session.project.split("/").pop()), h("td", { class: "number" }, Math.round(session.percent) + " %"), h("td", {}, session.open ? "open" : session.days_left !== null ? session.days_left + " d left" : "")));
  return [
    h("input", { type: "search", value: state.words, placeholder: "title, project or id", "aria-label": "filter", oninput: (event) => page.set({ words: event.target.value }, "search") }),
    table(["last", "session", "project", " full", ""], rows),
  ];
}

// One block: why it is as it is, its content, and what each level keeps of it.
function detail(state, page) {
  const { block, explanation, levels } = state.explained ?? {};
  if (!block) {
    const stale = state.status.largest_stale ?? [];
    return [
      h("h2", {}, "What can be reclaimed"),
      h("p", {}, count(state.status.stale.blocks, "stale block") + ", " + tokens(state.status.stale.tokens)),
      h("ul", {}, stale.slice(0, 5).map((entry) => h("li", {}, h("button", { class: "link", onclick: () => page.choose(entry.number) }, "#" + entry.number + " " + entry.label), " " + tokens(entry.tokens) + (entry.reason ? ", " + entry.reason : "")))),
      [["kind", state.status.kinds], ["tool", state.status.tools]].map(([name, shares]) => table([name, " blocks", " tokens"], shares.map((share) => h("tr", {}, h("td", {}, share.name), h("td", { class: "number" }, share.blocks), h("td", { class: "number" }, tokens(share.tokens)))))),
      h("p", { class: "dim" }, "Choose a block for its content."),
    ];
  }
  const level = levels.find((other) => other.level === state.level && !other.preset);
  const rows = levels.filter((other) => !other.preset).map((other) => h("tr", { "aria-selected": String(other.level === state.level), onclick: () => page.set({ level: other.level }) },
    h("td", {}, h("button", { class: "link", onclick: () => page.set({ level: other.level }) }, other.level)), h("td", { class: "number" }, tokens(other.tokens)), h("td", {}, other.why ?? "")));
  return [
    h("h2", {}, "#" + block.number + " " + block.label),
    h("p", { class: "dim" }, ["turn " + block.turn, ZONES[block.zone], block.state.replace("_", " "), tokens(block.tokens), block.references > 0 ? "used " + block.references + " ×" : "not used since"].join(" · ")),
    h("ul", {}, explanation.because.map((reason) => h("li", {}, reason))),
    table(["level", " left", ""], [h("tr", { "aria-selected": String(!level), onclick: () => page.set({ level: "" }) }, h("td", {}, h("button", { class: "link" }, "as it is")), h("td", { class: "number" }, tokens(block.tokens)), h("td", {}, "")), ...rows]),
    level?.content ? difference(state.content, level.content) : h("pre", { tabindex: "0" }, state.content),
  ];
}

// The lines of a content that a level keeps are plain, the others struck out; new lines are marked.
function difference(before, after) {
  const kept = new Map();
  for (const line of after.split("\n")) kept.set(line, (kept.get(line) ?? 0) + 1);
  const known = new Set(before.split("\n"));
  const marks = after.split("\n").filter((line) => !known.has(line));
  const lines = before.split("\n").map((line) => {
    const left = kept.get(line) ?? 0;
    if (left === 0) return h("del", {}, line + "\n");
    kept.set(line, left - 1);
    return line + "\n";
  });
  return h("pre", { tabindex: "0" }, marks.map((line) => h("ins", {}, line + "\n")), lines);
}

// Usage of many sessions: by day, by model, by session.
function usage(days, models, sessions) {
  const most = Math.max(...days.rows.map((row) => row.dollars), 0.01);
  const figures = (row) => [
    h("td", { class: "number" }, row.responses), h("td", { class: "number" }, amount(row.total_tokens.value)),
    h("td", { class: "number" }, amount(row.saved_tokens.value)), h("td", { class: "number" }, dollars(row.dollars)),
  ];
  const headings = [" responses", " tokens", " saved", " cost"];
  const bar = (row) => h("td", { style: { width: "40%" } }, h("div", { class: "answers", style: { width: (row.dollars / most) * 100 + "%", height: ".8rem" } }));
  const plain = (rows) => rows.map((row) => h("tr", {}, h("td", { class: "label" }, row.title || row.name || "(unknown)"), figures(row)));
  return [
    h("p", {}, [count(days.total.responses, "response"), amount(days.total.total_tokens.value) + " tokens", dollars(days.total.dollars)].join(" · ")),
    h("h2", {}, "By day"),
    table(["day", "", ...headings], days.rows.map((row) => h("tr", {}, h("td", {}, row.name), bar(row), figures(row)))),
    h("h2", {}, "By model"),
    table(["model", ...headings], plain(models.rows)),
    h("h2", {}, "By session"),
    table(["session", ...headings], plain(sessions.rows.slice(0, LISTED))),
  ];
}

export const panes = { usage, map, list, timeline, transcript, search, memory, past, settings, requests, sessions, detail };
