// The activity log: what happened and why it was allowed. Only the rows that are seen are in the page.

import * as args from "./arguments.js";
import * as board from "./board.js";
import { give, signed, toast } from "./commands.js";
import { h, icon, lazy, plain, shown } from "./dom.js";
import * as json from "./json.js";
import { button, copy, empty, hue, iconButton, menu, search, tabs, tile, toggleMenu } from "./pieces.js";
import { commandOf, hidden, WORDS } from "./records.js";
import { bar } from "./shell.js";
import { go, redraw, ui } from "./state.js";
import { bytes, clock, count, day, seconds } from "./words.js";

const PAGE = 200;
const view = {
  words: "",
  server: "",
  kind: "",
  way: "",
  chosen: null,
  top: 0,
  height: 600,
  newest: null,
  pages: new Map(),
  found: [],
  cursor: undefined,
  isEnd: false,
  isLoading: false,
};
const rowHeight = () =>
  matchMedia("(max-width: 639px)").matches ? 58 : matchMedia("(pointer: coarse)").matches ? 44 : 32;

const isFiltered = () => Boolean(view.words || view.server || view.kind || view.way);

function reset() {
  Object.assign(view, { pages: new Map(), found: [], cursor: undefined, isEnd: false, newest: null, top: 0 });
  const node = document.querySelector(".vlist");
  if (node) node.scrollTop = 0;
  redraw();
}

/** Show what one server did. */
export function onlyOf(server) {
  Object.assign(view, { words: "", kind: "", way: "", server, chosen: null });
  reset();
  go("activity");
}

/** Without a filter each record has its place; a page of them is fetched when it is seen. */
function fetchPage(at) {
  if (view.pages.has(at)) return;
  const page = { records: null };
  view.pages.set(at, page);
  give("activity", { before: view.newest - at * PAGE + 1, count: PAGE }).then(
    (records) => {
      page.records = records;
      redraw();
    },
    (error) => {
      toast(error.message, "bad");
    },
  );
}

const asked = () => JSON.stringify([view.words, view.server, view.kind, view.way]);

/** With a filter they are found one page after the other. */
function fetchMore() {
  if (view.isLoading || view.isEnd) return;
  view.isLoading = true;
  const before = asked();
  give("activity", {
    ...(view.cursor ? { before: view.cursor } : {}),
    count: PAGE,
    server: view.server,
    kind: view.kind,
    words: view.words,
  })
    .then(
      (records) => {
        if (before !== asked()) return;
        view.cursor = records.at(-1)?.record.number;
        view.found.push(...records.filter(({ told }) => !view.way || told.ways?.includes(view.way)));
        view.isEnd = records.length < PAGE;
      },
      (error) => {
        view.isEnd = true;
        toast(error.message, "bad");
      },
    )
    .then(() => {
      view.isLoading = false;
      redraw();
    });
}

/** Show a record whole. */
function choose(each) {
  view.chosen = each;
  redraw();
}

const total = () => (isFiltered() ? view.found.length : (view.newest ?? 0));

function record(at) {
  if (isFiltered()) return view.found[at];
  const page = Math.floor(at / PAGE);
  fetchPage(page);
  return view.pages.get(page).records?.[at % PAGE];
}

let typing = 0;

export function activity() {
  const log = board.only("log");
  const isLive = view.top < rowHeight();
  if (view.newest === null || (isLive && !isFiltered() && view.newest !== (log.count ?? 0))) {
    view.newest = log.count ?? 0;
    view.pages = new Map();
  }
  if (isFiltered() && !view.found.length && !view.isEnd) fetchMore();
  const fresh = (log.count ?? 0) - view.newest;
  return [
    bar(
      "Activity",
      `${count(log.count ?? 0, "event")}`,
      h(
        "span",
        { class: "anchor" },
        h(
          "button",
          {
            type: "button",
            class: "btn small",
            "aria-haspopup": "menu",
            "aria-expanded": ui.menu === "export",
            onclick: (event) => toggleMenu("export", event),
          },
          icon("download"),
          "Export",
        ),
        menu(
          "export",
          [
            "All events, without secrets",
            ["file", "JSON lines", () => download("/export", "splice-activity.jsonl")],
            ["file", "A page to read (HTML)", () => download("/export?as=html", "splice-activity.html")],
          ],
          "below end",
        ),
      ),
    ),
    h(
      "div",
      { class: "filters row wrap", key: "filters" },
      search(
        "Search names, arguments, results",
        view.words,
        (value) => {
          view.words = value;
          clearTimeout(typing);
          typing = setTimeout(reset, 200);
          redraw();
        },
        "w-find",
      ),
      filter(
        "server",
        "All servers",
        board.servers().map((each) => [each.name, each.name]),
      ),
      filter("kind", "All kinds", Object.entries(WORDS.kinds)),
      filter("way", "Any decision", Object.entries(WORDS.ways)),
      isFiltered() &&
        button(
          "Clear",
          () => {
            Object.assign(view, { words: "", server: "", kind: "", way: "" });
            reset();
          },
          { kind: "quiet small", key: "clear" },
        ),
      h("span", { class: "push" }),
      h(
        "span",
        { class: "s12 t3 row gap6", role: "status" },
        isFiltered()
          ? `${view.found.length.toLocaleString("en")}${view.isEnd ? "" : "+"} found`
          : [
              h("span", { class: `dot ${isLive ? "ready" : "idle"}`, "aria-hidden": "true" }),
              isLive ? "Live" : "Paused",
            ],
      ),
    ),
    h(
      "div",
      { class: `cols act md fills ${view.chosen ? "" : "alone"}`, key: "cols" },
      h(
        "div",
        { class: "vbox", key: "box" },
        fresh > 0 &&
          !isFiltered() &&
          !isLive &&
          h(
            "div",
            { class: "newest" },
            button(
              `${fresh} new`,
              () => {
                document.querySelector(".vlist").scrollTop = 0;
              },
              { kind: "small", sign: "up" },
            ),
          ),
        total() || view.isLoading
          ? grid()
          : empty(
              "activity",
              isFiltered() ? "Nothing matches" : "Nothing happened yet",
              isFiltered() ? "" : "Each call, question and read stands here, with why it was allowed.",
            ),
      ),
      view.chosen && drawer(view.chosen),
    ),
  ];
}

/** A filter is a button that says its value, with a menu of the others. */
function filter(name, label, all) {
  const chosen = all.find(([key]) => key === view[name]);
  const id = `f-${name}`;
  const set = (key) => () => {
    view[name] = key;
    reset();
  };
  return h(
    "span",
    { class: "anchor", key: id },
    h(
      "button",
      {
        type: "button",
        class: `btn small ${chosen ? "set" : ""}`,
        "aria-haspopup": "menu",
        "aria-expanded": ui.menu === id,
        onclick: (event) => toggleMenu(id, event),
      },
      h("span", { class: "clip" }, shown(chosen?.[1] ?? label)),
      icon("down", "i-s"),
    ),
    menu(
      id,
      [
        [icon("check", chosen ? "off" : ""), label, set("")],
        ...all.map(([key, words]) => [icon("check", chosen?.[0] === key ? "" : "off"), words, set(key)]),
      ],
      "below",
    ),
  );
}

function download(address, name) {
  const link = Object.assign(document.createElement("a"), { href: signed(address), download: name });
  link.click();
}

function grid() {
  const height = rowHeight();
  const size = total();
  const first = Math.max(0, Math.floor(view.top / height) - 8);
  const last = Math.min(size, Math.ceil((view.top + view.height) / height) + 8);
  if (isFiltered() && last >= size - 20 && !view.isEnd) fetchMore();
  const rows = [];
  for (let at = first; at < last; at += 1) rows.push(row(record(at), at, height));
  return h(
    "div",
    {
      class: "vlist",
      role: "grid",
      "aria-label": "Events",
      "aria-rowcount": size + 1,
      "aria-colcount": 6,
      tabindex: 0,
      onscroll: scrolled,
      onkeydown: walk,
      ref: measure,
    },
    h(
      "div",
      { class: "vhead", role: "row", "aria-rowindex": 1 },
      ["Time", "Server", "Name", "Kind", "Decision", "Took"].map((name) =>
        h("span", { role: "columnheader", key: name }, name),
      ),
    ),
    h(
      "div",
      {
        class: "vspace",
        role: "rowgroup",
        ref: (node) => {
          node.style.blockSize = `${size * height}px`;
        },
      },
      rows,
    ),
  );
}

const measure = (node) => {
  if (node.clientHeight && node.clientHeight !== view.height) {
    view.height = node.clientHeight;
    redraw();
  }
};

function scrolled(event) {
  view.top = event.currentTarget.scrollTop;
  redraw();
}

function row(each, at, height) {
  const place = (node) => {
    node.style.transform = `translateY(${at * height}px)`;
    node.style.blockSize = `${height}px`;
  };
  if (!each)
    return h(
      "div",
      { class: "vrow", role: "row", key: `w${at}`, "aria-rowindex": at + 2, ref: place },
      h("span", { role: "gridcell" }, h("span", { class: "skel w40 block" })),
    );
  const { record: it, told } = each;
  const isOn = view.chosen?.record.number === it.number;
  const isBad = told.ways?.includes("denied") || (told.outcome && it.kind !== "call");
  return lazy(`r${it.number}`, [isOn, at, height, each], () =>
    h(
      "div",
      {
        class: `vrow ${isOn ? "on" : ""}`,
        role: "row",
        "aria-rowindex": at + 2,
        "aria-selected": isOn,
        "data-number": it.number,
        ref: place,
        onclick: () => choose(isOn ? null : each),
      },
      h("span", { role: "gridcell", class: "num t3 v-time" }, clock(it.at, true)),
      h(
        "span",
        { role: "gridcell", class: "row v-srv" },
        it.server && tile(it.server),
        h("span", { class: "clip" }, shown(it.server || "Splice")),
      ),
      h("span", { role: "gridcell", class: "m clip v-name", title: plain(told.name) }, shown(told.name)),
      h("span", { role: "gridcell", class: "t2 clip v-kind" }, shown(it.kind)),
      h(
        "span",
        { role: "gridcell", class: "row v-dec", title: plain(told.word ?? "") },
        told.word &&
          icon(...(it.kind === "question" ? ["hand", "i-s warn"] : isBad ? ["x", "i-s bad"] : ["check", "i-s ok"])),
        h("span", { class: "clip" }, shown(told.word ?? "")),
      ),
      h(
        "span",
        { role: "gridcell", class: `num v-took ${told.outcome ? "bad m" : "t2"}` },
        told.outcome || seconds(it.facts?.seconds),
      ),
    ),
  );
}

function walk(event) {
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[event.key];
  if (event.key === "Escape" && view.chosen) {
    event.preventDefault();
    choose(null);
  }
  if (!step) return;
  event.preventDefault();
  const now = view.chosen
    ? isFiltered()
      ? view.found.findIndex(({ record: it }) => it.number === view.chosen.record.number)
      : view.newest - view.chosen.record.number
    : -1;
  const next = Math.min(total() - 1, Math.max(0, now + step));
  const found = record(next);
  if (!found) return;
  choose(found);
  const node = event.currentTarget;
  const height = rowHeight();
  if (next * height < node.scrollTop) node.scrollTop = next * height;
  else if ((next + 2) * height > node.scrollTop + node.clientHeight)
    node.scrollTop = (next + 2) * height - node.clientHeight;
  redraw();
}

const BODIES = new Set(["arguments", "asked_arguments", "result", "trail", "rule", "waited"]);
const isShort = (value) =>
  (typeof value !== "object" || (Array.isArray(value) && value.every((one) => typeof one === "string"))) &&
  String(value).length < 400;

function drawer({ record: each, told }) {
  const facts = each.facts ?? {};
  const labels = [
    facts.arguments !== undefined && ["arguments", "Arguments"],
    facts.asked_arguments !== undefined && ["wanted", WORDS.facts.asked_arguments],
    facts.result !== undefined && ["result", "Result"],
    ["raw", "Record"],
  ].filter(Boolean);
  const [chosen, list] = tabs("event", "Event", labels);
  const views = {
    arguments: () =>
      facts.arguments && typeof facts.arguments === "object"
        ? args.list(facts.arguments)
        : json.code(json.text(facts.arguments)),
    wanted: () => args.list(facts.asked_arguments),
    result: () =>
      h(
        "div",
        { class: `theirs ${hue(each.server)}` },
        h(
          "pre",
          { class: "mono wrap-text" },
          shown(
            typeof facts.result === "string"
              ? facts.result
              : Array.isArray(facts.result) && facts.result.every((one) => typeof one === "string")
                ? facts.result.join("\n")
                : json.text(facts.result),
          ),
        ),
      ),
    raw: () => json.code(json.text(each), "Record"),
  };
  const gone = hidden(facts);
  const command = commandOf(each);
  return h(
    "aside",
    {
      class: "pane rule sunk",
      "aria-label": "Event",
      key: "drawer",
      tabindex: 0,
      onkeydown: (event) => {
        if (event.key === "Escape") {
          event.preventDefault();
          choose(null);
          document.querySelector(".vlist")?.focus();
        }
      },
    },
    h(
      "div",
      { class: "row gap12 top" },
      tile(each.server, true),
      h(
        "div",
        { class: "grow" },
        h("h2", { class: "ask-t wrap-any" }, shown(told.name)),
        h(
          "p",
          { class: "s12 t3" },
          `Event ${each.number.toLocaleString("en")}${each.turn ? ` · turn ${each.turn}` : ""} · ${day(each.at)}`,
        ),
      ),
      iconButton("Close", "x", () => choose(null)),
    ),
    h("p", { class: "wrap-any" }, shown(told.text)),
    h("dl", { class: "kv lined s12" }, why(each, told.steps ?? []), factsOf(each)),
    list,
    views[chosen](),
    h(
      "p",
      { class: "s12 t3 row gap6" },
      icon("lock", "i-s"),
      gone.length
        ? h(
            "span",
            {},
            `${count(gone.length, "value")} taken out before it was written: `,
            h("code", {}, shown([...new Set(gone)].slice(0, 8).join(", "))),
          )
        : "Nothing in it looked like a secret.",
    ),
    h(
      "div",
      { class: "row wrap" },
      command &&
        button(
          "Copy as command",
          () => {
            copy(command);
            toast(gone.length ? "Copied. What was taken out is missing in it." : "Copied", gone.length ? "warn" : "ok");
          },
          { kind: "small", sign: "terminal" },
        ),
      button(
        "Copy the record",
        () => {
          copy(json.text(each));
          toast("Copied");
        },
        { kind: "small", sign: "copy" },
      ),
    ),
  );
}

/** Why it was allowed or not, with the way to the rule. */
function why(each, steps) {
  const { rule } = each.facts ?? {};
  if (!steps.length && !rule) return null;
  const known = rule && board.get(String(rule));
  return [
    h("dt", { key: "dt-why" }, WORDS.facts.trail),
    h(
      "dd",
      { key: "why" },
      steps.map((one) => h("p", {}, shown(one))),
      rule && h("p", {}, h("a", { href: "#/permissions" }, known ? "See the rule" : "See the rules")),
    ),
  ];
}

function factsOf(each) {
  const facts = each.facts ?? {};
  const rows = Object.entries(facts).filter(
    ([key, value]) => !BODIES.has(key) && !/_(sha256|bytes)$/.test(key) && value !== "" && isShort(value),
  );
  const show = (key, value) =>
    key === "seconds" || key === "whole"
      ? seconds(value)
      : key === "bytes"
        ? `${bytes(value)} back`
        : shown(Array.isArray(value) ? value.join("; ") : String(value));
  const sizes = facts.arguments_bytes ? `${bytes(facts.arguments_bytes)} out, ` : "";
  return [
    facts.waited && [
      h("dt", {}, WORDS.facts.waited),
      h("dd", { class: "num" }, `${seconds(facts.waited)}, the time of the call stood still`),
    ],
    rows.map(([key, value]) => [
      h("dt", {}, shown(Object.hasOwn(WORDS.facts, key) ? WORDS.facts[key] : capital(key.replaceAll("_", " ")))),
      h("dd", { class: typeof value === "number" ? "num" : "" }, key === "bytes" && sizes, show(key, value)),
    ]),
  ];
}

const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
