// An empty chat: what can be done, and what the host has to say so far.

import * as board from "./board.js";
import { force } from "./composer.js";
import { h, shown } from "./dom.js";
import { button, note, tile } from "./pieces.js";
import { go, openPrompt } from "./state.js";
import { count } from "./words.js";

const MOST = 4;

/** `lines` are what the host said. */
export function welcome(lines) {
  const tools = board.tools().length;
  const servers = board.servers().length;
  const model = board.model();
  const starts = beginnings();
  return h(
    "div",
    { class: "hero", key: "hero" },
    h(
      "div",
      { class: "col gap6" },
      h("h2", {}, "Where do you want to begin?"),
      h(
        "p",
        { class: "s14 t2" },
        servers
          ? `${count(servers, "server")}${tools ? `, ${count(tools, "tool")}` : ""}. Every call that changes something is shown to you first.`
          : "There are no servers yet, so the model can only talk.",
      ),
    ),
    starts.length > 0 && h("div", { class: "starts" }, starts.map(start)),
    !servers &&
      h(
        "div",
        {},
        button("Add a server", () => go("servers"), { sign: "plus" }),
      ),
    model &&
      model.is_ai === false &&
      note(
        "",
        "model",
        h("b", {}, shown(board.labelOf(model)), "."),
        " Not an AI: it picks tools by text similarity and fills arguments by rules. Good for trying everything here, offline. ",
        h("a", { href: "#/settings" }, "Connect a model"),
      ),
    lines.length > 0 && h("div", { class: "col gap6" }, lines),
  );
}

/** Prompts first, and a tool of each server that has none: the safest, which only reads. */
function beginnings() {
  const prompts = board.prompts().map((each) => ({
    each,
    about: ["/", shown(each.name), ", prompt of ", shown(each.server)],
    take: () => openPrompt(each),
  }));
  const withPrompts = new Set(board.prompts().map((each) => each.server));
  const best = new Map();
  for (const tool of board.tools().filter((one) => one.is_on !== false && !one.held && !withPrompts.has(one.server))) {
    const known = best.get(tool.server);
    if (!known || (tool.reads_only && !known.reads_only)) best.set(tool.server, tool);
  }
  const tools = [...best.values()].map((each) => ({
    each,
    about: ["uses ", shown(each.server)],
    take: () => force(each.id),
  }));
  return [...prompts.slice(0, Math.max(MOST - tools.length, 1)), ...tools].slice(0, MOST);
}

const start = ({ each, about, take }) =>
  h(
    "button",
    { type: "button", class: "start", key: each.id, onclick: take },
    tile(each.server),
    h(
      "span",
      { class: "col gap4" },
      h("span", { class: "m wrap-any" }, shown(each.title || each.name)),
      h("span", { class: "s12 t3 wrap-any" }, about),
    ),
  );
