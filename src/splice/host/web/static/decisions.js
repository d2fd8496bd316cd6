// What is the same for all questions: what they are called, and what was typed into them.

import * as board from "./board.js";
import { sent, toast } from "./commands.js";
import { isFresh, kept, redraw, ui } from "./state.js";

const NAMES = {
  form: () => "A form",
  visit: () => "Open a page",
  sampling: () => "Use of your model",
  completion: () => "An answer of your model",
  trust: () => "Start a server",
  roots: () => "Your folders",
  goon: () => "Go on?",
  result: () => "Read a result",
};

/** Name a question in few words: a tool's title, or the host's own. */
export function nameOf(question) {
  const asked = question.asked;
  if (asked.type === "approval")
    return (
      board.get(asked.tool)?.title ||
      board.get(asked.call)?.title ||
      board.get(asked.tool)?.name ||
      board.get(asked.call)?.tool ||
      "A call"
    );
  const who = question.server ? `${question.server}: ` : "";
  return who + (NAMES[asked.type]?.() ?? "A question");
}

const states = new Map();

/** What was typed into a question so far; it outlives a reload. */
export function stateOf(question, begin = {}) {
  if (!states.has(question.id))
    states.set(question.id, { ...begin, ...(kept(`q-${question.id}-${question.at}`) ?? {}) });
  return states.get(question.id);
}

export function changeState(question, values) {
  const state = Object.assign(stateOf(question), values);
  kept(`q-${question.id}-${question.at}`, state);
  redraw();
}

/** Let an answer through only when the person had the time to see the question, and has not answered it already. */
export const guarded = (question, act) => () => {
  if (!isFresh(question) && !offWhy(question)) act();
};

/** Leave a question for later: it waits in the tray over the composer. */
export function putAside(question) {
  ui.aside.add(question.id);
  redraw();
}

/** Why buttons of decisions are off; empty: they are on. */
export const offWhy = (question) =>
  ui.link === "lost"
    ? "Not connected: nothing is decided now"
    : question && sent.has(question.id)
      ? "Your answer is on its way"
      : "";

/** Forget what was typed into questions that are gone. */
export function forget() {
  const open = new Set(board.questions().map((each) => each.id));
  for (const id of [...states.keys()]) {
    if (open.has(id) || !board.isLoaded) continue;
    if (states.get(id).mode && !sent.has(id))
      toast("Answered elsewhere, or withdrawn. What you typed was not sent.", "info");
    states.delete(id);
    ui.seen.delete(id);
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(`q-${id}-`)) sessionStorage.removeItem(key);
  }
  for (const id of [...sent]) if (!open.has(id)) sent.delete(id);
}
