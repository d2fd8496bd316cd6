// What a server writes and says: lines of its stderr, its log messages, and every message on the wire, both ways.

import * as board from "./board.js";
import { give, parse, toast } from "./commands.js";
import { h, icon, plain, shown } from "./dom.js";
import * as json from "./json.js";
import { button, copy, hue, search } from "./pieces.js";
import { redraw, ui } from "./state.js";
import { bytes, clock, count, seconds } from "./words.js";

const MAX_LINES = 5000; // the host keeps as many
const MAX_MESSAGES = 500;
const SHOWN = 500;

/** What was fetched, by command and server. */
const fetched = new Map();

/** Fetch what is new when the board says that there is more. */
function load(command, name, total, most, read = (each) => each) {
  const key = `${command}/${name}`;
  const known = fetched.get(key) ?? { all: [], total: -1 };
  fetched.set(key, known);
  if (known.total === total || known.isLoading) return known.all;
  known.isLoading = true;
  if (total < known.total) known.all = []; // it was counted anew
  give(command, { server: name, after: known.all.at(-1)?.number ?? 0 })
    .then(
      (found) => {
        known.all = [...known.all, ...found.map(read)].slice(-most);
      },
      () => {},
    )
    .then(() => {
      known.total = total;
      known.isLoading = false;
      redraw();
    });
  return known.all;
}

const up = new Set(); // lists in which the person has scrolled up: they stand still

/** A list that follows what is new, until the person scrolls up. */
function following(key, label, hue, extra, ...kids) {
  const look = (event) => {
    const node = event.currentTarget;
    const isUp = node.scrollHeight - node.scrollTop - node.clientHeight > 24;
    if (isUp !== up.has(key)) {
      isUp ? up.add(key) : up.delete(key);
      redraw();
    }
  };
  return h(
    "div",
    { class: `logbox seam ${hue}`, key },
    h(
      "div",
      {
        class: `logs ${extra}`,
        tabindex: 0,
        role: "log",
        "aria-live": "off",
        "aria-label": label,
        ref: (node) => {
          if (!up.has(key))
            requestAnimationFrame(() => {
              node.scrollTop = node.scrollHeight;
            });
        },
        onscroll: look,
      },
      kids,
    ),
  );
}

const resume = (key) =>
  up.has(key) &&
  button(
    "Follow",
    () => {
      up.delete(key);
      redraw();
    },
    { kind: "small", sign: "down", key: "resume" },
  );

const choice = (id, label, all) =>
  h(
    "div",
    { class: "seg small", role: "group", "aria-label": label, key: id },
    all.map(([each, words]) =>
      h(
        "button",
        {
          type: "button",
          key: each,
          "aria-pressed": (ui.tabs.get(id) ?? all[0][0]) === each,
          onclick: () => {
            ui.tabs.set(id, each);
            redraw();
          },
        },
        words,
      ),
    ),
  );

const copying = (words, make) =>
  button(
    "Copy",
    () => {
      copy(make());
      toast(words);
    },
    { kind: "quiet small", sign: "copy", key: "copy" },
  );

const LEVELS = { debug: 0, info: 1, notice: 1, warning: 2, warn: 2, error: 3, critical: 3, alert: 3, emergency: 3 };
const TONES = ["", "", "w", "e"];
const LEAST = ["everything", "info and worse", "warnings and worse", "errors"];

/** Lines of stderr, or log messages from a level on. */
export function output(item) {
  const all = load("output", item.name, board.get(`output:${item.name}`)?.lines ?? 0, MAX_LINES);
  const source = ui.tabs.get("source") ?? "stderr";
  const least = ui.tabs.get("level") ?? 0;
  const fit = all.filter(
    (each) => each.source === source && (source === "stderr" || (LEVELS[each.level] ?? 1) >= least),
  );
  const rows = fit.slice(-SHOWN);
  const key = `out-${item.name}-${source}`;
  return h(
    "div",
    { class: "col gap6 tab-fill", key: "output" },
    h(
      "div",
      { class: "row wrap" },
      choice("source", "Source", [
        ["stderr", "stderr"],
        ["log", "Log messages"],
      ]),
      h(
        "span",
        { class: "s12 t3 num" },
        rows.length < fit.length ? `last ${rows.length} of ${count(fit.length, "line")}` : count(fit.length, "line"),
      ),
      h("span", { class: "push" }),
      resume(key),
      source === "log" &&
        button(
          `Level: ${LEAST[least]}`,
          () => {
            ui.tabs.set("level", (least + 1) % 4);
            redraw();
          },
          { kind: "quiet small", sign: "filter", key: "level" },
        ),
      fit.length > 0 && copying("Copied", () => fit.map((each) => each.text).join("\n")),
    ),
    rows.length
      ? following(
          key,
          `${source} of ${plain(item.name)}`,
          hue(item.name),
          "",
          rows.map((each) =>
            h(
              "div",
              { class: TONES[LEVELS[each.level] ?? 0], key: each.number },
              h("span", {}, clock(each.at, true)),
              h("span", { class: "lv" }, shown(each.level || "")),
              h("span", {}, shown(each.text)),
            ),
          ),
        )
      : h(
          "p",
          { class: "t3 s12", key: "none" },
          source === "log" && all.some((each) => each.source === "log")
            ? "No line of this level."
            : "Nothing written yet.",
        ),
  );
}

const METHOD = /"method"\s*:\s*"([^"]{1,100})"/;

/** What a message is, in few words. Answers are named by what they answer. */
function reader() {
  const asked = new Map();
  return (message) => {
    const read = { ...message, size: message.text.length };
    try {
      read.value = parse(message.text);
    } catch {
      return { ...read, what: METHOD.exec(message.text)?.[1] ?? (message.cut ? "a long message" : "not JSON") };
    }
    const { id, method, error } = read.value ?? {};
    if (method) {
      if (id !== undefined) asked.set(`${message.direction}/${id}`, { method, at: message.at });
      return {
        ...read,
        what: method,
        kind: id === undefined ? "notice" : "request",
        about: read.value.params?.name ?? read.value.params?.uri ?? "",
      };
    }
    const question = `${message.direction === "to" ? "from" : "to"}/${id}`;
    const of = asked.get(question);
    asked.delete(question);
    return {
      ...read,
      what: of?.method ?? "an answer",
      kind: error ? "error" : "answer",
      took: of && message.at - of.at,
      about: error?.message ?? "",
    };
  };
}

const readers = new Map();

/** Every message, raw, to the server and from it. */
export function messages(item) {
  if (!readers.has(item.name)) readers.set(item.name, reader());
  const total = board.get(`output:${item.name}`)?.messages ?? 0;
  const all = load("messages", item.name, total, MAX_MESSAGES, readers.get(item.name));
  const way = ui.tabs.get("way") ?? "both";
  const words = ui.tabs.get("wire-words") ?? "";
  const fit = all.filter(
    (each) =>
      (way === "both" || each.direction === way) && (!words || each.text.toLowerCase().includes(words.toLowerCase())),
  );
  const key = `wire-${item.name}`;
  return h(
    "div",
    { class: "col gap6 tab-fill", key: "messages" },
    h(
      "div",
      { class: "row wrap" },
      choice("way", "Direction", [
        ["both", "Both ways"],
        ["to", "To it"],
        ["from", "From it"],
      ]),
      search(
        "Search messages",
        words,
        (value) => {
          ui.tabs.set("wire-words", value);
          redraw();
        },
        "w-find",
      ),
      h(
        "span",
        { class: "s12 t3 num" },
        total > all.length ? `last ${all.length} of ${total.toLocaleString("en")}` : count(fit.length, "message"),
      ),
      h("span", { class: "push" }),
      resume(key),
      fit.length > 0 && copying("Copied as JSON lines", () => fit.map((each) => each.text).join("\n")),
    ),
    fit.length
      ? following(
          key,
          `Messages of ${plain(item.name)}`,
          hue(item.name),
          "wire",
          fit.map((each) => message(item.name, each)),
        )
      : h(
          "p",
          { class: "t3 s12", key: "none" },
          all.length ? "No message fits." : "Nothing was said yet. Messages are kept from its start on, the last 500.",
        ),
  );
}

const KINDS = { error: ["error", "e"], answer: ["answer", ""], notice: ["notification", ""], request: ["request", ""] };

function message(server, each) {
  const id = `wire-${server}-${each.number}`;
  const isOpen = ui.open.get(id);
  const [kind, tone] = KINDS[each.kind] ?? ["", "w"];
  return h(
    "div",
    { class: `msg ${tone}`, key: each.number },
    h(
      "button",
      {
        type: "button",
        class: "msg-h",
        "aria-expanded": Boolean(isOpen),
        onclick: () => {
          ui.open.set(id, !isOpen);
          up.add(`wire-${server}`);
          redraw();
        },
      },
      h("span", { class: "t3" }, clock(each.at, true)),
      h(
        "span",
        { class: `way ${each.direction}`, title: each.direction === "to" ? "to the server" : "from the server" },
        each.direction === "to" ? "→" : "←",
        h("span", { class: "sr" }, each.direction === "to" ? "to it" : "from it"),
      ),
      h(
        "span",
        { class: "clip" },
        h("span", { class: "m" }, shown(each.what)),
        each.about && h("span", { class: "t3" }, " ", shown(String(each.about).slice(0, 200))),
      ),
      h("span", { class: "lv no-tight" }, kind),
      h(
        "span",
        { class: "t3 num no-tight" },
        each.took === undefined || each.took === null
          ? ""
          : each.took < 1
            ? `${Math.round(each.took * 1000)} ms`
            : seconds(each.took),
      ),
      h("span", { class: "t3 num" }, bytes(each.size)),
      icon(isOpen ? "down" : "right", "i-s"),
    ),
    isOpen &&
      h(
        "div",
        { class: "msg-b" },
        each.cut && h("p", { class: "s12 t3" }, "Longer than 64 KiB: the rest was not kept."),
        json.code(each.value === undefined || each.cut ? each.text : json.text(each.value), "Message"),
        h(
          "div",
          {},
          button(
            "Copy",
            () => {
              copy(each.text);
              toast("Copied");
            },
            { kind: "quiet small", sign: "copy" },
          ),
        ),
      ),
  );
}
