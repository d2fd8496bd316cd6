// What can be done with a record of the activity log, and the words that the host has for them.

import { server } from "./board.js";

/** Of kinds of records, of ways in which something was decided, and of facts. */
export const WORDS = JSON.parse(document.querySelector("meta[name=words]").content);

const HIDDEN = "[hidden]";

/** The names of what was taken out of a record before it was written. */
export function hidden(value, name = "") {
  if (typeof value === "string") return value.includes(HIDDEN) ? [name] : [];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, each]) =>
    hidden(each, Array.isArray(value) ? name : name ? `${name}.${key}` : key),
  );
}

const quoted = (text) => (/^[\w@%+=:,./#~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The command line that makes a call again, of a server that is still configured. */
export function commandOf(each) {
  const { tool, arguments: given } = each.facts ?? {};
  const of = server(each.server);
  if (each.kind !== "call" || !tool || typeof tool !== "string" || !of) return "";
  const target = of.transport === "http" || of.transport === "sse" ? of.runs : `${of.source}#${of.name}`;
  return `splice call ${quoted(target)} ${quoted(tool)} ${quoted(JSON.stringify(given ?? {}))}`;
}
