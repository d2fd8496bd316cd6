// The conversation: what was said, the calls in between, and what waits for a decision.

import * as board from "./board.js";
import { approvals } from "./approval.js";
import { steps } from "./call.js";
import { toast } from "./commands.js";
import { composer } from "./composer.js";
import { h, icon, lazy, shown } from "./dom.js";
import { button, copy, iconButton, note, tile } from "./pieces.js";
import { bar } from "./shell.js";
import { change, go, openPrompt, redraw, ui } from "./state.js";
import { clock, count, tokens } from "./words.js";

const FOLD_LINES = 60;
const FOLD_PROMPT = 3;
let isAtEnd = true;

export function chat() {
  const open = board.chat();
  const meter = board.only("meter");
  const used = (meter.conversation ?? 0) + (meter.definitions ?? 0) + (meter.resources ?? 0) + (meter.results ?? 0);
  const said = board.thread();
  const cards = approvals();
  const isWide = cards.length > 1;
  const isBegun = cards.length > 0 || said.some((each) => each.role !== "host");
  const words = meter.window ? `${tokens(used)} of ${tokens(meter.window)} tokens` : "";
  return [
    bar(open?.title || "New chat", "", h("span", { class: "s12 t3 num no-phone" }, words), (!ui.panel || (isWide && innerWidth < 1560)) && iconButton("Show context", "panel", () => change({ panel: true }))),
    h("div", { class: `scroll ${isBegun ? "" : "vcenter"}`, key: "thread-scroll", tabindex: 0, role: "region", "aria-label": "Conversation", ref: follow, onscroll: (event) => { const node = event.currentTarget; const was = isAtEnd; isAtEnd = node.scrollHeight - node.scrollTop - node.clientHeight < 48 || Boolean(node.querySelector(".ask") && node.querySelector(".ask").getBoundingClientRect().top < node.getBoundingClientRect().bottom - 80); if (was !== isAtEnd) redraw(); } },
      isBegun ? h("div", { class: `thread ${isWide ? "wide" : ""}`, role: "log", "aria-live": "off", "aria-label": "Messages", key: "thread" }, grouped(said), cards.length > 0 && h("div", { class: isWide ? "pair" : "single", key: "cards" }, cards)) : board.isLoaded ? welcome(said) : skeleton()),
    h("div", { class: `dock ${isWide ? "wide" : ""}`, key: "dock" },
      !isAtEnd && said.length > 0 && h("div", { class: "newest", key: "newest" }, button("Jump to newest", () => { isAtEnd = true; redraw(); }, { kind: "small", sign: "down" })), composer()),
  ];
}

function follow(node, isNew) {
  if (isNew) isAtEnd = true;
  if (!isAtEnd) return;
  requestAnimationFrame(() => {
    const card = node.querySelector(".ask");
    const top = card ? card.getBoundingClientRect().top - node.getBoundingClientRect().top + node.scrollTop - 16 : Infinity;
    node.scrollTop = Math.min(top, node.scrollHeight);
  });
}

function grouped(said) {
  const parts = [];
  let calls = [];
  const flush = () => { if (calls.length) parts.push(steps(calls)); calls = []; };
  for (const each of said) {
    if (each.kind === "call") calls.push(each);
    else if (each.role !== "model" || each.text || each.is_done === false) { flush(); parts.push(message(each)); }
  }
  flush();
  return parts;
}

function message(item) {
  const isLong = ui.open.get(item.id);
  const make = { user: mine, model: theModel, host: hostLine }[item.role] ?? hostLine;
  return lazy(item.id, [item, isLong], () => make(item));
}

function mine(item) {
  const lines = (item.text ?? "").split("\n");
  const most = item.prompt ? FOLD_PROMPT : FOLD_LINES; // what a server wrote is there to be opened, not to be passed by
  const isFolded = lines.length > most && !ui.open.get(item.id);
  const prompt = item.prompt?.split("/");
  return h("article", { class: "me", "aria-label": `You, ${clock(item.at ?? 0)}` },
    prompt && h("div", { class: "row gap6 wrap" }, h("span", { class: "chip acc" }, icon("prompt"), h("span", { class: "clip" }, shown(prompt.slice(1).join("/"))))),
    h("p", { class: "pre", dir: "auto" }, shown(isFolded ? lines.slice(0, most).join("\n").trimEnd() : item.text)),
    lines.length > most && button(isFolded ? `Show all ${lines.length} lines` : "Fold", () => { ui.open.set(item.id, isFolded); redraw(); }, { kind: "quiet small" }),
    item.attached?.length > 0 && h("div", { class: "attached" }, item.attached.map((each) => h("span", { class: "chip", title: `${tokens(each.tokens)} tokens` }, tile(each.server), h("span", { class: "clip" }, shown(each.name || each.uri))))),
    item.images?.filter((url) => /^data:image\/(png|jpeg|gif|webp);base64,/.test(url)).map((src) => h("img", { class: "shot", src, alt: "Image you attached" })));
}

const STOPS = { maxTokens: "The answer was cut at the model's limit.", refusal: "The model declined to answer.", "stopped by you": "You stopped this here.", error: "The model failed here." };

function theModel(item) {
  const isStreaming = item.is_done === false;
  return h("article", { class: "said", "aria-label": `${item.model || "Model"}, ${clock(item.at ?? 0)}`, "aria-busy": isStreaming ? true : null },
    h("div", { class: `prose ${isStreaming ? "streaming" : ""}`, dir: "auto", html: item.html ?? [] }), isStreaming && !item.text && h("div", { class: "col" }, h("div", { class: "skel w80" }), h("div", { class: "skel w60" })),
    item.rest && h("pre", { class: "mono" }, shown(item.rest)), item.left > 0 && h("p", { class: "s12 t3" }, `${item.left.toLocaleString("en")} more characters are not shown.`),
    item.stop && h("p", { class: "s12 t3 row gap6" }, icon("stop", "i-s"), shown(STOPS[item.stop] ?? item.stop)),
    !isStreaming && h("div", { class: "acts" }, h("span", { class: "s12 t3" }, shown(board.bare(item.model)), item.is_ai === false && item.model ? ", no AI" : ""), iconButton("Copy", "copy", () => { copy(item.text); toast("Copied"); })));
}

function hostLine(item) {
  return h("article", { class: "host-line", "aria-label": "Splice" }, item.server ? tile(item.server) : icon("info", "i-s"), h("span", { class: "grow" }, shown(item.text)), item.server && h("a", { href: `#/servers/${encodeURIComponent(item.server)}`, class: "s12" }, "Open"));
}

function skeleton() {
  return h("div", { class: "thread late", key: "skeleton", "aria-hidden": "true" }, h("div", { class: "skel w40" }), h("div", { class: "skel w80" }), h("div", { class: "skel w60" }));
}

/** An empty chat: what can be done, and what the host has to say so far. */
function welcome(said) {
  const tools = board.tools().length;
  const servers = board.servers().length;
  const model = board.model();
  const prompts = board.prompts().slice(0, 4);
  return h("div", { class: "hero", key: "hero" },
    h("div", { class: "col gap6" }, h("h2", {}, "Where do you want to begin?"), h("p", { class: "s14 t2" }, servers ? `${count(servers, "server")}, ${count(tools, "tool")}. Every call that changes something is shown to you first.` : "There are no servers yet, so the model can only talk.")),
    prompts.length > 0 && h("div", { class: "starts" }, prompts.map((each) => h("button", { type: "button", class: "start", key: each.id, onclick: () => openPrompt(each) }, tile(each.server),
      h("span", { class: "col gap4" }, h("span", { class: "m" }, shown(each.title || each.name)), h("span", { class: "s12 t3" }, "/", shown(each.name), `, prompt of `, shown(each.server)))))),
    !servers && h("div", {}, button("Add a server", () => go("servers"), { sign: "plus" })),
    model && model.is_ai === false && note("", "model", h("b", {}, shown(board.labelOf(model)), "."), " Not an AI: it picks tools by text similarity and fills arguments by rules. Good for trying everything here, offline. ", h("a", { href: "#/settings" }, "Connect a model")),
    said.length > 0 && h("div", { class: "col gap6" }, said.map(message)));
}

