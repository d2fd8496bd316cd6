// JSON for people: coloured, whole, with every character that cannot be seen drawn.

import { parse } from "./commands.js";
import { h, shown } from "./dom.js";

const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*|true|false|null)/g;

/** Write a value as JSON text. Control characters stay escaped, as JSON has them. */
export const text = (value) => JSON.stringify(value, null, 2) ?? "null";

/** Colour JSON text; long text stays plain. */
export function coloured(source) {
  if (source.length > 40_000) return shown(source);
  const parts = [];
  let at = 0;
  for (const match of source.matchAll(TOKENS)) {
    if (match.index > at) parts.push(...shown(source.slice(at, match.index)));
    const [whole, string, colon, other] = match;
    if (string) parts.push(h("span", { class: colon ? "tk-k" : "tk-s" }, shown(string)), colon ?? "");
    else parts.push(h("span", { class: "tk-n" }, other ?? whole));
    at = match.index + whole.length;
  }
  return [...parts, ...shown(source.slice(at))];
}

export const code = (source, label = "JSON") =>
  h("pre", { class: "code line", tabindex: 0, role: "region", "aria-label": label }, coloured(source));

/** Read JSON, its numbers as they were written; tells the line of what is wrong. */
export function read(source) {
  try {
    return { value: parse(source), error: "" };
  } catch (error) {
    const before = source.slice(0, Number(/position (\d+)/.exec(error.message)?.[1] ?? source.length)).split("\n");
    return { value: undefined, error: `This is not JSON. Line ${before.length}, column ${before.at(-1).length + 1}.` };
  }
}

/** Read a JSON object, as arguments are. */
export function readObject(source) {
  const { value, error } = read(source);
  const isObject = value !== null && typeof value === "object" && !Array.isArray(value) && !("source" in value);
  return error || isObject
    ? { value, error }
    : { value: undefined, error: "Arguments are an object: names and values between { and }." };
}
