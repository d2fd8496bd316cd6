// Servers: how each one is, what it wrote and said, what it offers, and exactly what runs.

import { onlyOf } from "./activity.js";
import { add, takeOver } from "./adding.js";
import * as board from "./board.js";
import { act, give, toast } from "./commands.js";
import { h, plain, shown } from "./dom.js";
import { messages, output } from "./output.js";
import { button, chip, dot, empty, hue, iconButton, note, state, tabs, tile, toggle } from "./pieces.js";
import { bar } from "./shell.js";
import { diff } from "./tools.js";
import { change, go, redraw, route, ui } from "./state.js";
import { whatRuns } from "./trust.js";
import { count, day } from "./words.js";

const RANK = { crashed: 0, failed: 0, login: 1, untrusted: 1, starting: 2, ready: 3, asleep: 4, off: 5 };

const working = () =>
  new Set(
    board
      .all("call")
      .filter((call) => call.state === "running")
      .map((call) => call.server),
  );

export function servers() {
  const all = board.servers().sort((one, other) => (RANK[one.state] ?? 4) - (RANK[other.state] ?? 4));
  const busy = working();
  const chosen =
    all.find((each) => each.name === route().chosen) ?? (matchMedia("(min-width: 600px)").matches ? all[0] : null);
  const up = all.filter((each) => each.state === "ready").length;
  return [
    bar(
      "Servers",
      all.length ? `${up} of ${all.length} up` : "",
      button(h("span", { class: "no-phone" }, "Reload files"), reload, {
        kind: "quiet small",
        sign: "restart",
        title: "Read the files of servers again. Servers whose entries did not change go on.",
        "aria-label": "Reload files",
      }),
      button(h("span", { class: "no-phone" }, "Import"), takeOver, {
        kind: "quiet small",
        sign: "download",
        "aria-label": "Import from another host",
      }),
      button("Add server", add, { kind: "small", sign: "plus" }),
    ),
    all.length
      ? h(
          "div",
          { class: "cols l md fills", key: "cols", "data-show": route().chosen ? "detail" : "list" },
          h(
            "div",
            { class: "pane0 scroll", key: "list" },
            h(
              "div",
              { class: "list" },
              all.map((each) => line(each, state(each, busy.has(each.name)), each === chosen)),
            ),
          ),
          h(
            "div",
            {
              class: "pane rule",
              key: `detail-${chosen?.name}`,
              tabindex: 0,
              role: "region",
              "aria-label": chosen ? plain(chosen.name) : "Server",
            },
            chosen ? detail(chosen, state(chosen, busy.has(chosen.name))) : empty("server", "Choose a server", ""),
          ),
        )
      : empty(
          "server",
          "No servers yet",
          "A server brings tools, resources and prompts.",
          h(
            "div",
            { class: "row wrap" },
            button("Add server", add, { kind: "small", sign: "plus" }),
            button("Import from another host", takeOver, { kind: "quiet small", sign: "download" }),
          ),
        ),
  ];
}

/** Read the files of servers again, and say what came of it. */
async function reload() {
  const told = await act("reload");
  if (told) toast(told);
}

const offers = (item) =>
  [
    item.tools && count(item.tools, "tool"),
    item.resources && count(item.resources, "resource"),
    item.templates && count(item.templates, "template"),
    item.prompts && count(item.prompts, "prompt"),
  ]
    .filter(Boolean)
    .join(" · ");

function line(item, now, isOn) {
  const sub = item.word || (item.state === "asleep" ? "starts when first used" : offers(item)) || "offers nothing";
  return h(
    "a",
    {
      class: `li tall plainlink ${isOn ? "on" : ""}`,
      key: item.id,
      href: `#/servers/${encodeURIComponent(item.name)}`,
      "aria-current": isOn ? "true" : null,
    },
    tile(item.name),
    h(
      "span",
      { class: "grow col gap4" },
      h(
        "span",
        { class: "row gap6" },
        h("span", { class: "m clip" }, shown(item.name)),
        h("span", { class: `push s12 nowrap ${now.tone}` }, now.word),
        dot(now),
      ),
      h("span", { class: "s12 t3 clip" }, shown(sub)),
    ),
  );
}

function detail(item, now) {
  const [chosen, list] = tabs("server", "About the server", [
    ["output", "Output"],
    ["messages", "Messages", board.get(`output:${item.name}`)?.messages ?? 0],
    ["offers", "Capabilities"],
    ["tools", "Tools", item.tools ?? 0],
    ["config", "Configuration"],
  ]);
  return [
    h(
      "div",
      { class: "row gap12 top wrap head-row", key: "head" },
      iconButton("Back to the list", "right", () => go("servers"), "quiet small flip only-phone"),
      tile(item.name, true),
      h(
        "div",
        { class: "grow" },
        h("h2", { class: "ask-t wrap-any" }, shown(item.name)),
        h(
          "p",
          { class: "t3 s12" },
          item.title && shown(item.title),
          item.protocol && `${item.title ? " · " : ""}protocol ${plain(item.protocol)}`,
          item.source && [item.title || item.protocol ? " · from " : "from ", h("code", {}, shown(item.source))],
        ),
      ),
      h(
        "span",
        { class: "row gap6" },
        button("Open log", () => onlyOf(item.name), { kind: "quiet", sign: "activity", key: "log" }),
        moves(item),
      ),
    ),
    sentence(item, now),
    h("div", { key: "tabs" }, list),
    { output, messages, offers: capabilities, tools, config }[chosen](item),
  ];
}

/** What can be done with a server as it is now; the one that helps is the solid button. */
function moves(item) {
  const move = (words, command, sign, kind = "") =>
    button(words, () => act(command, { name: item.name }), { kind, sign, key: command });
  const restart = (kind) => move("Restart", "restart_server", "restart", kind);
  switch (item.state) {
    case "off":
      return [];
    case "asleep":
      return [move("Start", "start_server", "play", "primary")];
    case "untrusted":
      return [move("Look at its command", "start_server", "shield", "primary")];
    case "login":
      return [restart("quiet"), move("Sign in", "log_in", "out", "primary")];
    case "crashed":
    case "failed":
      return [restart("primary")];
    default:
      return [move("Stop", "stop_server", "stop", "quiet"), restart()];
  }
}

function sentence(item, now) {
  if (!now.isTroubled) return item.word ? note("", "info", shown(item.word)) : null;
  const isBad = now.tone === "bad";
  return h(
    "div",
    { key: "trouble" },
    note(
      isBad ? "bad" : "warn",
      isBad ? "alert" : "hand",
      h(
        "p",
        { class: "b" },
        shown(item.name),
        isBad
          ? ` ${now.word === "failed" ? "cannot be used" : "crashed"}.`
          : item.state === "login"
            ? " wants you to sign in."
            : " waits for your trust.",
      ),
      item.word && h("p", { class: "t2" }, shown(item.word)),
      item.last_words?.length > 0 &&
        h(
          "pre",
          { class: "mono s12 last-words" },
          item.last_words.map((each) => [shown(each), "\n"]),
        ),
    ),
  );
}

const USES = {
  tools: ["Offered to the model, each call as your rules say", (item) => item.tools && count(item.tools, "tool")],
  prompts: ["Under / in a message", (item) => item.prompts && count(item.prompts, "prompt")],
  resources: [
    "Under @ in a message; the model reads what is listed or named",
    (item) =>
      [item.resources && count(item.resources, "resource"), item.templates && count(item.templates, "template")]
        .filter(Boolean)
        .join(", "),
  ],
  "resources.subscribe": ["What you attached is watched, and marked when it changed"],
  completions: ["Suggestions while you fill in a prompt or an address"],
  logging: ["Shown under Output", null, true],
};

/** What a server offers, what the host does with it, and what the newest protocol no longer wants. */
function capabilities(item) {
  const all = item.capabilities ?? [];
  return h(
    "div",
    { class: "col gap12", key: "offers" },
    changedInstructions(item),
    item.instructions &&
      h(
        "div",
        { class: "col gap6" },
        h("h3", {}, "Instructions to the model"),
        (item.findings ?? []).map((each) =>
          note(each.is_grave ? "bad" : "warn", "alert", h("p", { class: "b" }, shown(each.what))),
        ),
        h(
          "div",
          { class: `theirs ${hue(item.name)}`, dir: "auto" },
          h("p", { class: "pre" }, shown(item.instructions)),
        ),
      ),
    all.length
      ? h(
          "dl",
          { class: "kv lined offers" },
          all.map((each) => capability(item, each)),
        )
      : h(
          "p",
          { class: "t3" },
          item.state === "asleep" ? "What it offers is not known before it starts." : "It offers nothing.",
        ),
    h(
      "dl",
      { class: "kv lined" },
      item.is_remembered && [
        h("dt", {}, "Counts"),
        h("dd", {}, offers(item), h("span", { class: "t3" }, " when it ran last")),
      ],
      item.protocol && [h("dt", {}, "Protocol"), h("dd", { class: "num" }, shown(item.protocol))],
      h("dt", {}, "Spoken over"),
      h(
        "dd",
        {},
        { stdio: "a pipe to the program", memory: "this process", sse: "HTTP with SSE, which is deprecated" }[
          item.transport
        ] ?? (item.runs && /^https?:/.test(item.runs) ? "HTTP" : "a pipe to the program"),
      ),
    ),
  );
}

function capability(item, each) {
  const [use, counted, isOld] = USES[each] ?? [
    each.endsWith(".listChanged")
      ? "Changes are taken over at once, and what changed is shown to you"
      : "Not used by this host",
  ];
  const number = counted?.(item);
  return [
    h("dt", { key: `t-${each}` }, h("code", {}, shown(each))),
    h(
      "dd",
      { key: each },
      number && h("span", { class: "m" }, number, ". "),
      h("span", { class: "t2" }, use, "."),
      isOld && [" ", chip("deprecated in the newest protocol", "warn")],
    ),
  ];
}

function changedInstructions(item) {
  return (
    item.held_instructions &&
    h(
      "div",
      { class: "col" },
      note(
        "bad",
        "alert",
        h("p", { class: "b" }, "Its instructions to the model changed."),
        h("p", { class: "t2" }, "The model has the old ones until you accept."),
      ),
      item.held_instructions.map((change) => diff({ server: item.name }, change)),
      h(
        "div",
        { class: "row wrap" },
        button(
          "Keep the old ones",
          () => {
            ui.tabs.set("server", "output");
            redraw();
          },
          { kind: "primary" },
        ),
        h("span", { class: "push" }),
        button("Accept all that changed", () => act("accept_tool", { id: item.id }), { kind: "danger" }),
      ),
    )
  );
}

function tools(item) {
  const all = board.tools(item.name);
  return h(
    "div",
    { class: "card", key: "tools" },
    all.length
      ? h(
          "div",
          { class: "list" },
          all.map((tool) =>
            h(
              "div",
              { class: "li", key: tool.id },
              h("a", { class: "m clip plainlink", href: `#/tools/${encodeURIComponent(tool.id)}` }, shown(tool.name)),
              tool.held && chip("changed", "warn"),
              h("span", { class: "t3 clip grow s12" }, shown(tool.title || tool.description)),
              h("span", { class: "end" }, tool.tokens ?? ""),
              toggle(tool.name, tool.is_on !== false && !tool.held, (on) => act("switch_tool", { id: tool.id, on }), {
                disabled: Boolean(tool.held),
              }),
            ),
          ),
        )
      : h("p", { class: "empty" }, "No tools are known."),
  );
}

const looks = new Map();

/** Ask what exactly a server is, when it is not known or may be another by now. */
function lookAt(item) {
  const state = `${item.runs}/${item.state}/${item.since}`;
  const known = looks.get(item.name);
  if (known?.state !== state) {
    looks.set(item.name, { state, look: known?.look });
    give("look_at", { name: item.name }).then(
      (look) => {
        looks.set(item.name, { state, look });
        redraw();
      },
      () => {},
    );
  }
  return known?.look;
}

const TRUST = { user: "Yours: you added it.", given: "Given when Splice was started." };

/** Exactly what runs, from where, and why it may. */
function config(item) {
  const look = lookAt(item);
  const told = board.all("root").filter((root) => !root.servers || root.servers.includes(item.name));
  return h(
    "div",
    { class: "col gap12 even", key: "config" },
    look
      ? whatRuns(item.name, look.asked, look.scope === "project" ? undefined : "")
      : h("p", { class: "t3 late" }, "Looking"),
    h(
      "dl",
      { class: "kv lined" },
      h("dt", {}, "From"),
      h("dd", {}, h("code", {}, shown(item.source || "this start of Splice"))),
      look && [
        h("dt", { key: "trust" }, "Trust"),
        h(
          "dd",
          { key: "trust-d" },
          TRUST[look.scope] ??
            (look.is_trusted
              ? [
                  "You trusted exactly this. ",
                  button("Withdraw", () => act("withdraw_trust", { name: item.name }), { kind: "small" }),
                ]
              : "Not trusted: you are asked before it starts."),
        ),
      ],
      h("dt", {}, "Folders told"),
      h(
        "dd",
        {},
        told.length
          ? h(
              "span",
              { class: "row wrap gap6" },
              told.map((root) => chip(root.name || root.uri, "", "folder")),
            )
          : h("span", { class: "t3" }, "none"),
        h(
          "span",
          { class: "s12 t3 block" },
          "A hint to servers, not a sandbox. ",
          h("a", { href: "#/settings" }, "Change"),
        ),
      ),
      item.since > 0 && [
        h("dt", { key: "since" }, state(item).word === "ready" ? "Up since" : "Like this since"),
        h("dd", { class: "num", key: "since-d" }, day(item.since)),
      ],
    ),
    h(
      "div",
      { class: "row wrap" },
      item.state === "off"
        ? button("Switch on", () => act("switch_server", { name: item.name, on: true }))
        : button("Switch off", () => act("switch_server", { name: item.name, on: false })),
      h("span", { class: "push" }),
      button("Remove…", () => change({ dialog: { kind: "remove", name: item.name, source: item.source } }), {
        kind: "danger",
      }),
    ),
  );
}
