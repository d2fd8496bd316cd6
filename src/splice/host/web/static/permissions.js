// Permissions: what was allowed or denied for good, when, how often it was used; and the way back.

import * as board from "./board.js";
import { act, give, toast } from "./commands.js";
import { dialog, title } from "./dialog.js";
import { h, icon, shown } from "./dom.js";
import { controls } from "./fields.js";
import { button, empty, note, tile, toggle } from "./pieces.js";
import { bar } from "./shell.js";
import { change, ui } from "./state.js";
import { count, day } from "./words.js";

const EFFECTS = { deny: ["Deny", "bad", "x"], ask: ["Ask", "", "hand"], allow: ["Allow", "ok", "check"] };
const ORDER = { deny: 0, ask: 1, allow: 2 };

/** Take rules back. One toast has the way back for all of them. */
async function revoke(...rules) {
  const gone = [];
  for (const rule of rules) if ((await act("revoke", { rule: rule.id })) !== undefined) gone.push(rule);
  if (!gone.length) return;
  const undo = async () => {
    for (const rule of gone) await act("restore", { rule: rule.id });
  };
  toast(gone.length === 1 ? `Rule revoked: ${gone[0].what}` : `${gone.length} rules revoked`, "ok", { undo });
}

export function permissions() {
  const rules = board
    .all("rule")
    .sort((one, other) => ORDER[one.effect] - ORDER[other.effect] || (one.scope === "chat" ? -1 : 1));
  const number = (effect, scope) =>
    rules.filter((each) => !each.void && each.effect === effect && (!scope || each.scope === scope)).length;
  const settings = board.only("settings").values ?? {};
  const allowed = rules.filter((each) => each.effect === "allow");
  const outside = (settings.asks_after_outside ?? true) ? ", or untrusted data in the turn" : "";
  const flow = [
    ["Blocked", "untrusted or changed"],
    ["Denied", count(number("deny"), "rule")],
    ["Always asked", `${count(number("ask"), "rule")}${outside}`],
    ["This chat", count(number("allow", "chat"), "grant")],
    ["Allowed", count(number("allow", "always"), "rule")],
    ["Asked", "all else"],
  ];
  return [
    bar(
      "Permissions",
      "",
      allowed.length > 1 &&
        button("Revoke all", () => revoke(...allowed), {
          kind: "quiet small",
          title: "Revoke everything that is allowed",
        }),
      button("Add a rule", () => change({ dialog: { kind: "rule", values: { effect: "ask" } } }), {
        kind: "small",
        sign: "plus",
      }),
    ),
    h(
      "div",
      { class: "scroll", key: "scroll", tabindex: 0, role: "region", "aria-label": "Permissions" },
      h(
        "div",
        { class: "page" },
        h(
          "section",
          { class: "col gap6" },
          h("h2", { class: "s14 b" }, "How a call is decided"),
          h("p", { class: "t2" }, "In this order, the first that matches. A deny wins over every allow."),
          h(
            "ol",
            { class: "flow" },
            flow.map(([name, words]) => h("li", {}, h("b", {}, name), h("span", {}, words))),
          ),
        ),
        h(
          "section",
          { class: "col gap6" },
          h(
            "div",
            { class: "row wrap" },
            h("h2", { class: "s14 b" }, "Rules"),
            h("span", { class: "s12 t3" }, "kept in your own file, outside any project"),
          ),
          h(
            "div",
            { class: "card bleed" },
            rules.length ? table(rules) : empty("shield", "You have allowed nothing for good.", "Everything is asked."),
          ),
        ),
        h("div", { class: "two" }, trusted(), caution(settings)),
      ),
    ),
  ];
}

const decoded = (name) => {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
};

/** What a rule is about: the server, the tool, and in words what it holds for. */
function about(rule) {
  const [, kind, name] = /^(reads|sampling) (.*)$/.exec(rule.what) ?? [];
  if (kind)
    return { server: decoded(name), tool: "", holds: kind === "reads" ? "tools that only read" : "uses of your model" };
  const [server, ...rest] = rule.what.split("/");
  const tool = rest.join("/");
  return {
    server: decoded(server),
    tool: decoded(tool),
    holds: tool === "*" ? "every tool" : rule.effect === "ask" ? "each time" : "",
  };
}

function table(rules) {
  return h(
    "table",
    { class: "table roomy" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { class: "c-eff" }, "Effect"),
        h("th", {}, "Server and tool"),
        h("th", { class: "c-wide" }, "Holds"),
        h("th", { class: "c-wide" }, "Given"),
        h("th", { class: "c-num r" }, "Used"),
        h("th", { class: "c-btn" }, h("span", { class: "sr" }, "Revoke")),
      ),
    ),
    h(
      "tbody",
      {},
      rules.map((rule) => {
        const [word, tone, sign] = rule.void ? ["Void", "warn", "alert"] : EFFECTS[rule.effect];
        const { server, tool, holds } = about(rule);
        const scope = [rule.scope === "chat" ? "this chat" : "always", holds].filter(Boolean).join(", ");
        return h(
          "tr",
          { key: rule.id },
          h("td", {}, h("span", { class: `chip ${tone}` }, icon(sign), word)),
          h(
            "td",
            {},
            h(
              "span",
              { class: "row" },
              board.server(server) && tile(server),
              h("span", { class: "m clip" }, shown(server)),
              tool && [h("span", { class: "t3" }, "/"), h("code", { class: "clip" }, shown(tool))],
            ),
          ),
          h("td", { class: "t2" }, rule.void ? shown(`void: ${rule.void}`) : scope),
          h("td", { class: "t2 num" }, rule.made ? day(rule.made) : ""),
          h("td", { class: "r t2" }, String(rule.uses ?? 0)),
          h(
            "td",
            { class: "r" },
            button("Revoke", () => revoke(rule), { kind: "small", "aria-label": `Revoke: ${word} ${rule.what}` }),
          ),
        );
      }),
    ),
  );
}

function trusted() {
  const all = board.servers().filter((each) => !["untrusted"].includes(each.state));
  return h(
    "section",
    { class: "col gap6", key: "trusted" },
    h("h2", { class: "s14 b" }, "Trusted to start"),
    h(
      "div",
      { class: "card bleed" },
      all.length
        ? h(
            "div",
            { class: "list" },
            all.map((each) =>
              h(
                "a",
                { class: "li plainlink", key: each.id, href: `#/servers/${encodeURIComponent(each.name)}` },
                tile(each.name),
                h("span", { class: "m clip" }, shown(each.name)),
                h("code", { class: "t3 clip grow" }, shown(each.runs)),
                each.fingerprint &&
                  h("span", { class: "end mono", title: "Fingerprint of what runs" }, shown(each.fingerprint)),
              ),
            ),
          )
        : h("p", { class: "empty" }, "No server yet."),
    ),
  );
}

const CAUTION = [
  ["asks_after_outside", "Ask again once text from outside came into the turn", true],
  ["reviews_results", "Show results of tools that go outside before the model reads them", false],
  ["holds_new_tools", "New tools of known servers wait until you accept them", false],
];

function caution(settings) {
  return h(
    "section",
    { class: "col gap6", key: "caution" },
    h("h2", { class: "s14 b" }, "Caution"),
    h(
      "div",
      { class: "card card-b col gap12" },
      CAUTION.map(([name, words, usual]) =>
        h(
          "div",
          { class: "row gap12", key: name },
          toggle(words, settings[name] ?? usual, (on) => act("set", { name, value: on })),
          h("span", { class: "grow" }, words),
        ),
      ),
    ),
    note("s12", "info", "What a server claims of its tools only ever lowers caution where you trust the server."),
  );
}

const EVERY = 0; // no name of a tool
const READS = 1;
const named = (name) =>
  encodeURIComponent(name)
    .replace(/[!'*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/%(40|3A|2B|2C|26|3D|28|29)/g, decodeURIComponent);

/** A rule of the person's own: what happens with a tool, whoever calls it. */
export function ruleDialog({ values, problem }) {
  const close = () => change({ dialog: null });
  const offered = board.tools(values.server).map((tool) => [tool.name, tool.name]);
  const fields = [
    {
      kind: "one",
      name: "effect",
      title: "What happens",
      is_required: true,
      choices: [
        ["deny", "Deny"],
        ["ask", "Always ask"],
        ["allow", "Allow"],
      ],
    },
    {
      kind: "one",
      name: "server",
      title: "Server",
      is_required: true,
      choices: board.servers().map((each) => [each.name, each.name]),
    },
    values.server && {
      kind: "one",
      name: "tool",
      title: "Tool",
      is_required: true,
      choices: [
        [EVERY, "Every tool"],
        ...(values.effect === "allow" ? [[READS, "Tools that say they only read"]] : []),
        ...offered,
      ],
    },
  ].filter(Boolean);
  const set = (name, value) =>
    change({
      dialog: {
        ...ui.dialog,
        problem: "",
        values: { ...ui.dialog.values, [name]: value, ...(name === "server" ? { tool: undefined } : {}) },
      },
    });
  const isReads = values.tool === READS && values.effect === "allow";
  const what = isReads
    ? `reads ${named(values.server)}`
    : `${named(values.server ?? "")}/${values.tool === EVERY ? "*" : named(String(values.tool ?? ""))}`;
  const isWhole = values.server && values.tool !== undefined && (values.tool !== READS || isReads);
  const add = async () => {
    try {
      await give("grant", { effect: values.effect, what });
      close();
    } catch (error) {
      change({ dialog: { ...ui.dialog, problem: error.message } });
    }
  };
  return dialog(
    "rule",
    { width: "w-560", close },
    h(
      "header",
      { class: "dlg-h" },
      h(
        "div",
        { class: "grow" },
        title("Add a rule"),
        h("p", { class: "s12 t3" }, "It holds in every chat until you revoke it."),
      ),
    ),
    h(
      "div",
      { class: "dlg-b col gap16" },
      controls(fields, values, { id: "rule", problems: {}, set }),
      values.effect === "allow" &&
        h("p", { class: "loud" }, icon("alert"), h("span", {}, "Such calls then run without a question.")),
      problem && note("bad", "alert", shown(problem)),
    ),
    h(
      "footer",
      { class: "dlg-f" },
      h("span", { class: "push" }),
      button("Cancel", close),
      button("Add the rule", add, { kind: "primary", off: !isWhole, why: "Choose a server and a tool" }),
    ),
  );
}
