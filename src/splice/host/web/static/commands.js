// Commands to the host, and what it answers.

import { change, ui, redraw } from "./state.js";
import { face } from "./words.js";

const key = localStorage.getItem("splice-key") ?? "";

/** Shows that a request comes from this page: cookies go to every port, this does not. */
export const SIGNED = { "x-splice-csrf": key };

/** An address that the browser itself fetches, signed. */
export const signed = (address) => `${address}${address.includes("?") ? "&" : "?"}key=${key}`;

/** Numbers that JavaScript cannot hold stay as they were written, so that what is seen is what is sent. */
class Exact {
  constructor(source) {
    this.source = source;
  }
  toString() {
    return this.source;
  }
  toJSON() {
    return JSON.rawJSON ? JSON.rawJSON(this.source) : Number(this.source);
  }
}

export function parse(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_, value, context) =>
    typeof value === "number" &&
    context?.source &&
    /^-?\d{16,}$/.test(context.source) &&
    String(value) !== context.source
      ? new Exact(context.source)
      : value,
  );
}

/** Give the host a command. Raises `Error` with its sentence. */
export async function give(name, values = {}) {
  let answer;
  try {
    answer = await fetch(`/do/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...SIGNED },
      body: JSON.stringify(values),
    });
  } catch {
    throw new Error("Splice could not be reached. Nothing was done.");
  }
  const text = await answer.text();
  if (!answer.ok) throw new Error(failure(text, answer.status));
  return text ? parse(text) : null;
}

function failure(text, status) {
  try {
    return JSON.parse(text).error;
  } catch {
    return status === 403 ? "This page is not signed in any more. Open the link anew." : `It did not work (${status}).`;
  }
}

/** Give a command, and show what went wrong. */
export async function act(name, values) {
  try {
    return await give(name, values);
  } catch (error) {
    toast(error.message, "bad");
    return undefined;
  }
}

/** The ids of questions that were answered here, until they are gone. */
export const sent = new Set();

/** Answer a question. The first answer counts, in whatever face it was given. */
export async function answer(question, value) {
  if (sent.has(question.id)) return;
  sent.add(question.id);
  redraw();
  const before = await act("answer", { question: question.id, answer: value });
  if (before) toast(`Answered in the ${face(before)}`, "info");
  if (before === undefined) sent.delete(question.id); // it was refused: the person may answer otherwise
  redraw();
}

let count = 0;

/** Say something short that is no decision. */
export function toast(text, level = "ok", extra = {}) {
  const made = { id: `toast${++count}`, text, level, ...extra };
  ui.toasts = [...ui.toasts, made].slice(-3);
  redraw();
  setTimeout(() => dismiss(made.id), 6000);
}

export function dismiss(id, isWanted = false) {
  if (!isWanted && document.querySelector(`[data-toast="${id}"]`)?.matches(":hover, :focus-within"))
    setTimeout(() => dismiss(id), 1000);
  else change({ toasts: ui.toasts.filter((each) => each.id !== id) });
}
