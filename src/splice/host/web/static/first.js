// The first run, in three steps: model, servers, first chat. It is shown once, and all of it can be skipped.

import { add, takeOver } from "./adding.js";
import * as board from "./board.js";
import { give } from "./commands.js";
import { h, icon, plain, shown } from "./dom.js";
import { keyChoice, modelChoice } from "./models.js";
import { button, dot, iconButton, note, state, tile } from "./pieces.js";
import { afterwards, change, go, kept, openPrompt, redraw } from "./state.js";
import { count } from "./words.js";

const STEPS = ["Model", "Servers", "First chat"];
const KEY = "first-run";

const OVER = -1;

/** The step where the person is; null: it was not shown here. */
let step = kept(KEY);

/** Tell whether to show it: neither a chat, nor a server, nor a model was there, and it was not shown before. */
export function isFirst() {
  if (step === null && board.isLoaded && isNew()) begin();
  return step !== null && step !== OVER;
}

function isNew() {
  const values = board.only("settings").values;
  const isUsed =
    board.chats().some((each) => !each.is_open || each.turn) || board.thread().some((each) => each.role === "user");
  return (
    values?.welcomed === false &&
    !values.model &&
    !values.models?.length &&
    board.model()?.id === "model:demo" &&
    !board.servers().length &&
    !isUsed &&
    !board.questions().length
  );
}

export function begin() {
  move(0);
  give("set", { name: "welcomed", value: true }).catch(() => {}); // then another browser shows it once more
}

function move(to) {
  step = kept(KEY, to);
  afterwards(() => document.getElementById("step-title")?.focus());
  redraw();
}

function end(then = () => {}) {
  step = kept(KEY, OVER);
  go("chat");
  afterwards(() => {
    document.querySelector(".say")?.focus();
    then();
  });
}

export function firstRun() {
  const view = [model, servers, chat][step] ?? chat;
  return h(
    "div",
    { class: "welcome", key: "welcome" },
    h(
      "header",
      { class: "bar" },
      h("svg", { class: "mark", "aria-hidden": "true" }, h("use", { href: "/static/icons.svg#mark" })),
      h("div", { class: "brand" }, "Splice"),
      h("span", { class: "push" }),
      bar(),
    ),
    h(
      "main",
      { class: "stage scroll", id: "main", key: "stage" },
      h("div", { class: "dialog w-720 first", key: `step${step}` }, view()),
    ),
  );
}

/** Where the person is among the steps. */
function bar() {
  return h(
    "ol",
    { class: "steps-bar", "aria-label": `Set-up, step ${step + 1} of 3` },
    STEPS.map((name, at) =>
      h(
        "li",
        { key: name, class: at < step ? "done" : at === step ? "on" : "", "aria-current": at === step ? "step" : null },
        at > 0 && h("hr", { "aria-hidden": "true" }),
        h("span", { class: "n" }, at < step ? icon("check", "i-s") : String(at + 1)),
        h("span", { class: at === step ? "" : "no-phone" }, name),
      ),
    ),
  );
}

const page = (title, words, body, foot) => [
  h(
    "div",
    { class: "dlg-b", key: "body" },
    h(
      "div",
      { class: "col gap4" },
      h("h1", { class: "ask-t dlg-title", id: "step-title", tabindex: -1 }, title),
      h("p", { class: "t2" }, words),
    ),
    body,
  ),
  h("footer", { class: "dlg-f", key: "foot" }, foot),
];

const skip = () => button("Skip the set-up", () => end(), { kind: "quiet", key: "skip" });
const back = () => button("Back", () => move(step - 1), { key: "back" });
const push = () => h("span", { class: "push", key: "push" });

function model() {
  return page(
    "Which model answers?",
    "It reads the conversation and asks for calls of tools. You decide about the calls. Another one can be taken at any time.",
    [modelChoice(), h("section", { class: "col gap6" }, h("h2", { class: "s14 b" }, "With a key"), keyChoice())],
    [skip(), push(), button("Next: servers", () => move(1), { kind: "primary", key: "next" })],
  );
}

function servers() {
  const all = board.servers();
  return page(
    "What may it use?",
    "Servers bring tools, resources and prompts. Each is a program or an address of your choice; none starts before you have read its exact command.",
    [
      all.length > 0 &&
        h(
          "div",
          { class: "card", key: "all" },
          h(
            "div",
            { class: "list" },
            all.map((each) => line(each, state(each))),
          ),
        ),
      h(
        "div",
        { class: "starts", key: "ways" },
        way("plus", "Add a server", "A command, an address, or JSON from its page", add),
        way(
          "download",
          "Take servers over",
          "From Claude, Cursor, VS Code, Windsurf or Gemini CLI on this computer",
          takeOver,
        ),
      ),
      !all.length &&
        h(
          "p",
          { class: "s12 t3", key: "demo" },
          "To look around first, end Splice and start ",
          h("code", {}, "splice demo --web"),
          ": three servers plan a journey, offline.",
        ),
    ],
    [
      skip(),
      push(),
      back(),
      button(all.length ? "Next: first chat" : "Go on without servers", () => move(2), {
        kind: "primary",
        key: "next",
      }),
    ],
  );
}

const line = (each, now) =>
  h(
    "div",
    { class: "li tall", key: each.id },
    tile(each.name),
    h(
      "span",
      { class: "grow col gap4" },
      h(
        "span",
        { class: "row gap6" },
        h("span", { class: "m clip" }, shown(each.name)),
        h("span", { class: `push s12 nowrap ${now.tone}` }, now.word),
        dot(now),
      ),
      h("span", { class: "s12 t3 wrap-any" }, shown(each.word || (each.tools ? count(each.tools, "tool") : each.runs))),
    ),
    iconButton(`Remove ${plain(each.name)}`, "x", () =>
      change({ dialog: { kind: "remove", name: each.name, source: each.source } }),
    ),
  );

const way = (sign, title, words, act) =>
  h(
    "button",
    { type: "button", class: "start", key: title, onclick: act },
    icon(sign),
    h("span", { class: "col gap4" }, h("span", { class: "m" }, title), h("span", { class: "s12 t3" }, words)),
  );

function chat() {
  const now = board.model();
  const all = board.servers();
  const prompts = board.prompts().slice(0, 4);
  return page(
    "Everything is ready",
    "Say what you want. Every call that no rule of yours allows is shown to you first, with all its arguments.",
    [
      h(
        "dl",
        { class: "kv lined", key: "facts" },
        h("dt", {}, "Model"),
        h(
          "dd",
          {},
          now
            ? [
                shown(board.labelOf(now)),
                h("span", { class: "t3" }, now.is_ai === false ? " · no AI, offline" : now.where && ` · ${now.where}`),
              ]
            : "none",
        ),
        h("dt", {}, "Servers"),
        h(
          "dd",
          {},
          all.length ? shown(all.map((each) => each.name).join(", ")) : "none yet, so the model can only talk",
        ),
        h("dt", {}, "Allowed"),
        h("dd", {}, "nothing yet: you are asked"),
      ),
      now?.is_ai === false &&
        note(
          "",
          "model",
          "The demo model is a program, not an AI: it picks tools by the words you use, and fills in arguments by rules.",
        ),
      prompts.length > 0 &&
        h(
          "div",
          { class: "starts", key: "prompts" },
          prompts.map((each) =>
            h(
              "button",
              { type: "button", class: "start", key: each.id, onclick: () => end(() => openPrompt(each)) },
              tile(each.server),
              h(
                "span",
                { class: "col gap4" },
                h("span", { class: "m" }, shown(each.title || each.name)),
                h("span", { class: "s12 t3" }, "/", shown(each.name), ", prompt of ", shown(each.server)),
              ),
            ),
          ),
        ),
    ],
    [push(), back(), button("Begin the first chat", () => end(), { kind: "primary", key: "next" })],
  );
}
