// What only this page knows: where the person is, what is open, what was typed. Everything else is on the board.

import { patch } from "./dom.js";

export const ui = {
  link: "connecting", // connecting, open, back, lost
  retryAt: 0,
  ended: "", // gone, anew: why the connection will not come back by itself
  drawer: false, // the whole sidebar over the page, where there is room for a rail at most
  isFolded: kept("folded") ?? false, // no sidebar, where there is room for it
  serverWords: "",
  panel: matchMedia("(min-width: 1180px)").matches,
  menu: "", // the id of the open menu
  open: new Map(), // calls and groups that were opened or closed by hand
  tabs: new Map(),
  aside: new Set(), // questions that were put aside
  dialog: null, // {kind, ...}: a dialog that the person opened
  seen: new Map(), // when a question was first drawn
  undo: [],
  toasts: [],
};

let draw = () => [];
let isDue = false;

/** Draw the page anew, once, soon. */
export function redraw() {
  if (isDue) return;
  isDue = true;
  (document.hidden ? (work) => setTimeout(work, 100) : requestAnimationFrame)(flush);
}

/** Draw now what is due: a key or a click must meet the page as it is. */
export function flush() {
  if (!isDue) return;
  isDue = false;
  patch(document.getElementById("root"), draw());
  for (const work of after.splice(0)) work();
}

const after = [];

/** Do something once the page is drawn. */
export const afterwards = (work) => after.push(work);

export function begin(drawing) {
  draw = drawing;
  redraw();
}

/** Change what this page knows, and draw. */
export function change(values) {
  Object.assign(ui, values);
  redraw();
}

/** Where the person is: the page and what is chosen on it. */
export function route() {
  const [page, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  return { page: page || "chat", chosen: rest.map(decode).join("/") };
}

const decode = (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

export function go(page, chosen = "") {
  location.hash = chosen ? `/${page}/${encodeURIComponent(chosen)}` : `/${page}`;
  change({ drawer: false, menu: "" });
}

const proposed = JSON.parse(document.querySelector("meta[name=proposed]")?.content || "{}");

/** Show the form of a prompt; who started the page may have proposed what stands in it. */
export function openPrompt({ id, server, name }) {
  change({ dialog: { kind: "prompt", id, values: { ...proposed[`${server}/${name}`] } } });
}

/** Something typed that outlives a reload of the page. */
export function kept(key, value) {
  if (value === undefined) {
    try {
      return JSON.parse(sessionStorage.getItem(key) ?? "null");
    } catch {
      return null;
    }
  }
  try {
    value === null ? sessionStorage.removeItem(key) : sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    /* the browser keeps nothing */
  }
  return value;
}

const FRESH_MS = 400;

/** Tell whether a question has only just appeared, so that a key or a click was not meant for it. */
export function isFresh(question) {
  if (!ui.seen.has(question.id)) {
    ui.seen.set(question.id, performance.now());
    setTimeout(redraw, FRESH_MS + 10);
  }
  return performance.now() - ui.seen.get(question.id) < FRESH_MS || performance.now() - typedAt < FRESH_MS;
}

let typedAt = -FRESH_MS;
export const typed = () => {
  typedAt = performance.now();
  setTimeout(redraw, FRESH_MS + 10);
};
