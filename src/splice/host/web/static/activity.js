// The activity log: what happened and why it was allowed. Only the rows that are seen are in the page.

import * as args from "./arguments.js";
import * as board from "./board.js";
import { give, signed, toast } from "./commands.js";
import { h, icon, lazy, plain, shown } from "./dom.js";
import * as json from "./json.js";
import { button, copy, empty, hue, iconButton, menu, search, tabs, tile, toggleMenu } from "./pieces.js";
import { bar } from "./shell.js";
import { redraw, ui } from "./state.js";
import { bytes, clock, count, day, face, seconds } from "./words.js";

const PAGE = 200;
const KINDS = ["call", "question", "answer", "sampling", "turn", "prompt", "attach", "rule", "tool", "trust", "start", "stop", "crash", "fail"];
const view = { words: "", server: "", kind: "", chosen: null, top: 0, height: 600, newest: null, pages: new Map(), found: [], isEnd: false, isLoading: false };
const rowHeight = () => (matchMedia("(max-width: 639px)").matches ? 58 : matchMedia("(pointer: coarse)").matches ? 44 : 32);

const isFiltered = () => Boolean(view.words || view.server || view.kind);

function reset() {
  Object.assign(view, { pages: new Map(), found: [], isEnd: false, newest: null, top: 0 });
  const node = document.querySelector(".vlist");
  if (node) node.scrollTop = 0;
  redraw();
}

/** Without a filter each record has its place; a page of them is fetched when it is seen. */
function fetchPage(at) {
  if (view.pages.has(at)) return;
  const page = { records: null };
  view.pages.set(at, page);
  give("activity", { before: view.newest - at * PAGE + 1, count: PAGE }).then((records) => { page.records = records; redraw(); }, (error) => { toast(error.message, "bad"); });
}

/** With a filter they are found one page after the other. */
function fetchMore() {
  if (view.isLoading || view.isEnd) return;
  view.isLoading = true;
  const asked = JSON.stringify([view.words, view.server, view.kind]);
  const last = view.found.at(-1)?.number;
  give("activity", { ...(last ? { before: last } : {}), count: PAGE, server: view.server, kind: view.kind, words: view.words }).then((records) => {
    if (asked !== JSON.stringify([view.words, view.server, view.kind])) return;
    view.found.push(...records);
    view.isEnd = records.length < PAGE;
  }, (error) => { view.isEnd = true; toast(error.message, "bad"); }).then(() => { view.isLoading = false; redraw(); });
}

const total = () => (isFiltered() ? view.found.length : view.newest ?? 0);

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
  const filter = (id, label, all, chosen, words) => h("span", { class: "anchor", key: id }, h("button", { type: "button", class: "btn small", "aria-haspopup": "menu", "aria-expanded": ui.menu === id, onclick: (event) => toggleMenu(id, event) }, h("span", { class: "clip" }, shown(chosen || label)), icon("down", "i-s")), menu(id, [[icon("check", chosen ? "off" : ""), label, () => { view[words] = ""; reset(); }], ...all.map((each) => [icon("check", chosen === each ? "" : "off"), each, () => { view[words] = each; reset(); }])], "below"));
  return [
    bar("Activity", `${count(log.count ?? 0, "event")}`, h("a", { class: "btn small", href: signed("/export"), download: "splice-activity.jsonl" }, icon("download"), "Export")),
    h("div", { class: "filters row wrap", key: "filters" }, search("Search names, arguments, results", view.words, (value) => { view.words = value; clearTimeout(typing); typing = setTimeout(reset, 200); redraw(); }, "w-find"), filter("f-server", "All servers", board.servers().map((each) => each.name), view.server, "server"), filter("f-kind", "All kinds", KINDS, view.kind, "kind"), isFiltered() && button("Clear", () => { Object.assign(view, { words: "", server: "", kind: "" }); reset(); }, { kind: "quiet small", key: "clear" }), h("span", { class: "push" }), h("span", { class: "s12 t3 row gap6" }, isFiltered() ? `${view.found.length}${view.isEnd ? "" : "+"} found` : [h("span", { class: `dot ${isLive ? "ready" : "idle"}`, "aria-hidden": "true" }), isLive ? "Live" : "Paused"])),
    h("div", { class: `cols act md fills ${view.chosen ? "" : "alone"}`, key: "cols" }, h("div", { class: "vbox", key: "box" }, fresh > 0 && !isFiltered() && !isLive && h("div", { class: "newest" }, button(`${fresh} new`, () => { document.querySelector(".vlist").scrollTop = 0; }, { kind: "small", sign: "up" })), total() || view.isLoading ? grid() : empty("activity", isFiltered() ? "Nothing matches" : "Nothing happened yet", isFiltered() ? "" : "Each call, question and read stands here, with why it was allowed.")), view.chosen && drawer(view.chosen)),
  ];
}

function grid() {
  const height = rowHeight();
  const size = total();
  const first = Math.max(0, Math.floor(view.top / height) - 8);
  const last = Math.min(size, Math.ceil((view.top + view.height) / height) + 8);
  if (isFiltered() && last >= size - 20 && !view.isEnd) fetchMore();
  const rows = [];
  for (let at = first; at < last; at += 1) rows.push(row(record(at), at, height));
  return h("div", { class: "vlist", role: "grid", "aria-label": "Events", "aria-rowcount": size + 1, "aria-colcount": 6, tabindex: 0, onscroll: scrolled, onkeydown: walk, ref: measure },
    h("div", { class: "vhead", role: "row", "aria-rowindex": 1 }, ["Time", "Server", "Name", "Kind", "Decision", "Took"].map((name) => h("span", { role: "columnheader", key: name }, name))),
    h("div", { class: "vspace", role: "rowgroup", ref: (node) => { node.style.blockSize = `${size * height}px`; } }, rows));
}

const measure = (node) => { if (node.clientHeight && node.clientHeight !== view.height) { view.height = node.clientHeight; redraw(); } };

function scrolled(event) {
  view.top = event.currentTarget.scrollTop;
  redraw();
}

const ANSWERS = { once: "allowed once", chat: "allowed for this chat", tool: "always allowed", server: "always allowed, all of the server", deny: "denied", again: "regenerated" };

/** What a record says in the columns. */
function told(each) {
  const facts = each.facts ?? {};
  const allowed = Array.isArray(facts.allowed) ? facts.allowed.at(-1) : facts.allowed;
  const answered = facts.answer ? `${ANSWERS[facts.answer] ?? facts.answer}${facts.by ? `, in the ${face(facts.by)}` : ""}` : "";
  const decision = facts.decision ?? (answered || (allowed ?? facts.action ?? facts.says ?? facts.why ?? facts.rule ?? ""));
  const outcome = facts.state ?? facts.outcome ?? "";
  const isBad = /den|block|refus|declin|cancel/i.test(`${facts.decision ?? facts.answer ?? ""} ${outcome === "denied" ? "denied" : ""}`);
  const failed = ["failed", "crashed", "timeout"].includes(outcome);
  return { isBadRow: isBad || failed, name: facts.tool ?? facts.name ?? facts.prompt ?? facts.uri ?? facts.model ?? facts.what ?? facts.asks ?? each.kind, decision: String(decision), outcome, isBad, failed, took: facts.seconds };
}

function row(each, at, height) {
  const place = (node) => { node.style.transform = `translateY(${at * height}px)`; node.style.blockSize = `${height}px`; };
  if (!each) return h("div", { class: "vrow", role: "row", key: `w${at}`, "aria-rowindex": at + 2, ref: place }, h("span", { role: "gridcell" }, h("span", { class: "skel w40 block" })));
  const isOn = view.chosen?.number === each.number;
  return lazy(`r${each.number}`, [isOn, at, height, each], () => {
    const { name, decision, outcome, isBadRow, failed, took } = told(each);
    return h("div", { class: `vrow ${isOn ? "on" : ""}`, role: "row", "aria-rowindex": at + 2, "aria-selected": isOn, "data-number": each.number, ref: place, onclick: () => { view.chosen = isOn ? null : each; redraw(); } },
      h("span", { role: "gridcell", class: "num t3 v-time" }, clock(each.at, true)), h("span", { role: "gridcell", class: "row v-srv" }, each.server && tile(each.server), h("span", { class: "clip" }, shown(each.server || "Splice"))), h("span", { role: "gridcell", class: "m clip v-name", title: plain(name) }, shown(name)), h("span", { role: "gridcell", class: "t2 clip v-kind" }, shown(each.kind)), h("span", { role: "gridcell", class: "row v-dec" }, decision && icon(...(each.kind === "question" ? ["hand", "i-s warn"] : isBadRow ? ["x", "i-s bad"] : ["check", "i-s ok"])), h("span", { class: "clip" }, shown(decision))), h("span", { role: "gridcell", class: `num v-took ${failed ? "bad m" : "t2"}` }, failed ? shown(outcome) : seconds(took)));
  });
}

function walk(event) {
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[event.key];
  if (event.key === "Escape" && view.chosen) { view.chosen = null; redraw(); }
  if (!step) return;
  event.preventDefault();
  const now = view.chosen ? (isFiltered() ? view.found.findIndex((each) => each.number === view.chosen.number) : view.newest - view.chosen.number) : -1;
  const next = Math.min(total() - 1, Math.max(0, now + step));
  const found = record(next);
  if (!found) return;
  view.chosen = found;
  const node = event.currentTarget;
  const height = rowHeight();
  if (next * height < node.scrollTop) node.scrollTop = next * height;
  else if ((next + 2) * height > node.scrollTop + node.clientHeight) node.scrollTop = (next + 2) * height - node.clientHeight;
  redraw();
}

function drawer(each) {
  const facts = each.facts ?? {};
  const { name } = told(each);
  const labels = [facts.arguments !== undefined && ["arguments", "Arguments"], facts.result !== undefined && ["result", "Result"], ["raw", "Record"]].filter(Boolean);
  const [chosen, list] = tabs("event", "Event", labels);
  const shownFacts = Object.entries(facts).filter(([key, value]) => !["arguments", "result"].includes(key) && !key.endsWith("_sha256") && (typeof value !== "object" || (Array.isArray(value) && value.every((one) => typeof one === "string"))) && String(value).length < 400);
  return h("aside", { class: "pane rule sunk", "aria-label": "Event", key: "drawer", tabindex: 0 }, h("div", { class: "row gap12 top" }, tile(each.server, true), h("div", { class: "grow" }, h("h2", { class: "ask-t wrap-any" }, shown(name)), h("p", { class: "s12 t3" }, `Event ${each.number.toLocaleString("en")}${each.turn ? ` · turn ${each.turn}` : ""} · ${day(each.at)}`)), iconButton("Close", "x", () => { view.chosen = null; redraw(); })),
    h("dl", { class: "kv lined s12" }, shownFacts.map(([key, value]) => [h("dt", {}, shown(WORDS[key] ?? key.replaceAll("_", " "))), h("dd", { class: typeof value === "number" ? "num" : "" }, key === "seconds" ? seconds(value) : key.endsWith("bytes") ? bytes(value) : shown(Array.isArray(value) ? value.join("; ") : String(value)), (key === "rule" || key === "why") && [" ", h("a", { href: "#/permissions" }, "See the rules")])])),
    list, chosen === "arguments" ? (facts.arguments && typeof facts.arguments === "object" ? args.list(facts.arguments) : json.code(json.text(facts.arguments))) : chosen === "result" ? h("div", { class: `theirs ${hue(each.server)}` }, h("pre", { class: "mono" }, shown(typeof facts.result === "string" ? facts.result : json.text(facts.result)))) : json.code(json.text(each), "Record"),
    h("p", { class: "s12 t3 row gap6" }, icon("lock", "i-s"), "Secrets were taken out before it was written."),
    h("div", { class: "row wrap" }, button("Copy the record", () => { copy(json.text(each)); toast("Copied"); }, { kind: "small", sign: "copy" }), each.kind === "call" && facts.tool && button("Copy as command", () => { copy(`splice call ${each.server} ${facts.tool} '${JSON.stringify(facts.arguments ?? {}).replaceAll("'", "'\\''")}'`); toast("Copied"); }, { kind: "small", sign: "terminal" })));
}

const WORDS = { allowed: "Allowed", asks: "Question", answer: "Answer", by: "Answered in", says: "It said", decision: "Decision", rule: "Rule", why: "Why", seconds: "Took", waited: "Asked for", state: "Outcome", tool: "Tool", bytes: "Size", tokens: "Tokens" };
