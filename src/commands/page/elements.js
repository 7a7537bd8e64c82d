// Elements and figures. Texts of sessions become text nodes only, never markup.

// Makes an element: attributes, and functions for `on…`; children are elements or texts.
export function h(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") Object.assign(element.style, value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
}

export function show(place, ...children) {
  const element = typeof place === "string" ? document.getElementById(place) : place;
  element.replaceChildren(...children.flat(9).filter(Boolean));
  return element;
}

// 12345 is 12k: the same form as on the command line.
export function amount(tokens) {
  const size = Math.abs(tokens);
  if (size < 1000) return String(Math.round(tokens));
  if (size < 9950) return (tokens / 1000).toFixed(1).replace(/\.0$/, "") + "k";
  if (size < 999500) return Math.round(tokens / 1000) + "k";
  return (tokens / 1e6).toFixed(1).replace(/\.0$/, "") + "M";
}

// A figure with its basis: estimates have a ~ before them.
export function tokens(figure) {
  return figure === null || figure === undefined ? "?" : (figure.basis === "estimated" ? "~" : "") + amount(figure.value);
}

export function dollars(value) {
  if (value === null || value === undefined) return "?";
  return "$" + (Math.abs(value) < 0.1 ? value.toFixed(3) : value.toFixed(2));
}

export function count(number, word) {
  return number + " " + word + (number === 1 ? "" : "s");
}

export function clock(time) {
  return time ? new Date(time.epoch_milliseconds).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false }) : "";
}

export function day(time) {
  return time ? new Date(time.epoch_milliseconds).toLocaleDateString() : "";
}

// 1,2,3,7 is 1..3,7: the form of the selectors.
export function ranges(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other);
  const parts = [];
  for (let at = 0; at < sorted.length; at += 1) {
    const first = sorted[at];
    while (sorted[at + 1] === sorted[at] + 1) at += 1;
    parts.push(first === sorted[at] ? String(first) : first + ".." + sorted[at]);
  }
  return parts;
}

// The kind of a block as the pictures show it.
export function kindOf(block) {
  if (block.kind === "thinking") return "thinking";
  if (block.kind === "tool_use") return "calls";
  if (block.kind === "tool_result" || block.role === "tool_result") return "results";
  if (block.kind === "attachment" || block.role === "system") return "client";
  if (block.role !== "user") return "answers";
  return block.by_person ? "user" : "client";
}

export const KINDS = {
  user: "you",
  answers: "answers",
  thinking: "thinking",
  calls: "tool calls",
  results: "tool results",
  client: "client",
  other: "system prompt, tools and what is not in the file",
};

export const ZONES = { primacy: "beginning", middle: "middle", recency: "newest", cold: "outside the window" };

export function legend(kinds) {
  return h("div", { class: "row dim" }, kinds.map((kind) => h("span", {}, h("span", { class: "key " + kind }), KINDS[kind])));
}

export function table(headings, rows) {
  const cell = (heading) => h("th", { scope: "col", class: heading.startsWith(" ") ? "number" : null }, heading.trim());
  return h("table", {}, h("thead", {}, h("tr", {}, headings.map(cell))), h("tbody", {}, rows));
}
