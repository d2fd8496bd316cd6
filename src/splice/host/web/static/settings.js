// Settings: saved at once, each with a tick.

import * as board from "./board.js";
import { act, give, signed, toast } from "./commands.js";
import { dialog, title } from "./dialog.js";
import { h, icon, shown } from "./dom.js";
import { begin } from "./first.js";
import { keyChoice, modelChoice } from "./models.js";
import { button, iconButton, toggle } from "./pieces.js";
import { bar, setTheme } from "./shell.js";
import { change, redraw, ui } from "./state.js";
import { count } from "./words.js";

const LIMITS = [
  ["max_calls", "Calls in a turn", "then you are asked whether to go on", 25],
  ["max_repeats", "Equal calls in a turn", "the same tool with the same arguments", 3],
  ["max_turn_tokens", "Tokens in a turn", "read and written; then you are asked whether to go on", 1_000_000],
  ["call_seconds", "Seconds for a call", "without the time that you take", 120],
  ["result_tokens", "Tokens of a result", "the model pages through the rest", 25_000],
  ["max_tokens", "Tokens of an answer", "of the model, at most", 4_096],
];

const TICK_MS = 2500;
const ticks = new Map(); // what was saved just now
const wrong = new Map(); // what the host said of a value that does not fit
const typed = new Map(); // what stands in fields that were not left yet
let folder = "";

/** Save a setting, and say so beside it, or why not. */
async function save(name, value) {
  try {
    await give("set", { name, value });
    wrong.delete(name);
    tick(name);
  } catch (error) {
    ticks.delete(name);
    wrong.set(name, error.message);
    redraw();
  }
}

function tick(name) {
  const at = performance.now();
  ticks.set(name, at);
  redraw();
  setTimeout(() => {
    if (ticks.get(name) === at) {
      ticks.delete(name);
      redraw();
    }
  }, TICK_MS);
}

const saved = (name) =>
  h(
    "span",
    { class: "saved s12 ok", role: "status", key: "saved" },
    ticks.has(name) && [icon("check", "i-s"), "Saved"],
  );

const failure = (name) =>
  wrong.has(name) &&
  h(
    "p",
    { class: "error", id: `${name}-error`, role: "alert", key: "error" },
    icon("alert"),
    h("span", {}, shown(wrong.get(name))),
  );

export function settings() {
  const values = board.only("settings").values ?? {};
  return [
    bar("Settings"),
    h(
      "div",
      { class: "scroll", key: "scroll", tabindex: 0, role: "region", "aria-label": "Settings" },
      h(
        "div",
        { class: "page narrow" },
        models(values),
        appearance(),
        limits(values),
        folders(),
        privacy(values),
        data(),
      ),
    ),
  ];
}

const section = (title, words, ...kids) =>
  h(
    "section",
    { class: "col gap6", key: title },
    h("h2", { class: "s14 b" }, title),
    words && h("p", { class: "t2" }, words),
    kids,
  );

function models(values) {
  return section(
    "Model",
    "It reads the conversation, and asks for calls. You decide about those.",
    modelChoice(),
    h("details", { class: "more-keys" }, h("summary", {}, icon("right", "i-s"), "Models with a key"), keyChoice()),
    h(
      "div",
      { class: "field" },
      h(
        "div",
        { class: "row" },
        h("label", { class: "label", for: "instructions" }, "What every model is told first"),
        h("span", { class: "push" }),
        saved("instructions"),
      ),
      h("textarea", {
        class: "input",
        rows: 3,
        maxlength: 20_000,
        placeholder: "Answer in short sentences. Prices are in euros.",
        ...field("instructions", values.instructions ?? "", (node) => save("instructions", node.value || null)),
      }),
    ),
    failure("instructions"),
  );
}

/** A field that is saved when it is left: what is being typed stays while the page is drawn. */
const field = (name, value, onchange) => ({
  id: name,
  value: typed.get(name) ?? String(value),
  oninput: (event) => typed.set(name, event.target.value),
  onchange: (event) => {
    typed.delete(name);
    onchange(event.target);
  },
  "aria-invalid": wrong.has(name) ? true : null,
  "aria-describedby": wrong.has(name) ? `${name}-error` : null,
});

function appearance() {
  const now = document.documentElement.dataset.theme ?? "";
  return section(
    "Appearance",
    "",
    h(
      "div",
      { class: "row wrap" },
      h(
        "div",
        { class: "seg self-start", role: "radiogroup", "aria-label": "Theme" },
        [
          ["", "As the system"],
          ["light", "Light"],
          ["dark", "Dark"],
        ].map(([each, words]) =>
          h(
            "button",
            {
              type: "button",
              role: "radio",
              key: words,
              "aria-checked": now === each,
              onclick: () => {
                setTheme(each);
                tick("theme");
              },
            },
            words,
          ),
        ),
      ),
      saved("theme"),
    ),
  );
}

function limits(values) {
  return section(
    "Limits",
    "",
    h(
      "div",
      { class: "card card-b col gap12" },
      LIMITS.map(([name, label, words, usual]) =>
        h(
          "div",
          { class: "col gap4", key: name },
          h(
            "div",
            { class: "row gap12 wrap" },
            h(
              "label",
              { class: "grow", for: name },
              h("span", { class: "m block" }, label),
              h("span", { class: "s12 t3" }, words),
            ),
            saved(name),
            h(
              "div",
              { class: "input w-number" },
              h("input", {
                class: "num",
                inputmode: "numeric",
                onkeydown: (event) => event.key === "Enter" && event.target.blur(),
                ...field(name, values[name] ?? usual, (node) => limit(name, node)),
              }),
            ),
          ),
          failure(name),
        ),
      ),
    ),
  );
}

function limit(name, node) {
  const number = Number(node.value.trim().replaceAll(/[ ,_]/g, ""));
  if (Number.isInteger(number)) return save(name, number);
  wrong.set(name, "A whole number is needed");
  return redraw();
}

function folders() {
  const all = board.all("root");
  const add = async () => {
    if (!folder.trim()) return;
    if ((await act("add_root", { path: folder.trim() })) !== undefined) {
      folder = "";
      tick("roots");
    }
    redraw();
  };
  return section(
    "Folders shown to servers",
    "A hint to servers, not a sandbox: a local program can read what you can.",
    all.length > 0 &&
      h(
        "div",
        { class: "card" },
        h(
          "div",
          { class: "list" },
          all.map((root) =>
            h(
              "div",
              { class: "li", key: root.id },
              icon("folder"),
              h("span", { class: "m clip" }, shown(root.name || root.uri)),
              h("code", { class: "t3 clip grow" }, shown(root.uri)),
              iconButton(`Remove ${root.name || root.uri}`, "x", async () => {
                if ((await act("remove_root", { uri: root.uri })) !== undefined) tick("roots");
              }),
            ),
          ),
        ),
      ),
    h(
      "div",
      { class: "row" },
      h(
        "div",
        { class: "input grow" },
        h("input", {
          "aria-label": "Folder",
          placeholder: "/home/you/trips",
          value: folder,
          oninput: (event) => {
            folder = event.target.value;
            redraw();
          },
          onkeydown: (event) => event.key === "Enter" && add(),
        }),
      ),
      button("Add folder", add, { off: !folder.trim() }),
      saved("roots"),
    ),
  );
}

const BODIES = "Keep long arguments and results whole in the activity log";

function privacy(values) {
  return section(
    "Privacy",
    "",
    h(
      "div",
      { class: "card card-b row gap12" },
      toggle(BODIES, values.keeps_bodies ?? false, (on) => save("keeps_bodies", on)),
      h(
        "span",
        { class: "grow" },
        BODIES,
        h("span", { class: "s12 t3 block" }, "Secrets are taken out before anything is written."),
      ),
      saved("keeps_bodies"),
    ),
    failure("keeps_bodies"),
  );
}

function data() {
  const chats = board.chats().length;
  return section(
    "Data",
    "Chats, the activity log and your rules stay on this computer.",
    h(
      "div",
      { class: "row wrap" },
      h(
        "a",
        { class: "btn", href: signed("/export"), download: "splice-activity.jsonl" },
        icon("download"),
        "Export the activity log",
      ),
      button("Show the first steps", begin, { kind: "quiet" }),
    ),
    h(
      "div",
      { class: "row wrap" },
      button("Delete all chats…", () => change({ dialog: { kind: "wipe", what: "chats", number: chats } }), {
        kind: "danger",
      }),
      button("Delete old activity…", () => change({ dialog: { kind: "wipe", what: "log" } }), { kind: "danger" }),
    ),
  );
}

const WIPES = {
  chats: {
    title: "Delete all chats?",
    words: (number) =>
      `${count(number, "chat")} with all that was said in them. The activity log keeps what servers did. This cannot be undone.`,
    go: "Delete all chats",
    act: deleteChats,
  },
  log: {
    title: "Delete old activity?",
    words: () =>
      "The activity of every earlier start of Splice that has ended. What happened since this start is kept. This cannot be undone.",
    go: "Delete old activity",
    act: deleteLog,
  },
};

/** Ask once more before something is deleted for good. */
export function wipeDialog({ what, number }) {
  const close = () => change({ dialog: null });
  const wipe = WIPES[what];
  return dialog(
    "wipe",
    { width: "w-560", close },
    h("header", { class: "dlg-h" }, h("div", { class: "grow" }, title(wipe.title))),
    h("div", { class: "dlg-b" }, h("p", {}, wipe.words(number))),
    h(
      "footer",
      { class: "dlg-f" },
      h("span", { class: "push" }),
      button("Keep everything", close),
      button(
        wipe.go,
        () => {
          close();
          wipe.act();
        },
        { kind: "danger" },
      ),
    ),
  );
}

async function deleteChats() {
  const all = board.chats().sort((one, other) => Number(Boolean(one.is_open)) - Number(Boolean(other.is_open)));
  for (const each of all) if ((await act("delete_chat", { id: board.keyOf(each.id) })) === undefined) return;
  ui.open.clear();
  toast(`${count(all.length, "chat")} deleted`);
}

async function deleteLog() {
  const number = await act("delete_log");
  if (number !== undefined)
    toast(number ? `The activity of ${count(number, "earlier start")} was deleted` : "There was nothing older");
}
