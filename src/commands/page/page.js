// The state of the page, its actions and keys. Every action is a request of the command line.
import { amount, count, dollars, h, ranges, show, tokens } from "./elements.js";
import { ask, firstSession, follow, isFile } from "./control.js";
import { panes } from "./panes.js";

const state = {
  session: "", status: null, blocks: [], prompts: [], timeline: null, log: { operations: [], snapshots: [] }, inbox: { proposals: [] },
  marked: new Set(), chosen: null, reveals: false, explained: null, content: "", level: "", tab: "turns",
  sort: "tokens", only: false, listed: 400, moment: null, transcript: null, words: "", query: "", inAll: false, found: null,
  roles: new Set(["user", "assistant", "tool_use", "tool_result"]), memories: null, sessions: null, presets: null, proxied: null, config: null, plans: {},
};
let unfollow = () => {};

// The answer is about a session that the page has left: nothing is done with it.
const LEFT = new Error("another session is shown");

// Asks about the session that is shown.
async function here(request) {
  const { session } = state;
  const report = await ask(request, session);
  if (state.session !== session) throw LEFT;
  return report;
}
let resized = [];
let focusedAt = 0;

const TABS = [
  ["turns", "Turns", () => panes.map(state, page, false)],
  ["files", "Files", () => panes.map(state, page, true)],
  ["list", "List", () => panes.list(state, page)],
  ["time", "Timeline", () => panes.timeline(state, page)],
  ["text", "Transcript", () => panes.transcript(state, page)],
  ["search", "Search", () => panes.search(state, page)],
  ["memory", "Memory", () => panes.memory(state, page)],
  ["history", "History", () => panes.past(state, page)],
  ["settings", "Settings", () => panes.settings(state, page)],
  ["requests", "Proxy", () => panes.requests(state, page)],
  ["sessions", "Sessions", () => panes.sessions(state, page)],
].filter(([name]) => !isFile || !["search", "memory", "settings", "requests", "sessions"].includes(name));

// What a tab needs beside the blocks.
const LOADS = {
  time: async () => { state.timeline = await here({ timeline: { limit: 0 } }); },
  text: async () => { state.transcript ??= await here({ transcript: {} }); },
  memory: async () => { state.memories = await here({ memory: { action: "list" } }); },
  history: async () => { if (!isFile) state.presets ??= await here({ preset: { action: "list" } }); },
  settings: async () => { state.config = await ask({ config: {} }); },
  requests: async () => { state.proxied = await ask({ proxy: { action: "requests" } }); },
  sessions: async () => { state.sessions = await ask({ sessions: { limit: 0 } }); },
};

const page = {
  set(change, keep) { Object.assign(state, change); render(keep); },
  toggle(name, value) { if (!state[name].delete(value)) state[name].add(value); render(); },
  onResize(canvas, draw) { resized.push(draw); requestAnimationFrame(draw); },
  async choose(number) {
    state.chosen = number;
    state.level = "";
    renderMain();
    await guarded(async () => {
      if (isFile) {
        state.transcript ??= await here({ transcript: {} });
        const block = state.blocks.find((other) => other.number === number);
        const part = state.transcript.messages.flatMap((message) => message.parts).find((other) => other.block === number);
        Object.assign(state, { content: part?.content ?? "", explained: { block, explanation: { because: [block.stale_reason].filter(Boolean) }, levels: [] } });
        return renderDetail();
      }
      const [explained, shown] = await Promise.all([here({ explain: { selector: String(number) } }), here({ show: { selector: String(number) } })]);
      if (state.chosen !== number) return;
      state.explained = explained;
      state.content = shown.blocks[0]?.content ?? "";
      renderDetail();
    });
  },
  mark(numbers, isRange) {
    if (isRange && state.chosen !== null) {
      const [from, to] = [state.chosen, numbers[0]].sort((one, other) => one - other);
      for (const { number } of state.blocks) if (number >= from && number <= to) state.marked.add(number);
    } else for (const number of numbers) if (!state.marked.delete(number)) state.marked.add(number);
    planned();
  },
  markAll(numbers) { for (const number of numbers) state.marked.add(number); planned(); },
  drop(numbers, zone) {
    const selector = ranges(numbers);
    if (zone === "cold") page.confirm({ archive: { selector } }, "Archive " + count(numbers.length, "block") + "?");
    else page.run({ pin: { selector, [zone === "primacy" ? "top" : "bottom"]: true } });
  },
  // Shows what a request would do, and runs it after y or a click on its name.
  confirm(request, title, text) {
    guarded(async () => {
      const name = Object.keys(request)[0];
      const isChange = !["memory", "approve", "deny"].includes(name);
      const plan = isChange ? await here({ [name]: { ...request[name], dry_run: true } }) : null;
      question(title, plan ? planText(plan) : [text ?? ""], plan, () => page.run(request));
    });
  },
  async run(request, session = state.session) {
    await guarded(async () => {
      const report = await ask(request, session);
      own.add(report.operation);
      if (state.session === session) {
        state.marked.clear();
        state.plans = {};
        await load();
      }
      if (report.schema?.startsWith("aperture.change")) {
        const saved = report.tokens_before.value - report.tokens_after.value;
        const nothing = report.operation === null;
        toast(nothing ? "nothing to do" : report.verb + ", operation " + report.operation + (Math.abs(saved) >= 1 ? ", " + (saved > 0 ? "−" : "+") + amount(Math.abs(saved)) + " tokens" : ""), !nothing && "undo" !== Object.keys(request)[0] && (() => page.run({ undo: { operation: report.operation } }, session)));
      } else toast("done");
    });
  },
  async search(form) {
    const words = String(form.get("words")).trim();
    if (!words) return;
    await guarded(async () => {
      const inAll = form.has("all");
      const request = { search: { query: [words], limit: 30 } };
      const found = await (inAll ? ask(request) : here(request));
      page.set({ query: words, inAll, found });
    });
  },
  why(entry) {
    guarded(async () => {
      const { evidence } = await here({ memory: { action: { why: { id: entry.id } } } });
      question("Why: " + entry.text, evidence.map((quote) => quote.quote ? "“" + quote.quote + "” · " + quote.session.slice(0, 8) : quote.missing), null, null);
    });
  },
  bodies(number) {
    guarded(async () => {
      const { difference } = await ask({ proxy: { action: { explain: { number } } } });
      question("Request " + number + ", as the client wrote it and as it was sent", [h("pre", {}, difference === null ? "The files are gone." : difference || "Nothing was changed.")], null, null);
    });
  },
  edit(entry) {
    const field = h("textarea", { rows: "4", "aria-label": "entry", style: { width: "100%" } }, entry.text);
    question("Edit " + entry.id, [field], null, () => page.run({ memory: { action: { edit: { id: entry.id, text: field.value } } } }), "Save");
  },
  async open(session) {
    Object.assign(state, { session, marked: new Set(), chosen: null, explained: null, transcript: null, timeline: null, moment: null, tab: "turns", plans: {}, words: "" });
    if (!isFile) history.replaceState(null, "", "#/" + session);
    await guarded(load);
    unfollow();
    unfollow = follow(session, (event) => { if (!["session_opened", "suggestions_changed"].includes(event.event)) changed(event); });
  },
  async go(tab) {
    Object.assign(state, { tab, listed: 400, words: "" });
    render();
    await guarded(async () => { await LOADS[tab]?.(); render(); });
  },
};

function guarded(work) {
  return Promise.resolve().then(work).catch((error) => { if (error !== LEFT) toast(error.message, null, true); });
}

// Reads what is shown again; the log and the wishes only after an operation.
async function load(withLog = true) {
  const [status, blocks, log, inbox] = await Promise.all([
    here({ status: { no_suggestions: true } }), here({ blocks: {} }), withLog ? here({ log: {} }) : state.log, withLog && !isFile ? here({ inbox: {} }) : state.inbox,
  ]);
  Object.assign(state, { status, blocks: blocks.blocks, prompts: blocks.prompts, log, inbox, transcript: null });
  state.session ||= status.session;
  document.title = "aperture · " + (status.title || status.session);
  await LOADS[state.tab]?.();
  const numbers = new Set(state.blocks.map((block) => block.number));
  for (const number of state.marked) if (!numbers.has(number)) state.marked.delete(number);
  render();
}

// The operations that this page asked for.
const own = new Set();

// Events come in groups: the session is read once for all of them.
let waiting = null;
let operated = false;
function changed(event) {
  // The answer to a request of this page may come after its event.
  const { session } = state;
  if (event.event === "command_executed") setTimeout(() => {
    const undo = () => page.run({ undo: { operation: event.operation } }, session);
    if (!own.has(event.operation)) toast((event.actor === "user" ? "" : event.actor + ": ") + event.command, undo);
  }, 700);
  operated ||= ["command_executed", "commands_proposed", "context_changed_by_model"].includes(event.event);
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    const withLog = operated;
    operated = false;
    guarded(() => load(withLog));
  }, 5);
}

// Asks what the marked blocks would become, for the buttons of the foot.
let asking = null;
function planned() {
  state.plans = {};
  render();
  clearTimeout(asking);
  if (state.marked.size === 0 || isFile) return;
  asking = setTimeout(() => guarded(async () => {
    const selector = ranges(state.marked);
    const of = (name) => here({ [name]: { selector, dry_run: true } }).catch((error) => ({ error: error.message }));
    const [compress, archive] = await Promise.all([of("compress"), of("archive")]);
    if (ranges(state.marked).join() !== selector.join()) return;
    state.plans = { compress, archive };
    renderFoot();
  }), 150);
}

function cost(price) {
  const now = price.rewritten_dollars + price.added_dollars;
  return now > 0 ? "costs " + dollars(now) + " now" : "costs nothing now";
}

function planText(plan) {
  const figures = [tokens(plan.tokens_before) + " → " + tokens(plan.tokens_after)];
  const price = plan.price;
  if (price?.saved_dollars_per_turn) figures.push("saves " + dollars(price.saved_dollars_per_turn) + " a turn");
  if (price && price.rewritten_dollars !== null) figures.push(cost(price));
  const skipped = (plan.skipped ?? []).map((entry) => Array.isArray(entry) ? "skips " + count(entry[1].length, "block") + ": " + entry[0] : "skips " + count(entry.blocks?.length ?? 0, "block") + ": " + (entry.reason ?? ""));
  return [figures.join(" · "), ...plan.groups.slice(0, 8).map((group) => group.blocks + " × " + group.kind + ", " + tokens(group.tokens_before) + " → " + tokens(group.tokens_after)), ...plan.notes, ...skipped];
}

function question(title, lines, plan, act, name) {
  const dialog = document.getElementById("question");
  const done = () => { dialog.close(); act?.(); };
  const isEmpty = plan && plan.changes.length === 0 && plan.marks.length === 0 && plan.rows_added === 0 && plan.rows_removed === 0;
  show(dialog, h("h2", { id: "question-title" }, title), lines.map((line) => typeof line === "string" ? h("p", {}, line) : line),
    isEmpty && h("p", {}, "There is nothing to do."),
    h("div", { class: "row" }, h("span", { class: "grow" }), h("button", { onclick: () => dialog.close() }, act ? "Cancel" : "Close"),
      act && !isEmpty && h("button", { class: "main", onclick: done }, name ?? "Yes (y)")));
  // Enter answers no question: the first button is the one that cancels.
  dialog.onkeydown = (event) => {
    if (event.key === "y" && act && !isEmpty && !["TEXTAREA", "INPUT"].includes(event.target.tagName)) { event.preventDefault(); done(); }
  };
  dialog.showModal();
}

function toast(text, undo, isError) {
  const element = h("div", { class: "toast" }, h("span", { class: isError ? "bad" : "" }, text), undo && h("button", { onclick: () => { element.remove(); undo(); } }, "undo"));
  document.getElementById("toasts").append(element);
  setTimeout(() => element.remove(), isError ? 12000 : 8000);
}

function cacheClock(status) {
  if (!status.cache_end_time) return "";
  const left = status.cache_end_time.epoch_milliseconds - Date.now();
  return left > 0 ? "cache holds " + Math.ceil(left / 60000) + " min" : "cache expired";
}

function renderHead() {
  const { status } = state;
  const parts = status.zones.filter((zone) => zone.name !== "cold");
  const names = { primacy: "beginning", middle: "middle", recency: "newest" };
  const meter = h("div", { id: "meter", role: "img", "aria-label": Math.round(status.percent) + " percent of the window is in use" },
    parts.map((zone) => h("span", { class: "zone-" + zone.name, title: names[zone.name] + " " + tokens(zone.tokens), style: { width: (zone.tokens.value / status.capacity_tokens) * 100 + "%" } })),
    h("span", { class: "reserve", title: "kept free by the client", style: { width: (status.reserve_tokens / status.capacity_tokens) * 100 + "%" } }));
  const isCold = status.cache_end_time && status.cache_end_time.epoch_milliseconds < Date.now();
  const price = isCold ? status.uncached_prompt_dollars : status.cached_prompt_dollars;
  show("head",
    h("div", { class: "row" }, h("h1", {}, status.title || status.session), h("span", { class: "dim" }, [status.model, status.project.split("/").pop(), status.open ? "open in a client" : ""].filter(Boolean).join(" · "))),
    meter,
    h("div", { class: "row" }, h("strong", {}, tokens(status.tokens) + " of " + amount(status.capacity_tokens) + ", " + Math.round(status.percent) + " %"),
      h("span", {}, amount(status.remaining_tokens) + " until compaction"), price !== null && h("span", {}, "next prompt ~" + dollars(price)), h("span", { class: "dim" }, cacheClock(status)),
      h("span", { class: "dim" }, "stale " + tokens(status.stale.tokens)), h("span", { class: "grow" }),
      !isFile && h("button", { onclick: () => page.go("sessions") }, "other sessions")),
    state.inbox.proposals.map((wish) => h("div", { class: "wish row" }, h("span", { class: "grow" }, "The model asks: ", h("code", {}, wish.command), " ", h("span", { class: "dim" }, wish.effect)),
      h("button", { class: "main", onclick: () => page.run({ approve: { numbers: [wish.number] } }) }, "approve"), h("button", { onclick: () => page.run({ deny: { numbers: [wish.number] } }) }, "deny"))));
}

function renderTabs() {
  show("tabs", TABS.map(([name, title]) => h("button", { "aria-current": state.tab === name ? "page" : null, id: "tab-" + name, onclick: () => page.go(name) }, title)));
}

function renderMain(keep) {
  resized = [];
  const main = document.getElementById("main");
  const { scrollTop } = main;
  const held = keep && main.querySelector(keep === "search" ? "input[type=search]" : "canvas") === document.activeElement;
  document.body.classList.toggle("one", !["turns", "files", "list", "time"].includes(state.tab) || isFile && state.explained === null && state.tab === "time");
  const tab = TABS.find(([name]) => name === state.tab);
  const isReady = (state.tab !== "text" || state.transcript) && (state.tab !== "time" || state.timeline);
  show(main, isReady ? tab[2]() : h("p", { class: "dim" }, "…"));
  main.scrollTop = scrollTop;
  if (held) {
    const field = main.querySelector(keep === "search" ? "input[type=search]" : "canvas");
    field?.focus();
    if (field?.setSelectionRange) field.setSelectionRange(field.value.length, field.value.length);
  }
}

function renderDetail() { show("detail", panes.detail(state, page)); }

const ACTIONS = [
  ["c", "Compress", (selector) => page.confirm({ compress: { selector } }, "Compress " + count(state.marked.size, "block") + "?")],
  ["a", "Archive", (selector) => page.confirm({ archive: { selector } }, "Archive " + count(state.marked.size, "block") + "?")],
  ["p", "Pin", (selector) => page.run({ pin: { selector } })],
  ["f", "Select for the model", (selector) => page.run({ focus: { selector } })],
  ["e", "Expand", (selector) => page.confirm({ expand: { selector } }, "Expand " + count(state.marked.size, "block") + "?")],
];

function renderFoot() {
  if (isFile) return show("foot", h("span", { class: "dim" }, "A report of aperture: nothing in it can be changed."));
  const sum = state.blocks.filter((block) => state.marked.has(block.number)).reduce((all, block) => all + block.tokens.value, 0);
  const effect = (name) => {
    const plan = state.plans[name];
    if (!plan) return "";
    return plan.error ? "" : " → " + amount(sum - (plan.tokens_before.value - plan.tokens_after.value));
  };
  const buttons = ACTIONS.map(([key, name, act]) => h("button", { disabled: state.marked.size === 0, title: state.marked.size === 0 ? "mark blocks first: space, or Ctrl and click" : "key " + key, onclick: () => act(ranges(state.marked)) },
    name + effect(name.toLowerCase())));
  const price = state.plans.compress?.price;
  show("foot", h("span", {}, state.marked.size > 0 ? count(state.marked.size, "block") + " marked · " + amount(sum) : "mark blocks with space, or Ctrl and click"),
    price?.saved_dollars_per_turn ? h("span", { class: "dim" }, "compressed, saves " + dollars(price.saved_dollars_per_turn) + " a turn, " + cost(price)) : null,
    buttons, state.marked.size > 0 && h("button", { onclick: () => { state.marked.clear(); planned(); } }, "clear marks"),
    h("span", { class: "grow" }), h("button", { onclick: () => { for (const block of state.blocks) if (block.state === "stale") state.marked.add(block.number); planned(); } }, "mark stale"),
    h("button", { title: "key u", onclick: () => page.run({ undo: {} }) }, "undo"), h("button", { title: "key U", onclick: () => page.run({ redo: {} }) }, "redo"));
}

// While something is dragged, its element stays; a mouse that moves drags nothing.
let isDragging = false;
document.addEventListener("dragstart", () => { isDragging = true; });
for (const end of ["dragend", "mousemove"]) document.addEventListener(end, () => {
  if (!isDragging) return;
  isDragging = false;
  render();
});

function render(keep) {
  if (!state.status || isDragging) return;
  renderHead();
  renderTabs();
  renderMain(keep);
  renderDetail();
  renderFoot();
}

document.addEventListener("keydown", (event) => {
  const isTyping = ["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName);
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || document.getElementById("question").open || !state.status) return;
  // What was typed for another window does nothing here.
  if (performance.now() - focusedAt < 300) return;
  const numbers = state.blocks.map((block) => block.number);
  const at = numbers.indexOf(state.chosen);
  const move = { ArrowLeft: -1, ArrowUp: -1, k: -1, ArrowRight: 1, ArrowDown: 1, j: 1 }[event.key];
  const isOnMap = ["turns", "files", "list"].includes(state.tab);
  if (move && isOnMap) {
    event.preventDefault();
    state.reveals = true;
    page.choose(numbers[Math.min(Math.max(at + move, 0), numbers.length - 1)]);
    document.querySelector("#main canvas")?.focus();
  } else if (event.key === " " && isOnMap && state.chosen !== null && event.target.tagName !== "BUTTON") {
    event.preventDefault();
    page.mark([state.chosen], false);
  } else if (isFile) return;
  else if (event.key === "u") page.run({ undo: {} });
  else if (event.key === "U") page.run({ redo: {} });
  else if (event.key === "/") { event.preventDefault(); page.go("search"); }
  else if (event.key === "Escape") { state.marked.clear(); state.chosen = null; state.explained = null; planned(); }
  else if (state.marked.size > 0) ACTIONS.find(([key]) => key === event.key)?.[2](ranges(state.marked));
});
window.addEventListener("focus", () => { focusedAt = performance.now(); });
window.addEventListener("resize", () => resized.forEach((draw) => draw()));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => resized.forEach((draw) => draw()));

if (firstSession()) page.open(firstSession());
else if (isFile) guarded(async () => {
  const [usage, models, sessions] = await Promise.all([ask({ usage: {} }), ask({ models: {} }), ask({ by_session: {} })]);
  document.body.classList.add("one");
  document.title = "aperture · usage";
  show("head", h("h1", {}, "Tokens and cost"));
  show("main", panes.usage(usage, models, sessions));
});
else guarded(async () => {
  state.sessions = await ask({ sessions: { limit: 0 } });
  show("main", panes.sessions(state, page));
});
