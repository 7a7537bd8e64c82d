// Pictures on a canvas: the blocks by turn, the blocks by file, and the requests over time. The layouts are pure functions.
import { amount, clock, KINDS, kindOf } from "./elements.js";

const LINE = 18;
const LABEL = 210;
const GAP = 4;

// Lays turns out as flowing lines: each block is as wide as its tokens.
export function flow(turns, width) {
  const room = Math.max(width - LABEL - 8, 120);
  const total = turns.reduce((sum, turn) => sum + turn.tokens, 0);
  // The whole window fills some forty lines, and no block is invisible.
  const scale = Math.max(total / (room * 40), 4);
  const parts = [];
  const labels = [];
  let y = 0;
  for (const turn of turns) {
    const label = { y, turn, lines: 1 };
    labels.push(label);
    let x = 0;
    for (const block of turn.blocks) {
      let left = Math.max(block.tokens.value / scale, 3);
      while (left > 0) {
        if (room - x < 3) {
          x = 0;
          y += LINE;
          label.lines += 1;
        }
        const part = Math.min(left, room - x);
        parts.push({ x: LABEL + x, y: y + 2, width: part, height: LINE - 4, block });
        x += part;
        left -= part;
        if (left < 1) break;
      }
    }
    y += LINE + GAP;
  }
  return { parts, labels, height: Math.max(y, LINE) };
}

// Lays groups out as a squarified treemap: areas are tokens, and rectangles are nearly squares.
export function treemap(groups, width, height) {
  const parts = [];
  const labels = [];
  const divide = (items, area, put) => {
    let rest = items.filter((item) => item.tokens > 0).sort((one, other) => other.tokens - one.tokens);
    let { x, y, width: w, height: h } = area;
    let sum = rest.reduce((all, item) => all + item.tokens, 0);
    while (rest.length > 0 && w > 0.5 && h > 0.5) {
      const short = Math.min(w, h);
      const unit = (w * h) / sum;
      let row = [];
      let taken = 0;
      let best = Infinity;
      for (const item of rest) {
        const next = taken + item.tokens;
        const side = (next * unit) / short;
        const worst = Math.max(...[...row, item].map(({ tokens: own }) => ratio((own * unit) / side, side)));
        if (worst > best) break;
        best = worst;
        row = [...row, item];
        taken = next;
      }
      const side = (taken * unit) / short;
      let at = 0;
      for (const item of row) {
        const length = (item.tokens * unit) / side;
        put(item, w >= h ? { x, y: y + at, width: side, height: length } : { x: x + at, y, width: length, height: side });
        at += length;
      }
      if (w >= h) { x += side; w -= side; } else { y += side; h -= side; }
      rest = rest.slice(row.length);
      sum -= taken;
    }
  };
  divide(groups, { x: 0, y: 0, width, height }, (group, area) => {
    const title = area.height > 34 && area.width > 40 ? 16 : 0;
    if (title) labels.push({ ...area, group });
    const inner = { x: area.x + 1, y: area.y + title + 1, width: area.width - 2, height: area.height - title - 2 };
    divide(group.blocks.map((block) => ({ block, tokens: block.tokens.value })), inner, ({ block }, place) => parts.push({ ...place, block }));
  });
  return { parts, labels, height };
}

function ratio(one, other) {
  return one > other ? one / other : other / one;
}

// Groups blocks by the file or tool that they are about.
export function byFile(blocks) {
  const groups = new Map();
  for (const block of blocks) {
    const name = block.target || block.tool || KINDS[kindOf(block)];
    if (!groups.has(name)) groups.set(name, { name, blocks: [], tokens: 0 });
    const group = groups.get(name);
    group.blocks.push(block);
    group.tokens += block.tokens.value;
  }
  return [...groups.values()].sort((one, other) => other.tokens - one.tokens);
}

export function byTurn(blocks, prompts) {
  const turns = new Map();
  for (const block of blocks) {
    if (!turns.has(block.turn)) turns.set(block.turn, { number: block.turn, blocks: [], tokens: 0, stale: 0, time: block.time, text: prompts[block.turn - 1] || "" });
    const turn = turns.get(block.turn);
    turn.blocks.push(block);
    turn.tokens += block.tokens.value;
    if (block.state === "stale") turn.stale += block.tokens.value;
  }
  return [...turns.values()].sort((one, other) => one.number - other.number);
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue("--" + name).trim();
  return Object.fromEntries([...Object.keys(KINDS), "text", "dim", "line", "back", "accent", "bad"].map((name) => [name, of(name)]));
}

// Makes a canvas as sharp as its screen and returns its context.
function prepare(canvas, width, height) {
  const ratioOfScreen = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratioOfScreen);
  canvas.height = Math.round(height * ratioOfScreen);
  canvas.style.height = height + "px";
  const context = canvas.getContext("2d");
  context.setTransform(ratioOfScreen, 0, 0, ratioOfScreen, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  return context;
}

function clipped(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  let end = Math.max(Math.floor((text.length * room) / context.measureText(text).width) - 1, 0);
  while (end > 0 && context.measureText(text.slice(0, end) + "…").width > room) end -= 1;
  return end > 0 ? text.slice(0, end).trimEnd() + "…" : "";
}

// Draws blocks: the colour is the kind; stale ones are hatched, pinned and selected ones have a letter, marked ones a frame.
// Only the lines from `top` on that fit into the height are drawn.
export function drawBlocks(canvas, layout, width, { marked, chosen, isTreemap, top, height }) {
  const context = prepare(canvas, width, height);
  context.translate(0, -top);
  const colour = colours();
  const seen = (entries) => isTreemap ? entries : entries.slice(firstFrom(entries, top - (LINE + GAP) * 3), firstFrom(entries, top + height));
  const parts = seen(layout.parts);
  for (const { x, y, width: w, height: h, block } of parts) {
    context.fillStyle = colour[kindOf(block)];
    context.fillRect(x, y, Math.max(w - 1, 1), Math.max(h - (isTreemap ? 1 : 0), 1));
  }
  context.strokeStyle = colour.back;
  context.lineWidth = 1.5;
  context.beginPath();
  for (const { x, y, width: w, height: h, block } of parts) {
    if (block.state !== "stale") continue;
    for (let at = 0; at < w + h; at += 7) {
      const [fromX, fromY] = at < h ? [x, y + at] : [x + at - h, y + h];
      const [toX, toY] = at < w - 1 ? [x + at, y] : [x + w - 1, y + at - w + 1];
      if (fromX < x + w && toY < y + h) {
        context.moveTo(fromX, Math.min(fromY, y + h));
        context.lineTo(toX, toY);
      }
    }
  }
  context.stroke();
  for (const { x, y, width: w, height: h, block } of parts) {
    const letter = block.pin ? "P" : block.focused ? "F" : "";
    if (letter && w > 9) {
      context.fillStyle = colour.back;
      context.fillText(letter, x + 2, y + h / 2);
    }
    const isMarked = marked.has(block.number);
    if (isMarked || block.number === chosen) {
      context.strokeStyle = block.number === chosen ? colour.accent : colour.text;
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, Math.max(w - 3, 1), Math.max(h - 2, 1));
    }
  }
  for (const label of seen(layout.labels)) {
    if (label.turn) {
      const { number, tokens, stale, time, text } = label.turn;
      const line = (at, content, name) => {
        context.fillStyle = colour[name];
        context.fillText(clipped(context, content, LABEL - 54), 0, label.y + at * LINE + LINE / 2);
      };
      context.fillStyle = colour.dim;
      context.textAlign = "right";
      context.fillText(amount(tokens), LABEL - 8, label.y + LINE / 2);
      context.textAlign = "left";
      const note = stale > 0 ? "stale " + amount(stale) : "";
      const name = (number || "–") + "  " + clock(time);
      if (label.lines === 1) line(0, [name, text].filter(Boolean).join("  "), "text");
      else {
        line(0, name + (label.lines === 2 && note ? " · " + note : ""), "text");
        line(1, text || note, text ? "text" : "dim");
        if (label.lines > 2 && text) line(2, note, "dim");
      }
    } else {
      context.fillStyle = colour.text;
      const name = label.group.name.split("/").slice(-2).join("/");
      context.fillText(clipped(context, name + "  " + amount(label.group.tokens), label.width - 6), label.x + 3, label.y + 9);
    }
  }
}

// The place of the first entry at or below a line; entries are sorted by their lines.
function firstFrom(entries, y) {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle].y < y) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function partAt(layout, x, y) {
  return layout.parts.find((part) => x >= part.x && x < part.x + part.width && y >= part.y && y < part.y + part.height)?.block;
}

const STACK = ["other", "client", "user", "answers", "thinking", "calls", "results"];
const TOP = 22;

// Lays requests out as columns: of several in one pixel the last is shown.
export function columns(requests, width) {
  const billed = requests.map((request, place) => ({ request, place })).filter(({ request }) => request.sent_tokens);
  const each = Math.max(width / Math.max(billed.length, 1), 1);
  const bars = billed.map((entry, at) => ({ ...entry, x: at * each, width: each }));
  const shown = new Map(bars.map((bar) => [Math.floor(bar.x), bar]));
  return { bars: [...shown.values()], all: bars };
}

export function drawTimeline(canvas, layout, width, height, { capacity, operations, chosen }) {
  const context = prepare(canvas, width, height);
  const colour = colours();
  const most = Math.max(capacity, ...layout.all.map(({ request }) => request.sent_tokens.value));
  const scale = (height - TOP) / most;
  for (const bar of layout.bars) {
    let y = height;
    for (const kind of STACK) {
      const size = bar.request.kinds[kind].value * scale;
      context.fillStyle = colour[kind];
      context.fillRect(bar.x, y - size, Math.max(bar.width - (bar.width > 3 ? 1 : 0), 1), size);
      y -= size;
    }
    if (bar.request.after_compaction) {
      context.strokeStyle = colour.bad;
      context.setLineDash([3, 3]);
      context.strokeRect(bar.x, TOP, 0, height - TOP);
      context.setLineDash([]);
      context.fillStyle = colour.bad;
      context.fillText("compaction", Math.min(bar.x + 3, width - 70), TOP + 6);
    }
    if (bar.place === chosen) {
      context.strokeStyle = colour.accent;
      context.lineWidth = 2;
      context.strokeRect(bar.x - 1, TOP, bar.width + 2, height - TOP - 1);
    }
  }
  context.strokeStyle = colour.dim;
  context.lineWidth = 1;
  const limit = height - capacity * scale;
  context.strokeRect(0, limit, width, 0);
  context.fillStyle = colour.dim;
  context.fillText("window " + amount(capacity), 2, Math.max(limit - 8, 8));
  for (const operation of operations) {
    const time = operation.time.epoch_milliseconds;
    const after = layout.all.find(({ request }) => request.time.epoch_milliseconds >= time) ?? layout.all.at(-1);
    if (!after) continue;
    context.fillStyle = colour.accent;
    context.beginPath();
    context.moveTo(after.x - 5, TOP - 10);
    context.lineTo(after.x + 5, TOP - 10);
    context.lineTo(after.x, TOP);
    context.fill();
  }
}

// The blocks that a request sent: those of the requests that it follows, their responses, and its own.
export function windowOf(requests, place) {
  const blocks = new Set(requests[place].new_blocks);
  for (let at = requests[place].follows; at !== null && at !== undefined; at = requests[at].follows) {
    for (const number of [...requests[at].new_blocks, ...requests[at].response_blocks]) blocks.add(number);
  }
  return blocks;
}
