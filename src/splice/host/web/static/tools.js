// Tools: which the model gets, what they cost, and what changed in a definition since the person saw it.

import * as board from "./board.js";
import { act } from "./commands.js";
import { dialog, title } from "./dialog.js";
import { h, icon, lazy, plain, shown } from "./dom.js";
import * as json from "./json.js";
import { button, check, chip, empty, hue, iconButton, note, search, tabs, tile, toggle } from "./pieces.js";
import { bar } from "./shell.js";
import { change, go, redraw, route } from "./state.js";
import { count, day, tokens } from "./words.js";

let words = "";
let limit = 200;

const isOn = (tool) => tool.is_on !== false && !tool.held;

export function tools() {
  const all = board.tools();
  const on = all.filter(isOn);
  const sum = on.reduce((total, tool) => total + (tool.tokens ?? 0), 0);
  const meter = board.only("meter");
  const chosen =
    board.get(route().chosen) ?? (matchMedia("(min-width: 600px)").matches ? all.find((tool) => tool.held) : null);
  return [
    bar(
      "Tools",
      `${on.length} of ${all.length} on · ${tokens(sum)} tokens${meter.window ? `, ${((100 * sum) / meter.window).toFixed(1)} % of the window` : ""}`,
      search(
        "Search tools",
        words,
        (value) => {
          words = value;
          redraw();
        },
        "w-find head",
      ),
    ),
    all.length
      ? h(
          "div",
          { class: "cols lw md fills", key: "cols", "data-show": chosen && route().chosen ? "detail" : "list" },
          h(
            "div",
            { class: "pane0 scroll", key: "list" },
            meter.is_searching &&
              h(
                "div",
                { class: "in-list" },
                note(
                  "s12",
                  "search",
                  "There are so many tools that the model searches for them instead of carrying all.",
                ),
              ),
            list(all, chosen),
          ),
          h(
            "div",
            { class: "pane rule", key: `tool-${chosen?.id}`, tabindex: 0, role: "region", "aria-label": "Chosen tool" },
            chosen
              ? chosen.held
                ? changed(chosen)
                : detail(chosen)
              : empty("tool", "Choose a tool", "What it says of itself, its schema and its cost stand here."),
          ),
        )
      : empty(
          "tool",
          "No tools yet",
          "Servers that offer tools appear here.",
          button("Go to servers", () => go("servers"), { kind: "small" }),
        ),
  ];
}

function list(all, chosen) {
  const fit = all.filter((tool) =>
    `${tool.server} ${tool.name} ${tool.title ?? ""} ${tool.description ?? ""}`
      .toLowerCase()
      .includes(words.toLowerCase()),
  );
  let left = limit;
  return h(
    "div",
    { class: "list" },
    board.servers().map((server) => {
      const mine = fit
        .filter((tool) => tool.server === server.name)
        .sort((one, other) => Boolean(other.held) - Boolean(one.held));
      if (!mine.length) return null;
      const on = mine.filter(isOn);
      const some =
        on.length === 0 ? "false" : on.length === mine.filter((tool) => !tool.held).length ? "true" : "mixed";
      const flip = () =>
        mine
          .filter((tool) => !tool.held && isOn(tool) === (some === "true"))
          .forEach((tool) => act("switch_tool", { id: tool.id, on: some !== "true" }));
      return [
        h(
          "div",
          { class: "lh", key: server.id },
          h(
            "span",
            { class: "row gap6" },
            check(`all of ${plain(server.name)}`, some, flip),
            tile(server.name),
            shown(server.name),
          ),
          h(
            "span",
            { class: "num" },
            `${on.length} of ${mine.length} · ${tokens(on.reduce((sum, tool) => sum + (tool.tokens ?? 0), 0))}`,
          ),
        ),
        mine.slice(0, Math.max(left, 0)).map((tool) => {
          left -= 1;
          return line(tool, tool === chosen);
        }),
      ];
    }),
    left <= 0 &&
      h(
        "div",
        { class: "in-list" },
        button(
          `Show all ${fit.length}`,
          () => {
            limit = 5000;
            redraw();
          },
          { kind: "small" },
        ),
      ),
    !fit.length && h("p", { class: "empty" }, "Nothing matches."),
  );
}

function line(tool, isChosen) {
  return lazy(tool.id, [tool, isChosen], () =>
    h(
      "div",
      { class: `li tall ${isChosen ? "on" : ""}` },
      h(
        "a",
        {
          class: "grow col gap4 plainlink",
          href: `#/tools/${encodeURIComponent(tool.id)}`,
          "aria-current": isChosen ? "true" : null,
        },
        h(
          "span",
          { class: "row gap6" },
          h("span", { class: "m clip" }, shown(tool.name)),
          tool.held && chip(tool.is_new ? "new" : "changed", "warn"),
          !tool.held && tool.claims?.includes("may delete") && chip("may delete", "claim"),
          !tool.held && tool.resembles && chip("renamed?", "warn"),
          tool.findings?.length > 0 && !tool.held && chip("look", "warn", "alert"),
          h("span", { class: "push s12 t3 num" }, isOn(tool) ? (tool.tokens ?? "") : "off"),
        ),
        h(
          "span",
          { class: "s12 t3 clip" },
          tool.held
            ? `${tool.is_new ? "New" : "Changed"}. Not offered to the model.`
            : shown(tool.description || tool.title || "No description"),
        ),
      ),
      toggle(tool.name, isOn(tool), (on) => act("switch_tool", { id: tool.id, on }), {
        disabled: Boolean(tool.held),
        title: tool.held ? "Look at what changed first" : null,
      }),
    ),
  );
}

const back = () => iconButton("Back to the list", "right", () => go("tools"), "quiet small flip only-phone");

const findings = (tool) =>
  tool.findings?.length > 0 &&
  h(
    "div",
    { class: "col", key: "findings" },
    tool.findings.map((each) =>
      note(
        each.is_grave ? "bad" : "warn",
        "alert",
        h("p", { class: "b" }, shown(each.what && each.what[0].toUpperCase() + each.what.slice(1))),
        h("p", { class: "t2" }, "in ", h("code", {}, shown(each.where))),
      ),
    ),
  );

/** What of the definition models are not told, or told otherwise. */
const notes = (tool) =>
  tool.notes?.length > 0 &&
  h(
    "div",
    { class: "col gap6", key: "notes" },
    h("h3", {}, "What models are told otherwise"),
    tool.notes.map((each) => note("s12", "info", shown(each))),
  );

function detail(tool) {
  return [
    h(
      "div",
      { class: "row gap12 top", key: "head" },
      back(),
      tile(tool.server, true),
      h(
        "div",
        { class: "grow" },
        h("h2", { class: "ask-t wrap-any" }, shown(tool.title || tool.name)),
        h("p", { class: "s12 t3" }, h("code", {}, shown(`${tool.server} · ${tool.name}`))),
      ),
      toggle(tool.name, isOn(tool), (on) => act("switch_tool", { id: tool.id, on })),
    ),
    findings(tool),
    tool.resembles &&
      note("warn", "diff", "It looks like ", h("code", {}, shown(tool.resembles)), ", which is gone: renamed?"),
    tool.claims?.length > 0 &&
      h(
        "div",
        { class: "row wrap gap6", key: "claims" },
        tool.claims.map((claim) => chip(claim, "claim")),
        h("span", { class: "s12 t3" }, "claimed by the server"),
      ),
    h(
      "div",
      { class: "col gap6", key: "description" },
      h("h3", {}, "Description"),
      h(
        "div",
        { class: `theirs ${hue(tool.server)}`, dir: "auto" },
        h("p", { class: "pre" }, shown(tool.description || "none")),
      ),
    ),
    h(
      "div",
      { class: "col gap6", key: "schema" },
      h("h3", {}, "Input schema"),
      json.code(json.text(tool.schema ?? {}), "Input schema"),
    ),
    notes(tool),
    tool.output_schema &&
      h(
        "div",
        { class: "col gap6", key: "output" },
        h("h3", {}, "Output schema"),
        json.code(json.text(tool.output_schema), "Output schema"),
      ),
    h(
      "dl",
      { class: "kv tight s12", key: "facts" },
      h("dt", {}, "Name for the model"),
      h("dd", {}, h("code", {}, shown(tool.called || tool.name))),
      h("dt", {}, "Costs"),
      h("dd", { class: "num" }, count(tool.tokens ?? 0, "token")),
      tool.fingerprint && [h("dt", {}, "Fingerprint"), h("dd", {}, h("code", {}, shown(tool.fingerprint)))],
    ),
  ];
}

/** A definition that is not as the person accepted it: the loud finding first, then word by word. */
function changed(tool) {
  const [chosen, list] = tabs(
    `held-${tool.id}`,
    "View of the definition",
    [
      ["words", "Words"],
      ["json", "JSON"],
    ],
    "seg small",
  );
  const definition = {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.schema,
    outputSchema: tool.output_schema,
  };
  return [
    h(
      "div",
      { class: "row gap12 top", key: "head" },
      back(),
      tile(tool.server, true),
      h(
        "div",
        { class: "grow" },
        h("h2", { class: "ask-t wrap-any" }, shown(tool.name), tool.is_new ? " is new" : " was changed by its server"),
        h(
          "p",
          { class: "t2" },
          tool.is_new
            ? "You have not seen it before. It is switched off until you decide."
            : "It is not what you saw last. It is switched off until you decide.",
        ),
      ),
    ),
    findings(tool),
    tool.resembles &&
      note("warn", "diff", "It looks like ", h("code", {}, shown(tool.resembles)), ", which is gone: renamed?"),
    h(
      "div",
      { class: "row", key: "view" },
      h("h3", {}, chosen === "json" ? "The new definition" : partOf(tool.held[0])),
      h(
        "span",
        { class: "push row gap12" },
        h("span", { class: "s12 t3" }, `${count(tool.held.length, "part")} ${tool.is_new ? "new" : "changed"}`),
        list,
      ),
    ),
    chosen === "json"
      ? h(
          "div",
          { class: `theirs ${hue(tool.server)}`, key: "json" },
          json.code(json.text(definition), "The new definition"),
        )
      : tool.held.map((change, at) =>
          h("div", { class: "col gap6", key: `c${at}` }, at > 0 && h("h3", {}, partOf(change)), diff(tool, change)),
        ),
    notes(tool),
    h(
      "dl",
      { class: "kv tight s12", key: "facts" },
      tool.fingerprint && [
        h("dt", {}, "Fingerprint"),
        h(
          "dd",
          {},
          h("code", {}, shown(tool.fingerprint)),
          tool.fingerprint_before && [
            h("span", { class: "t3" }, " was "),
            h("code", {}, shown(tool.fingerprint_before)),
          ],
        ),
      ],
      rulesOf(tool),
    ),
    h(
      "div",
      { class: "row wrap", key: "acts" },
      button("Keep it off", () => go("tools"), { kind: "primary" }),
      button(["Switch off ", shown(tool.server)], () => act("switch_server", { name: tool.server, on: false })),
      h("span", { class: "push" }),
      button("Accept the new definition…", () => change({ dialog: { kind: "accept", id: tool.id } }), {
        kind: "danger",
      }),
    ),
  ];
}

const PARTS = {
  description: "Description",
  title: "Title",
  inputSchema: "Input schema",
  outputSchema: "Output schema",
  annotations: "Claims",
};

/** Name a part of a definition: those that people know by their words, the others by their place. */
const partOf = (change) => (change ? (PARTS[change.where] ?? h("code", {}, shown(change.where))) : "Definition");

function rulesOf(tool) {
  const mine = board
    .all("rule")
    .filter((rule) => rule.effect === "allow" && rule.what === `${tool.server}/${tool.name}`);
  return [
    h("dt", {}, mine.length === 1 ? "Your rule" : "Your rules"),
    h(
      "dd",
      {},
      mine.length
        ? mine.map((rule) =>
            h(
              "p",
              {},
              `“${rule.scope === "chat" ? "Allow in this chat" : "Always allow"}” of ${day(rule.made)}, used ${count(rule.uses ?? 0, "time")}, is void`,
            ),
          )
        : "You had allowed nothing for it alone",
    ),
  ];
}

export function diff(tool, changed) {
  const side = (sign) => changed.words.filter(([each]) => each === " " || each === sign);
  const has = (sign) => changed.words.some(([each]) => each === sign);
  const row = (kind, sign, parts) =>
    h(
      "div",
      { class: kind },
      h("span", { class: "ln" }),
      h("span", { class: "sg", "aria-label": sign === "-" ? "before" : "now", role: "img" }, sign === "-" ? "−" : "+"),
      h(
        "span",
        {},
        parts.map(([each, text]) => (each === " " ? shown(text) : h(sign === "-" ? "del" : "ins", {}, shown(text)))),
      ),
    );
  return h(
    "div",
    { class: `diff seam ${hue(tool.server)}`, role: "figure", "aria-label": "Changes" },
    (has("-") || side(" ").length > 0) && row("del", "-", side("-")),
    has("+") || has("-") ? row("add", "+", side("+")) : null,
  );
}

export function acceptDialog({ id }) {
  const tool = board.get(id);
  const close = () => change({ dialog: null });
  if (!tool) return null;
  return dialog(
    "accept",
    { width: "w-560", close },
    h(
      "header",
      { class: "dlg-h" },
      tile(tool.server, true),
      h("div", { class: "grow" }, title("Accept the new definition?")),
    ),
    h(
      "div",
      { class: "dlg-b" },
      h("p", { class: "loud" }, icon("alert"), h("span", {}, "The model will read the new text as it stands.")),
      h(
        "p",
        {},
        "Calls of ",
        h("code", {}, shown(`${tool.server}/${tool.name}`)),
        " are asked again; rules from before stay void.",
      ),
    ),
    h(
      "footer",
      { class: "dlg-f" },
      h("span", { class: "push" }),
      button("Keep it off", close),
      button(
        "Accept it",
        async () => {
          close();
          await act("accept_tool", { id });
        },
        { kind: "danger" },
      ),
    ),
  );
}
