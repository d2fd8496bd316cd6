// Toasts: short words of the host that carry no decision, and a region that says to screen readers what waits.

import * as board from "./board.js";
import { dismiss } from "./commands.js";
import { h, icon, shown } from "./dom.js";
import { button, iconButton, tile } from "./pieces.js";
import { ui } from "./state.js";

const gone = new Set();
const SIGNS = { ok: ["check", "ok"], info: ["info", "t3"], warn: ["alert", "warn"], bad: ["alert", "bad"] };

export function toasts() {
  const notices = board.all("notice").filter((each) => !gone.has(each.id)).slice(-3);
  const all = [...notices.map((each) => ({ ...each, close: () => { gone.add(each.id); dismiss(each.id); } })), ...ui.toasts.map((each) => ({ ...each, close: () => dismiss(each.id) }))].slice(-3);
  return h("div", { class: "toasts", role: "status", key: "toasts" }, all.map((each) => {
    const [sign, tone] = SIGNS[each.level ?? "info"] ?? SIGNS.info;
    return h("div", { class: "toast", key: each.id, "data-toast": each.id }, each.server ? tile(each.server) : icon(sign, tone),
      h("p", { class: "grow m" }, shown(each.text)), each.undo && button("Undo", each.undo, { kind: "small", sign: "undo" }), iconButton("Dismiss", "x", each.close));
  }));
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
  const last = board.thread().filter((each) => each.kind === "message" && each.role === "model").at(-1);
  if (last && (last.is_done === false || last.id === saidOf) && performance.now() - saidAt > 1000) {
    if (last.id !== saidOf) [saidOf, said] = [last.id, 0];
    const text = last.text ?? "";
    const end = last.is_done === false ? Math.max(text.lastIndexOf(". "), text.lastIndexOf("\n")) + 1 : text.length;
    if (end > said) [sentence, said, saidAt] = [text.slice(said, end).slice(-600), end, performance.now()];
  }
  return h("div", { class: "sr", "aria-live": "polite", key: "speaker" }, shown(sentence));
}
