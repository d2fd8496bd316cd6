// Servers: how each one is, what it wrote, what it offers, and exactly what runs.

import * as board from "./board.js";
import { act, give } from "./commands.js";
import { dialog, title } from "./dialog.js";
import { h, icon, plain, shown } from "./dom.js";
import * as json from "./json.js";
import { button, chip, copy, dot, empty, hue, iconButton, note, state, tabs, tile, toggle } from "./pieces.js";
import { bar } from "./shell.js";
import { diff } from "./tools.js";
import { change, go, redraw, route, ui } from "./state.js";
import { clock, count, day } from "./words.js";

const RANK = { crashed: 0, failed: 0, login: 1, untrusted: 1, starting: 2, ready: 3, asleep: 4, off: 5 };
const MAX_LINES = 2000;

const working = () => new Set(board.all("call").filter((call) => call.state === "running").map((call) => call.server));

export function servers() {
  const all = board.servers().sort((one, other) => (RANK[one.state] ?? 4) - (RANK[other.state] ?? 4));
  const busy = working();
  const chosen = all.find((each) => each.name === route().chosen) ?? (matchMedia("(min-width: 600px)").matches ? all[0] : null);
  const up = all.filter((each) => each.state === "ready").length;
  return [
    bar("Servers", `${up} of ${all.length} up`, button("Add server", () => change({ dialog: { kind: "add", name: "", source: "", error: "" } }), { kind: "small", sign: "plus" })),
    all.length ? h("div", { class: "cols l md fills", key: "cols", "data-show": route().chosen ? "detail" : "list" },
      h("div", { class: "pane0 scroll", key: "list" }, h("div", { class: "list" }, all.map((each) => line(each, state(each, busy.has(each.name)), each === chosen)))),
      h("div", { class: "pane rule", key: `detail-${chosen?.name}`, tabindex: 0, role: "region", "aria-label": chosen ? plain(chosen.name) : "Server" }, chosen ? detail(chosen, state(chosen, busy.has(chosen.name))) : empty("server", "Choose a server", "")))
      : empty("server", "No servers yet", "A server brings tools, resources and prompts.", button("Add server", () => change({ dialog: { kind: "add", name: "", source: "", error: "" } }), { kind: "small", sign: "plus" })),
  ];
}

const offers = (item) => [item.tools && count(item.tools, "tool"), item.resources && count(item.resources, "resource"), item.templates && count(item.templates, "template"), item.prompts && count(item.prompts, "prompt")].filter(Boolean).join(" · ");

function line(item, now, isOn) {
  const sub = item.word || (item.state === "asleep" ? "starts when first used" : offers(item)) || "offers nothing";
  return h("a", { class: `li tall plainlink ${isOn ? "on" : ""}`, key: item.id, href: `#/servers/${encodeURIComponent(item.name)}`, "aria-current": isOn ? "true" : null }, tile(item.name), h("span", { class: "grow col gap4" }, h("span", { class: "row gap6" }, h("span", { class: "m clip" }, shown(item.name)), h("span", { class: `push s12 nowrap ${now.tone}` }, now.word), dot(now)), h("span", { class: "s12 t3 clip" }, shown(sub))));
}

function detail(item, now) {
  const isDown = ["crashed", "failed", "asleep", "off"].includes(item.state);
  const [chosen, list] = tabs("server", "About the server", [["output", "Output"], ["offers", "Capabilities"], ["tools", "Tools", item.tools ?? 0], ["config", "Configuration"]]);
  return [
    h("div", { class: "row gap12 top wrap head-row", key: "head" }, iconButton("Back to the list", "right", () => go("servers"), "quiet small flip only-phone"), tile(item.name, true), h("div", { class: "grow" }, h("h2", { class: "ask-t wrap-any" }, shown(item.name)), h("p", { class: "t3 s12" }, item.title && shown(item.title), item.protocol && `${item.title ? " · " : ""}protocol ${plain(item.protocol)}`, item.source && [item.title || item.protocol ? " · from " : "from ", h("code", {}, shown(item.source))])),
      h("span", { class: "row gap6" }, item.state === "login" && button("Sign in", () => act("log_in", { name: item.name }), { kind: "primary", sign: "out" }),
        item.state === "ready" || item.state === "starting" ? button("Stop", () => act("stop_server", { name: item.name }), { kind: "quiet", sign: "stop" }) : item.state !== "off" && button("Start", () => act("start_server", { name: item.name }), { kind: "quiet", sign: "play" }),
        item.state !== "asleep" && item.state !== "off" && button("Restart", () => act("restart_server", { name: item.name }), { kind: isDown ? "primary" : "", sign: "restart" }))),
    sentence(item, now),
    h("div", { key: "tabs" }, list),
    chosen === "output" ? output(item) : chosen === "offers" ? capabilities(item) : chosen === "tools" ? tools(item) : config(item),
  ];
}

function sentence(item, now) {
  if (!now.isTroubled) return item.word ? note("", "info", shown(item.word)) : null;
  const isBad = now.tone === "bad";
  return h("div", { key: "trouble" }, note(isBad ? "bad" : "warn", isBad ? "alert" : "hand", h("p", { class: "b" }, shown(item.name), isBad ? ` ${now.word === "failed" ? "cannot be used" : "crashed"}.` : item.state === "login" ? " wants you to sign in." : " waits for your trust."), item.word && h("p", { class: "t2" }, shown(item.word)), item.last_words?.length > 0 && h("pre", { class: "mono s12 last-words" }, item.last_words.map((each) => [shown(each), "\n"]))));
}

const lines = new Map();

/** Fetch what a server wrote since, when the board says that there is more. */
function load(name) {
  const total = board.get(`output:${name}`)?.lines ?? 0;
  const known = lines.get(name) ?? { all: [], total: -1 };
  if (known.total !== total && !known.isLoading) {
    known.isLoading = true;
    lines.set(name, known);
    give("output", { server: name, after: known.all.at(-1)?.number ?? 0 }).then((found) => { known.all = [...known.all, ...found].slice(-MAX_LINES); }, () => {}).then(() => { known.total = total; known.isLoading = false; redraw(); });
  }
  return known.all;
}

const LEVELS = { debug: 0, info: 1, notice: 1, warning: 2, warn: 2, error: 3, critical: 3, alert: 3, emergency: 3 };
const TONES = ["", "", "w", "e"];

function output(item) {
  const all = load(item.name);
  const source = ui.tabs.get("source") ?? "stderr";
  const least = ui.tabs.get("level") ?? 0;
  const fit = all.filter((each) => each.source === source && (source === "stderr" || (LEVELS[each.level] ?? 1) >= least));
  const choose = (each) => { ui.tabs.set("source", each); redraw(); };
  const names = ["everything", "info and worse", "warnings and worse", "errors"];
  return h("div", { class: "col gap6", key: "output" }, h("div", { class: "row wrap" }, h("div", { class: "seg small", role: "group", "aria-label": "Source" }, [["stderr", "stderr"], ["log", "Log messages"]].map(([each, words]) => h("button", { type: "button", "aria-pressed": source === each, onclick: () => choose(each) }, words))), h("span", { class: "s12 t3" }, count(fit.length, "line")), h("span", { class: "push" }),
    source === "log" && button(`Level: ${names[least]}`, () => { ui.tabs.set("level", (least + 1) % 4); redraw(); }, { kind: "quiet small", sign: "filter" }), button("Copy", () => copy(fit.map((each) => each.text).join("\n")), { kind: "quiet small", sign: "copy" })),
  fit.length ? h("div", { class: `logs box seam ${hue(item.name)}`, tabindex: 0, role: "log", "aria-live": "off", "aria-label": `${source} of ${plain(item.name)}`, ref: tail, onscroll: (event) => { const node = event.currentTarget; node.splice.isUp = node.scrollHeight - node.scrollTop - node.clientHeight > 24; } }, fit.slice(-500).map((each) => h("div", { class: TONES[LEVELS[each.level] ?? 0], key: each.number }, h("span", {}, clock(each.at, true)), h("span", { class: "lv" }, shown(each.level || "")), h("span", {}, shown(each.text))))) : h("p", { class: "t3 s12" }, "Nothing written yet."));
}

const tail = (node) => { if (!node.splice.isUp) requestAnimationFrame(() => { node.scrollTop = node.scrollHeight; }); };

function capabilities(item) {
  return h("div", { class: "col gap12", key: "offers" }, item.held_instructions && h("div", { class: "col" }, note("bad", "alert", h("p", { class: "b" }, "Its instructions to the model changed."), h("p", { class: "t2" }, "The model has the old ones until you accept.")), item.held_instructions.map((change) => diff({ server: item.name }, change)), h("div", { class: "row" }, button("Keep the old ones", () => ui.tabs.set("server", "output") && redraw(), { kind: "primary" }), h("span", { class: "push" }), button("Accept all that changed", () => act("accept_tool", { id: item.id }), { kind: "danger" }))), item.instructions && h("div", { class: "col gap6" }, h("h3", {}, "Instructions to the model"), (item.findings ?? []).map((each) => note(each.is_grave ? "bad" : "warn", "alert", h("p", { class: "b" }, shown(each.what)))), h("div", { class: `theirs ${hue(item.name)}`, dir: "auto" }, h("p", { class: "pre" }, shown(item.instructions)))),
    h("dl", { class: "kv lined" }, h("dt", {}, "Offers"), h("dd", {}, item.capabilities?.length ? h("span", { class: "row wrap gap6" }, item.capabilities.map((each) => chip(each))) : h("span", { class: "t3" }, item.state === "asleep" ? "not known before it starts" : "nothing")),
      h("dt", {}, "Counts"), h("dd", {}, offers(item) || "nothing", item.is_remembered && h("span", { class: "t3" }, " (when it ran last)")), item.protocol && [h("dt", {}, "Protocol"), h("dd", { class: "num" }, shown(item.protocol))]));
}

function tools(item) {
  const all = board.tools(item.name);
  return h("div", { class: "card", key: "tools" }, all.length ? h("div", { class: "list" }, all.map((tool) => h("div", { class: "li", key: tool.id }, h("a", { class: "m clip plainlink", href: `#/tools/${encodeURIComponent(tool.id)}` }, shown(tool.name)), tool.held && chip("changed", "warn"), h("span", { class: "t3 clip grow s12" }, shown(tool.title || tool.description)), h("span", { class: "end" }, tool.tokens ?? ""), toggle(tool.name, tool.is_on !== false && !tool.held, (on) => act("switch_tool", { id: tool.id, on }), { disabled: Boolean(tool.held) })))) : h("p", { class: "empty" }, "No tools are known."));
}

function config(item) {
  return h("div", { class: "col gap12", key: "config" }, h("dl", { class: "kv lined" }, h("dt", {}, item.transport === "stdio" || !item.transport ? "Command" : "Address"), h("dd", {}, h("code", {}, shown(item.runs))), h("dt", {}, "From"), h("dd", {}, h("code", {}, shown(item.source || "this session"))), item.since > 0 && [h("dt", {}, "Like this since"), h("dd", { class: "num" }, day(item.since))]),
    h("div", { class: "row wrap" }, item.state === "off" ? button("Switch on", () => act("switch_server", { name: item.name, on: true })) : button("Switch off", () => act("switch_server", { name: item.name, on: false })), h("span", { class: "push" }), button("Remove…", () => change({ dialog: { kind: "add", remove: item.name } }), { kind: "danger" })));
}

/** Add a server from JSON or a command; it is trusted in a question of its own before it starts. */
export function addServer({ name, source, error, remove }) {
  const close = () => change({ dialog: null });
  if (remove) return dialog("remove", { width: "w-560", close }, h("header", { class: "dlg-h" }, tile(remove, true), h("div", { class: "grow" }, title("Remove “", shown(remove), "”?"))), h("div", { class: "dlg-b" }, h("p", {}, "It is taken out of its configuration file. Rules about it are kept, and hold if it comes back unchanged.")), h("footer", { class: "dlg-f" }, h("span", { class: "push" }), button("Keep it", close), button("Remove the server", async () => { close(); await act("remove_server", { name: remove }); go("servers"); }, { kind: "danger" })));
  const set = (values) => change({ dialog: { ...ui.dialog, error: "", ...values } });
  const add = async () => {
    const made = entryOf(name, source);
    if (made.error) return set({ error: made.error });
    try {
      for (const [each, entry] of made.entries) await give("add_server", { name: each, entry });
      close();
      return go("servers", made.entries[0][0]);
    } catch (failure) {
      return set({ error: failure.message });
    }
  };
  return dialog("add", { width: "w-560", close }, h("header", { class: "dlg-h" }, h("div", { class: "grow" }, title("Add a server"), h("p", { class: "s12 t3" }, "Nothing starts before you have trusted its exact command."))),
    h("div", { class: "dlg-b" }, h("div", { class: "field" }, h("label", { class: "label", for: "add-source" }, "Command, address, or JSON"), h("textarea", { id: "add-source", class: "input code-in", rows: 6, "data-first": true, spellcheck: "false", placeholder: "uvx travel-server\nhttps://mail.example.com/mcp\n{\"mcpServers\": {…}}", value: source, "aria-invalid": error ? true : null, "aria-describedby": "add-error", oninput: (event) => set({ source: event.target.value }) }), h("p", { class: error ? "error" : "hint", id: "add-error" }, error ? [icon("alert"), h("span", {}, shown(error))] : "JSON as other hosts have it is read as it is.")),
      h("div", { class: "field" }, h("label", { class: "label", for: "add-name" }, "Name here"), h("div", { class: "input" }, h("input", { id: "add-name", value: name, placeholder: "travel", oninput: (event) => set({ name: event.target.value }), onkeydown: (event) => event.key === "Enter" && add() })))),
    h("footer", { class: "dlg-f" }, h("span", { class: "push" }), button("Cancel", close), button("Add server", add, { kind: "primary", off: !source.trim() })));
}

function entryOf(name, source) {
  const text = source.trim();
  if (text.startsWith("{")) {
    const { value, error } = json.read(text);
    if (error) return { error };
    const map = value.mcpServers ?? value.servers;
    if (map && typeof map === "object") return Object.keys(map).length ? { entries: Object.entries(map) } : { error: "It names no server." };
    return name.trim() ? { entries: [[name.trim(), value]] } : { error: "Give it a name." };
  }
  if (!name.trim()) return { error: "Give it a name." };
  if (/^https?:\/\//.test(text)) return { entries: [[name.trim(), { url: text }]] };
  const words = [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3]);
  return { entries: [[name.trim(), { command: words[0], args: words.slice(1) }]] };
}
