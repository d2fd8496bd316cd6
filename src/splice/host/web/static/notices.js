// Short words: toasts, which carry no decision; the banner, which holds for the whole page; and what screen readers are told.

import * as board from "./board.js";
import { dismiss } from "./commands.js";
import { h, icon, shown } from "./dom.js";
import { connect } from "./events.js";
import { button, iconButton, tile } from "./pieces.js";
import { redraw, ui } from "./state.js";

const SECONDS = 6;
const MOST = 3;
const SIGNS = { ok: ["check", "ok"], info: ["info", "t3"], warn: ["alert", "warn"], bad: ["alert", "bad"] };

const gone = new Set(); // notices of the host that were read, or had their time
const timed = new Set();

/** Let a notice of the host go after its time, unless it is just being read. */
function time(id) {
  if (timed.has(id)) return;
  timed.add(id);
  const pass = () => (isRead(id) ? setTimeout(pass, 1000) : leave(id));
  setTimeout(pass, SECONDS * 1000);
}

const leave = (id) => {
  gone.add(id);
  redraw();
};
const isRead = (id) => document.querySelector(`[data-toast="${CSS.escape(id)}"]`)?.matches(":hover, :focus-within");

export function toasts() {
  const open = board.all("notice").filter((each) => !gone.has(each.id));
  const notices = open.slice(-MOST);
  open.slice(0, -MOST).forEach((each) => gone.add(each.id)); // there is no room for them, and Activity has them
  notices.forEach((each) => time(each.id));
  const said = new Set(notices.map((each) => each.text)); // the answer to a command may be a notice too
  const all = [
    ...notices.map((each) => ({ ...each, close: () => leave(each.id) })),
    ...ui.toasts
      .filter((each) => !said.has(each.text))
      .map((each) => ({ ...each, close: () => dismiss(each.id, true) })),
  ].slice(-MOST);
  return h(
    "div",
    { class: "toasts", role: "status", key: "toasts" },
    all.map((each) => {
      const [sign, tone] = SIGNS[each.level ?? "info"] ?? SIGNS.info;
      return h(
        "div",
        { class: "toast", key: each.id, "data-toast": each.id },
        each.server ? tile(each.server) : icon(sign, tone),
        h("p", { class: "grow m" }, shown(each.text)),
        each.undo && button("Undo", each.undo, { kind: "small", sign: "undo" }),
        iconButton("Dismiss", "x", each.close),
      );
    }),
  );
}

const START = "splice host web";

/** What holds for the whole page: there is no connection, it is back, or Splice was ended. */
export function banner() {
  if (ui.link === "back")
    return h(
      "div",
      { class: "banner good", role: "status", key: "banner" },
      icon("check"),
      h("b", {}, "Connected again."),
    );
  if (ui.link !== "lost") return null;
  if (ui.ended)
    return h(
      "div",
      { class: "banner", role: "status", key: "banner" },
      icon("offline"),
      h(
        "span",
        {},
        h("b", {}, "Splice was ended."),
        ui.ended === "anew"
          ? [" It was started anew: open the link that ", h("code", {}, START), " printed."]
          : [" Start it again with ", h("code", {}, START), " and open the link that it prints. Chats are kept."],
        " What you typed stays here.",
      ),
      h("span", { class: "push" }),
      button("Try now", connect, { kind: "small", sign: "restart" }),
    );
  const left = Math.max(0, Math.ceil((ui.retryAt - Date.now()) / 1000));
  return h(
    "div",
    { class: "banner", role: "status", key: "banner" },
    icon("offline"),
    h(
      "span",
      {},
      h("b", {}, "Connection lost."),
      " Calls that run go on; nothing is decided without you. ",
      h("span", { "aria-hidden": "true" }, left ? `Trying again in ${left} s.` : "Trying again."),
    ),
    h("span", { class: "push" }),
    button("Try now", connect, { kind: "small", sign: "restart" }),
  );
}

let spokenFor = "";
let words = "";

/** Say once, assertively, that something waits. */
export function announcer(name) {
  const first = board.questions()[0];
  const count = board.questions().length;
  const state = `${first?.id}/${count}`;
  if (state !== spokenFor) {
    spokenFor = state;
    words = first ? `A decision waits: ${name(first)}${count > 1 ? `, and ${count - 1} more` : ""}` : "";
  }
  return h("div", { class: "sr", role: "alert", key: "alert" }, words);
}

let saidOf = "";
let said = 0;
let sentence = "";
let saidAt = 0;

/** Speak a streamed answer sentence by sentence, at most one piece in a second. */
export function speaker() {
  const last = board
    .thread()
    .filter((each) => each.kind === "message" && each.role === "model")
    .at(-1);
  if (last && (last.is_done === false || last.id === saidOf) && performance.now() - saidAt > 1000) {
    if (last.id !== saidOf) [saidOf, said] = [last.id, 0];
    const text = last.text ?? "";
    const end = last.is_done === false ? Math.max(text.lastIndexOf(". "), text.lastIndexOf("\n")) + 1 : text.length;
    if (end > said) [sentence, said, saidAt] = [text.slice(said, end).slice(-600), end, performance.now()];
  }
  return h("div", { class: "sr", "aria-live": "polite", key: "speaker" }, shown(sentence));
}
