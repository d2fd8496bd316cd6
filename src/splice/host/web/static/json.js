// JSON for people: coloured, whole, with every character that cannot be seen drawn.

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

export const code = (source, label = "JSON") => h("pre", { class: "code line", tabindex: 0, role: "region", "aria-label": label }, coloured(source));

/** Read JSON; tells the line of what is wrong. */
export function read(source) {
  try {
    return { value: JSON.parse(source), error: "" };
  } catch (error) {
    const at = /position (\d+)/.exec(error.message)?.[1];
    const before = at === undefined ? null : source.slice(0, Number(at)).split("\n");
    const where = before ? ` Line ${before.length}, column ${before.at(-1).length + 1}.` : "";
    return { value: undefined, error: `This is not JSON.${where}` };
  }
}
