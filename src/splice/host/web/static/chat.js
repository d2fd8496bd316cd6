// The conversation: what was said, the calls in between, and what waits for a decision.

import * as board from "./board.js";
import { approvals } from "./approval.js";
import { steps } from "./call.js";
import { act, toast } from "./commands.js";
import { composer } from "./composer.js";
import { welcome } from "./empty.js";
import { h, icon, lazy, shown } from "./dom.js";
import { button, copy, iconButton, tile } from "./pieces.js";
import { bar } from "./shell.js";
import { change, redraw, ui } from "./state.js";
import { clock, tokens } from "./words.js";

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
    bar(
      open?.title || "New chat",
      "",
      h("span", { class: "s12 t3 num no-phone" }, words),
      (!ui.panel || (isWide && innerWidth < 1560)) &&
        iconButton("Show context", "panel", () => change({ panel: true })),
    ),
    h(
      "div",
      {
        class: `scroll ${isBegun ? "" : "vcenter"}`,
        key: "thread-scroll",
        tabindex: 0,
        role: "region",
        "aria-label": "Conversation",
        ref: follow,
        onscroll: (event) => {
          const node = event.currentTarget;
          const was = isAtEnd;
          isAtEnd =
            node.scrollHeight - node.scrollTop - node.clientHeight < 48 ||
            Boolean(
              node.querySelector(".ask") &&
              node.querySelector(".ask").getBoundingClientRect().top < node.getBoundingClientRect().bottom - 80,
            );
          if (was !== isAtEnd) redraw();
        },
      },
      isBegun
        ? h(
            "div",
            {
              class: `thread ${isWide ? "wide" : ""}`,
              role: "log",
              "aria-live": "off",
              "aria-label": "Messages",
              key: "thread",
            },
            grouped(said),
            cards.length > 0 && h("div", { class: isWide ? "pair" : "single", key: "cards" }, cards),
          )
        : board.isLoaded
          ? welcome(said.map(message))
          : skeleton(),
    ),
    h(
      "div",
      { class: `dock ${isWide ? "wide" : ""}`, key: "dock" },
      !isAtEnd &&
        said.length > 0 &&
        h(
          "div",
          { class: "newest", key: "newest" },
          button(
            "Jump to newest",
            () => {
              isAtEnd = true;
              redraw();
            },
            { kind: "small", sign: "down" },
          ),
        ),
      composer(),
    ),
  ];
}

function follow(node, isNew) {
  if (isNew) isAtEnd = true;
  if (!isAtEnd) return;
  requestAnimationFrame(() => {
    const card = node.querySelector(".ask");
    const top = card
      ? card.getBoundingClientRect().top - node.getBoundingClientRect().top + node.scrollTop - 16
      : Infinity;
    node.scrollTop = Math.min(top, node.scrollHeight);
  });
}

function grouped(said) {
  const parts = [];
  const ends = lastOfTurns(said);
  let calls = [];
  const flush = () => {
    if (calls.length) parts.push(steps(calls));
    calls = [];
  };
  for (const each of said) {
    if (each.kind === "call") calls.push(each);
    else if (each.role !== "model" || each.text || each.is_done === false) {
      flush();
      parts.push(message(each, ends.get(each.turn ?? 0) === each, each === said.at(-1)));
    }
  }
  flush();
  return parts;
}

/** Find for each turn that is over the message that ends it: the model's last, or the user's when it said nothing. */
function lastOfTurns(said) {
  const chat = board.chat();
  const ends = new Map();
  for (const each of said)
    if (each.kind === "message" && each.role !== "host" && (each.role === "user" || each.text))
      ends.set(each.turn ?? 0, each);
  if (chat?.is_busy) ends.delete(chat.turn ?? 0);
  return ends;
}

function message(item, isEnd = false, isNewest = false) {
  const make = { user: mine, model: theModel, host: hostLine }[item.role] ?? hostLine;
  return lazy(item.id, [item, ui.open.get(item.id), isEnd, isNewest, board.chat()?.is_busy], () =>
    make(item, isEnd, isNewest),
  );
}

/** What can be done with a message; seen on hover and focus. A turn is taken anew, or left for another way, in a chat of its own. */
function actions(item, isEnd, ...kids) {
  const branch = async (again, words) => {
    if ((await act("branch", { turn: item.turn ?? 0, again })) !== undefined) toast(words, "ok");
  };
  const isIdle = isEnd && !board.chat()?.is_busy;
  return h(
    "div",
    { class: "acts", key: "acts" },
    kids,
    iconButton("Copy", "copy", () => {
      copy(item.text ?? "");
      toast("Copied");
    }),
    isIdle &&
      iconButton("Retry in a new chat", "restart", () =>
        branch(true, "This turn is taken anew in a new chat. The first one stays in the list."),
      ),
    isIdle &&
      iconButton("Branch: go on from here in a new chat", "branch", () =>
        branch(false, "This is a new chat with what was said until here."),
      ),
  );
}

const numberOfLines = (item) => (item.text ?? "").split("\n").length;
const unfold = (item, isFolded, lines) =>
  button(
    isFolded ? `Show all ${lines} lines` : "Fold",
    () => {
      ui.open.set(item.id, isFolded);
      redraw();
    },
    { kind: "quiet small self-start", "aria-expanded": !isFolded },
  );

function mine(item, isEnd) {
  const lines = (item.text ?? "").split("\n");
  const most = item.prompt ? FOLD_PROMPT : FOLD_LINES; // what a server wrote is there to be opened, not to be passed by
  const isFolded = lines.length > most && !ui.open.get(item.id);
  const prompt = item.prompt?.split("/");
  return h(
    "article",
    { class: "me", "aria-label": `You, ${clock(item.at ?? 0)}` },
    prompt &&
      h(
        "div",
        { class: "row gap6 wrap" },
        h(
          "span",
          { class: "chip acc" },
          icon("prompt"),
          h("span", { class: "clip" }, shown(prompt.slice(1).join("/"))),
        ),
      ),
    h("p", { class: "pre", dir: "auto" }, shown(isFolded ? lines.slice(0, most).join("\n").trimEnd() : item.text)),
    lines.length > most && unfold(item, isFolded, lines.length),
    item.attached?.length > 0 &&
      h(
        "div",
        { class: "attached" },
        item.attached.map((each) =>
          h(
            "span",
            { class: "chip", title: `${tokens(each.tokens)} tokens` },
            tile(each.server),
            h("span", { class: "clip" }, shown(each.name || each.uri)),
          ),
        ),
      ),
    item.images
      ?.filter((url) => /^data:image\/(png|jpeg|gif|webp);base64,/.test(url))
      .map((src) => h("img", { class: "shot", src, alt: "Image you attached" })),
    actions(item, isEnd),
  );
}

const STOPS = {
  maxTokens: "The answer was cut at the model's limit.",
  refusal: "The model declined to answer.",
  "stopped by you": "You stopped this here.",
  error: "The model failed here.",
};

function theModel(item, isEnd, isNewest) {
  const isStreaming = item.is_done === false;
  const lines = numberOfLines(item);
  const isLong = lines > FOLD_LINES && !isStreaming && !isNewest; // what was just said stays open under the eyes
  const isFolded = isLong && !ui.open.get(item.id);
  return h(
    "article",
    {
      class: `said ${isEnd ? "ends" : ""}`,
      "aria-label": `${item.model || "Model"}, ${clock(item.at ?? 0)}`,
      "aria-busy": isStreaming ? true : null,
    },
    h("div", {
      class: `prose ${isStreaming ? "streaming" : ""} ${isFolded ? "cut-off" : ""}`,
      dir: "auto",
      inert: isFolded,
      html: item.html ?? [],
    }),
    isLong && unfold(item, isFolded, lines),
    isStreaming &&
      !item.text &&
      h("div", { class: "col" }, h("div", { class: "skel w80" }), h("div", { class: "skel w60" })),
    item.rest && !isFolded && h("pre", { class: "mono" }, shown(item.rest)),
    item.left > 0 && h("p", { class: "s12 t3" }, `${item.left.toLocaleString("en")} more characters are not shown.`),
    item.stop && h("p", { class: "s12 t3 row gap6" }, icon("stop", "i-s"), shown(STOPS[item.stop] ?? item.stop)),
    !isStreaming &&
      actions(
        item,
        isEnd,
        h(
          "span",
          { class: "s12 t3" },
          shown(board.bare(item.model)),
          item.is_ai === false && item.model ? ", no AI" : "",
        ),
      ),
  );
}

function hostLine(item) {
  return h(
    "article",
    { class: "host-line", "aria-label": "Splice" },
    item.server ? tile(item.server) : icon("info", "i-s"),
    h("span", { class: "grow" }, shown(item.text)),
    item.server && h("a", { href: `#/servers/${encodeURIComponent(item.server)}`, class: "s12" }, "Open"),
  );
}

function skeleton() {
  return h(
    "div",
    { class: "thread late", key: "skeleton", "aria-hidden": "true" },
    h("div", { class: "skel w40" }),
    h("div", { class: "skel w80" }),
    h("div", { class: "skel w60" }),
  );
}
