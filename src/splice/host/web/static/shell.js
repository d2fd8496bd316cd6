// The frame: pages, chats and servers at the left, the bar above, the context at the right.

import * as board from "./board.js";
import { act } from "./commands.js";
import { h, icon, plain, shown } from "./dom.js";
import { button, dot, iconButton, menu, search, state, tile, toggleMenu } from "./pieces.js";
import { afterwards, change, go, kept, route, ui } from "./state.js";
import { count, tokens } from "./words.js";

export const PAGES = [
  ["chat", "Chat", "chat"],
  ["servers", "Servers", "server"],
  ["tools", "Tools", "tool"],
  ["resources", "Resources", "resource"],
  ["prompts", "Prompts", "prompt"],
  ["activity", "Activity", "activity"],
  ["permissions", "Permissions", "shield"],
];

/** From so many servers on, their list scrolls by itself and has a filter. */
const FILTER_FROM = 12;

const isNarrow = () => matchMedia("(max-width: 1023px)").matches;
const project = document.querySelector("meta[name=project]")?.content;

export function sidebar() {
  const here = route().page;
  const waiting = board.questions().length;
  const changed = board.all("tool").filter((tool) => tool.held).length;
  const badges = {
    chat: [waiting, `${waiting} waiting for you`],
    tools: [changed, `${count(changed, "tool")} changed`],
  };
  return h(
    "aside",
    { class: `side ${ui.drawer ? "open" : ""}`, "aria-label": "Sidebar", key: "side" },
    h(
      "div",
      { class: "side-top" },
      h("svg", { class: "mark", "aria-hidden": "true" }, h("use", { href: "/static/icons.svg#mark" })),
      h("div", { class: "brand" }, "Splice", project && h("small", {}, shown(project))),
      h("span", { class: "push" }),
      iconButton("New chat", "edit", newChat),
    ),
    h(
      "div",
      { class: "side-scroll" },
      h(
        "nav",
        { "aria-label": "Pages" },
        h(
          "ul",
          { class: "nav" },
          PAGES.map(([page, label, sign], at) => {
            const [number, words] = badges[page] ?? [0, ""];
            return h(
              "li",
              { key: page },
              h(
                "a",
                {
                  href: `#/${page}`,
                  "aria-current": here === page ? "page" : null,
                  title: `${label} (Ctrl ${at + 1})`,
                  "aria-label": label,
                  onclick: () => change({ drawer: false }),
                },
                icon(sign),
                h("span", { class: "clip" }, label),
                number > 0 && h("span", { class: "badge", role: "img", "aria-label": words }, String(number)),
              ),
            );
          }),
        ),
      ),
      chats(here),
      servers(here),
    ),
    h(
      "div",
      { class: "side-foot" },
      h(
        "a",
        {
          class: "btn quiet small",
          href: "#/settings",
          "aria-current": here === "settings" ? "page" : null,
          "aria-label": "Settings",
          title: "Settings",
          onclick: () => change({ drawer: false }),
        },
        icon("sliders"),
        h("span", { class: "lbl" }, "Settings"),
      ),
      h("span", { class: "push lbl" }),
      iconButton("Switch theme", "moon", switchTheme),
    ),
  );
}

async function newChat() {
  await act("new_chat");
  go("chat");
  document.querySelector(".say")?.focus();
}

/** Show or hide the sidebar: over the page where that is narrow, beside it where it is wide. */
export function toggleSidebar() {
  if (!isNarrow()) return change({ isFolded: kept("folded", ui.isFolded ? null : true) ?? false });
  change({ drawer: !ui.drawer });
  return afterwards(() =>
    (ui.drawer
      ? (document.querySelector(".side [aria-current=page]") ?? document.querySelector(".side a"))
      : document.querySelector(".bar .to-side button")
    )?.focus(),
  );
}

/** Close what lies over the page at its sides; tells whether there was something. */
export function closeSides() {
  if (ui.drawer) toggleSidebar();
  else if (ui.panel && matchMedia("(max-width: 1179px)").matches) change({ panel: false });
  else return false;
  return true;
}

function chats(here) {
  const all = board.chats();
  return h(
    "div",
    { class: "chats" },
    h("div", { class: "nav-h" }, h("span", {}, "Chats")),
    h(
      "ul",
      { class: "nav plain" },
      all.map((chat) =>
        h(
          "li",
          { key: chat.id, class: "chat-li anchor" },
          h(
            "button",
            {
              type: "button",
              "aria-current": chat.is_open && here === "chat" ? "true" : null,
              onclick: async () => {
                if (!chat.is_open) await act("open_chat", { id: board.keyOf(chat.id) });
                go("chat");
              },
            },
            h("span", { class: `clip ${chat.is_open ? "m" : ""}` }, shown(chat.title || "New chat")),
            chat.is_busy && h("span", { class: "dot busy", role: "img", "aria-label": "working" }),
          ),
          h(
            "span",
            { class: "chat-more" },
            iconButton(
              `More about ${plain(chat.title || "New chat")}`,
              "more",
              (event) => toggleMenu(chat.id, event),
              "quiet small",
              { "aria-haspopup": "menu", "aria-expanded": ui.menu === chat.id },
            ),
          ),
          menu(
            chat.id,
            [
              ["edit", "Rename", () => rename(chat)],
              ["x", "Delete", () => change({ dialog: { kind: "delete", chat } })],
            ],
            "below",
          ),
        ),
      ),
    ),
  );
}

const rename = (chat) => change({ dialog: { kind: "rename", chat, title: chat.title } });

function servers(here) {
  const all = board.servers();
  const up = all.filter((each) => each.state === "ready").length;
  const working = new Set(
    board
      .all("call")
      .filter((call) => call.state === "running")
      .map((call) => call.server),
  );
  const hasFilter = all.length >= FILTER_FROM;
  const found = hasFilter ? all.filter((each) => each.name.toLowerCase().includes(ui.serverWords.toLowerCase())) : all;
  return [
    h(
      "div",
      { class: "nav-h", key: "sh" },
      h("span", {}, "Servers"),
      all.length > 0 && h("span", { class: "num" }, `${up} of ${all.length} up`),
    ),
    hasFilter &&
      search("Filter servers", ui.serverWords, (serverWords) => change({ serverWords }), "w-find of-servers", {
        key: "filter",
      }),
    hasFilter && !found.length && h("p", { class: "s12 t3 none", key: "none" }, "No server has this name."),
    h(
      "ul",
      { class: `nav plain srv ${hasFilter ? "many" : ""}`, key: "srv" },
      all.length
        ? found.map((each) => {
            const now = state(each, working.has(each.name));
            return h(
              "li",
              { key: each.id },
              h(
                "a",
                {
                  href: `#/servers/${encodeURIComponent(each.name)}`,
                  title: `${plain(each.name)}: ${now.word}`,
                  "aria-current": here === "servers" && route().chosen === each.name ? "true" : null,
                  onclick: () => change({ drawer: false }),
                },
                tile(each.name),
                h("span", { class: "clip" }, shown(each.name)),
                h(
                  "span",
                  { class: "row gap6 push" },
                  h(
                    "span",
                    { class: `count ${now.isTroubled ? now.tone : ""}` },
                    now.isTroubled ? now.word : String(each.tools ?? 0),
                  ),
                  dot(now),
                ),
              ),
            );
          })
        : h(
            "li",
            {},
            h("a", { href: "#/servers" }, icon("plus"), h("span", { class: "clip" }, "No servers yet. Add one")),
          ),
    ),
  ];
}

function switchTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  setTheme(isDark ? "light" : "dark");
}

export function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  document.cookie = `theme=${theme || "system"}; path=/; max-age=31536000; samesite=strict`;
  change({});
}

/** The bar over a page. */
export function bar(title, words, ...kids) {
  const waiting = board.questions().length;
  return h(
    "header",
    { class: "bar", key: "bar" },
    h(
      "span",
      { class: "to-side" },
      iconButton("Menu", "menu", toggleSidebar, "quiet", { "aria-expanded": ui.drawer, title: "Sidebar ([)" }),
    ),
    h("h1", { class: "clip" }, shown(title)),
    words && h("span", { class: "s12 t3 num no-phone clip" }, words),
    h("span", { class: "push" }),
    kids,
    waiting > 0 &&
      route().page !== "chat" &&
      h("a", { class: "badge", href: "#/chat", "aria-label": `${waiting} waiting for you` }, String(waiting)),
  );
}

/** What fills the model's window, what goes along, what happened in this turn. */
export function context() {
  const meter = board.only("meter");
  const attached = board.only("context").attached ?? [];
  const roots = board.all("root");
  const kinds = [
    ["a", "Conversation", meter.conversation],
    [
      "b",
      `Tool definitions, ${board.tools().filter((tool) => tool.is_on !== false && !tool.held).length}`,
      meter.definitions,
    ],
    ["c", "Attached resources", meter.resources],
    ["d", "Tool results", meter.results],
  ];
  const used = kinds.reduce((sum, [, , number]) => sum + (number ?? 0), 0);
  return h(
    "aside",
    { class: "panel", "aria-label": "Context", key: "panel" },
    h(
      "div",
      { class: "panel-h" },
      "Context",
      h("span", { class: "push" }),
      iconButton("Hide panel", "panel", () => change({ panel: false }), "quiet small", { title: "Hide panel (])" }),
    ),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "What the model gets" },
      h(
        "section",
        {},
        h("h2", {}, h("span", {}, "Window"), h("span", { class: "num" }, `${tokens(used)} of ${tokens(meter.window)}`)),
        bars(kinds, meter.window || 1, used),
        h(
          "dl",
          { class: "kv tight s12" },
          kinds.map(([key, label, number]) => [
            h("dt", { class: "row gap6" }, h("span", { class: `key ${key}` }), label),
            h("dd", { class: "num push" }, tokens(number)),
          ]),
        ),
        meter.is_searching &&
          h(
            "p",
            { class: "hint" },
            "There are so many tools that the model searches for them instead of carrying all.",
          ),
      ),
      h(
        "section",
        {},
        h(
          "h2",
          {},
          h("span", {}, "Attached"),
          button("Add", () => change({ dialog: { kind: "attach" } }), { kind: "quiet small", sign: "plus" }),
        ),
        attached.length
          ? h(
              "div",
              { class: "col gap6" },
              attached.map((each) =>
                h(
                  "div",
                  { class: "row top", key: each.uri },
                  tile(each.server),
                  h(
                    "div",
                    { class: "grow" },
                    h(
                      "div",
                      { class: "row gap6" },
                      h("span", { class: "clip m" }, shown(each.name || each.uri)),
                      h("span", { class: "push s12 t3 num" }, tokens(each.tokens)),
                      iconButton(
                        `Take ${plain(each.name || each.uri)} off`,
                        "x",
                        () => act("detach", { uri: each.uri }),
                        "quiet tiny",
                      ),
                    ),
                    h("div", { class: "s11 t3 mono clip", title: plain(each.uri) }, shown(each.uri)),
                    each.is_stale &&
                      h(
                        "button",
                        { type: "button", class: "linkish s12", onclick: () => act("refresh", { uri: each.uri }) },
                        "Changed on server, refresh",
                      ),
                  ),
                ),
              ),
            )
          : h("p", { class: "s12 t3" }, "Nothing goes along. Type @ to attach a resource."),
      ),
      h(
        "section",
        {},
        h(
          "h2",
          {},
          h("span", {}, "This turn"),
          meter.max_calls ? h("span", { class: "num" }, `${meter.calls ?? 0} of ${meter.max_calls} calls`) : null,
        ),
        turn(meter),
      ),
      h(
        "section",
        {},
        h("h2", { title: "A hint to servers, not a sandbox" }, h("span", {}, "Folders shown to servers")),
        roots.length
          ? roots.map((root) =>
              h(
                "p",
                { class: "row s12 t2", key: root.id },
                icon("folder", "i-s"),
                h("span", { class: "clip", title: plain(root.uri) }, shown(root.name || root.uri)),
              ),
            )
          : h("p", { class: "s12 t3" }, "None. A folder is a hint to servers, not a sandbox."),
      ),
    ),
  );
}

function bars(kinds, window, used) {
  let at = 0;
  const wide = (number) => Math.max(number ? 2 : 0, Math.round((280 * (number ?? 0)) / window));
  return h(
    "svg",
    {
      class: "meter",
      viewBox: "0 0 280 8",
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `${tokens(used)} of ${tokens(window)} tokens used`,
    },
    h("rect", { width: 280, height: 8 }),
    kinds.map(([key, , number]) => {
      const x = at;
      at += wide(number);
      return h("rect", { class: key, x, width: wide(number), height: 8 });
    }),
  );
}

function turn(meter) {
  const now = board.chat()?.turn;
  const steps = board
    .thread()
    .filter((each) => each.kind === "call" && each.turn === now)
    .map((call) => (call.trail ?? []).find((step) => step.what.startsWith("Allowed")))
    .filter(Boolean);
  const mine = steps.filter((step) => step.who.startsWith("you")).length;
  return h(
    "dl",
    { class: "kv tight s12" },
    h("dt", {}, "Allowed by rule"),
    h("dd", { class: "num push" }, String(steps.length - mine)),
    h("dt", {}, "Allowed by you"),
    h("dd", { class: "num push" }, String(mine)),
    h("dt", {}, "Untrusted data"),
    h("dd", { class: "push" }, meter.untrusted?.length ? shown(meter.untrusted.join(", ")) : "none"),
  );
}
