// Settings: saved at once, each with a tick.

import * as board from "./board.js";
import { act, signed, toast } from "./commands.js";
import { h, icon, shown } from "./dom.js";
import { button, iconButton, toggle } from "./pieces.js";
import { bar, setTheme } from "./shell.js";
import { redraw } from "./state.js";
import { tokens } from "./words.js";

const LIMITS = [["max_calls", "Calls in a turn", "then you are asked whether to go on", 25], ["max_repeats", "Equal calls in a turn", "the same tool with the same arguments", 3], ["call_seconds", "Seconds for a call", "without the time that you take", 120], ["result_tokens", "Tokens of a result", "the model pages through the rest", 25_000], ["max_tokens", "Tokens of an answer", "of the model, at most", 4_096]];

let folder = "";

async function save(name, value) {
  if ((await act("set", { name, value })) !== undefined) toast("Saved");
}

export function settings() {
  const values = board.only("settings").values ?? {};
  return [bar("Settings"), h("div", { class: "scroll", key: "scroll", tabindex: 0, role: "region", "aria-label": "Settings" }, h("div", { class: "page narrow" }, models(), appearance(), limits(values), folders(), privacy(values), data()))];
}

const section = (title, words, ...kids) => h("section", { class: "col gap6", key: title }, h("h2", { class: "s14 b" }, title), words && h("p", { class: "t2" }, words), kids);

function models() {
  const all = board.all("model");
  return section("Model", "It reads the conversation, and asks for calls. You decide about those.",
    h("div", { class: "col gap6", role: "radiogroup", "aria-label": "Model" }, all.map((each) => h("button", { type: "button", class: "opt", role: "radio", key: each.id, "aria-checked": Boolean(each.is_chosen), onclick: () => !each.is_chosen && act("choose_model", { id: each.id }) }, h("span", { class: "radio" }), h("span", { class: "grow col gap4" }, h("span", { class: "m" }, shown(board.labelOf(each)), each.is_ai === false && h("span", { class: "t3" }, " · no AI")), h("span", { class: "s12 t3" }, shown([each.where, each.window && `${tokens(each.window)} tokens`].filter(Boolean).join(" · ") || "on this computer, offline"))), each.is_found && h("span", { class: "chip" }, "found here")))),
    !all.length && h("p", { class: "t3" }, "No model is set up."), h("div", {}, button("Look for models on this computer", () => act("find_models"), { kind: "small", sign: "search" })));
}

function appearance() {
  const now = document.documentElement.dataset.theme ?? "";
  return section("Appearance", "", h("div", { class: "seg self-start", role: "radiogroup", "aria-label": "Theme" }, [["", "As the system"], ["light", "Light"], ["dark", "Dark"]].map(([each, words]) => h("button", { type: "button", role: "radio", key: words, "aria-checked": now === each, onclick: () => setTheme(each) }, words))));
}

function limits(values) {
  return section("Limits", "", h("div", { class: "card card-b col gap12" }, LIMITS.map(([name, label, words, usual]) => h("div", { class: "row gap12 wrap", key: name }, h("label", { class: "grow", for: name }, h("span", { class: "m block" }, label), h("span", { class: "s12 t3" }, words)), h("div", { class: "input w-number" }, h("input", { id: name, class: "num", inputmode: "numeric", value: String(values[name] ?? usual), onchange: (event) => { const number = Number(event.target.value.replace(/\D/g, "")); if (number > 0) save(name, number); else redraw(); } }))))));
}

function folders() {
  const all = board.all("root");
  const add = async () => { if (!folder.trim()) return; if ((await act("add_root", { path: folder.trim() })) !== undefined) folder = ""; redraw(); };
  return section("Folders shown to servers", "A hint to servers, not a sandbox: a local program can read what you can.",
    all.length > 0 && h("div", { class: "card" }, h("div", { class: "list" }, all.map((root) => h("div", { class: "li", key: root.id }, icon("folder"), h("span", { class: "m clip" }, shown(root.name || root.uri)), h("code", { class: "t3 clip grow" }, shown(root.uri)), iconButton(`Remove ${root.name || root.uri}`, "x", () => act("remove_root", { uri: root.uri })))))),
    h("div", { class: "row" }, h("div", { class: "input grow" }, h("input", { "aria-label": "Folder", placeholder: "/home/you/trips", value: folder, oninput: (event) => { folder = event.target.value; redraw(); }, onkeydown: (event) => event.key === "Enter" && add() })), button("Add folder", add, { off: !folder.trim() })));
}

function privacy(values) {
  return section("Privacy", "", h("div", { class: "card card-b row gap12" }, toggle("Keep long arguments and results whole in the activity log", values.keeps_bodies ?? false, (on) => save("keeps_bodies", on)), h("span", { class: "grow" }, "Keep long arguments and results whole in the activity log", h("span", { class: "s12 t3 block" }, "Secrets are taken out before anything is written."))));
}

function data() {
  return section("Data", "Chats, the activity log and your rules stay on this computer.", h("div", { class: "row wrap" }, h("a", { class: "btn", href: signed("/export"), download: "splice-activity.jsonl" }, icon("download"), "Export the activity log")));
}
