// What servers offer to read: found, looked at, filled in where it is a template, and attached.

import * as board from "./board.js";
import { act, give, toast } from "./commands.js";
import { dialog } from "./dialog.js";
import { h, icon, lazy, plain, shown } from "./dom.js";
import { button, chip, empty, hue, iconButton, kbd, note, search, tile } from "./pieces.js";
import { bar } from "./shell.js";
import { suggested } from "./suggest.js";
import { change, redraw } from "./state.js";
import { bytes, count, tokens } from "./words.js";

const listings = new Map();
const view = { words: "", chosen: null, ticked: new Map(), values: {}, preview: null, shut: new Set(), limit: 300 };

const offering = () => board.servers().filter((each) => !["off", "untrusted"].includes(each.state));

/** Ask each server for what it has, once until its numbers change. */
function load(server) {
  const stamp = `${server.resources ?? 0}/${server.templates ?? 0}/${server.state === "crashed"}`;
  const known = listings.get(server.name);
  if (known?.stamp === stamp) return known;
  const entry = { stamp, isLoading: true, resources: known?.resources ?? [], templates: known?.templates ?? [], problem: "" };
  listings.set(server.name, entry);
  give("resources", { server: server.name }).then((found) => Object.assign(entry, { isLoading: false, resources: found.resources ?? [], templates: found.templates ?? [], problem: found.problem ?? "" }), (error) => Object.assign(entry, { isLoading: false, problem: error.message })).then(redraw);
  return entry;
}

const named = (each) => each.title || each.name || each.uri || each.uriTemplate;

/** Folders of addresses: what stands before the last part. */
function folder(uri) {
  const path = uri.replace(/^[\w+.-]+:\/\//, "");
  const at = path.lastIndexOf("/");
  return at > 0 ? path.slice(0, at) : "";
}

function rows() {
  const words = view.words.toLowerCase();
  const fits = (each) => !words || [each.name, each.title, each.uri, each.uriTemplate, each.description].some((text) => text?.toLowerCase().includes(words));
  return offering().map((server) => {
    const listing = load(server);
    const resources = listing.resources.filter(fits);
    const folders = new Map();
    for (const each of resources) folders.set(folder(each.uri), [...(folders.get(folder(each.uri)) ?? []), each]);
    return { server, listing, folders, templates: listing.templates.filter(fits), size: resources.length };
  });
}

function choose(server, item) {
  if (view.chosen?.item === item) return;
  Object.assign(view, { chosen: { server, item }, values: {}, preview: null });
  if (item.uri) look(server, item.uri);
  redraw();
}

let asked = 0;

async function look(server, uri) {
  const number = ++asked;
  view.preview = { isLoading: true };
  redraw();
  let preview;
  try {
    const read = await give("read", { server, uri });
    preview = { contents: read.contents ?? [], at: Date.now() };
  } catch (error) {
    preview = { problem: error.message };
  }
  if (number !== asked) return;
  view.preview = preview;
  redraw();
}

function tick(server, item) {
  view.ticked.has(item.uri) ? view.ticked.delete(item.uri) : view.ticked.set(item.uri, { server, name: named(item), size: item.size });
  redraw();
}

function tree(all) {
  let left = view.limit;
  const parts = all.map(({ server, listing, folders, templates, size }) => h("div", { key: server.id, role: "none" },
    h("div", { class: "lh", role: "none" }, h("span", { class: "row gap6" }, tile(server.name), shown(server.name)), h("span", {}, listing.isLoading ? "loading" : String(size + templates.length))),
    listing.problem && h("p", { class: "hint in-list", role: "none" }, shown(listing.problem)),
    listing.isLoading && !size && h("div", { class: "col in-list late", role: "none" }, h("div", { class: "skel w80" }), h("div", { class: "skel w60" })),
    [...folders].map(([name, items]) => {
      const key = `${server.name}/${name}`;
      const isOpen = !view.shut.has(key);
      const ticked = items.filter((each) => view.ticked.has(each.uri)).length;
      const flip = () => { isOpen ? view.shut.add(key) : view.shut.delete(key); redraw(); };
      return [name && h("div", { class: "li", role: "treeitem", key, tabindex: -1, "aria-expanded": isOpen, "aria-level": 1, onclick: flip, "data-flip": "1" }, icon(isOpen ? "down" : "right", "i-s"), icon("folder"), h("span", { class: "clip", title: plain(name) }, shown(name)), h("span", { class: "end" }, ticked ? `${ticked} of ${items.length}` : String(items.length))),
        isOpen && items.slice(0, Math.max(0, left)).map((each) => { left -= 1; return leaf(server.name, each, Boolean(name)); })];
    }),
    templates.map((each) => h("div", { class: `li ${view.chosen?.item === each ? "on" : ""}`, role: "treeitem", key: `t-${server.name}-${each.uriTemplate}`, tabindex: view.chosen?.item === each ? 0 : -1, "aria-level": 1, "aria-selected": view.chosen?.item === each, onclick: () => choose(server.name, each) }, icon("braces"), h("span", { class: "clip" }, shown(named(each))), h("span", { class: "end" }, "template")))));
  return h("div", { class: "list", role: "tree", "aria-label": "Resources", "aria-multiselectable": true, tabindex: view.chosen ? -1 : 0, onkeydown: walk }, parts, left <= 0 && h("div", { role: "none", class: "in-list" }, button("Show more", () => { view.limit += 1000; redraw(); }, { kind: "small" })));
}

function leaf(server, item, isIn) {
  const isOn = view.chosen?.item === item;
  const isTicked = view.ticked.has(item.uri);
  return lazy(`${server} ${item.uri}`, [isOn, isTicked, item, isIn], () => h("div", { class: `li ${isIn ? "in" : ""} ${isOn ? "on" : ""}`, role: "treeitem", tabindex: isOn ? 0 : -1, "aria-level": isIn ? 2 : 1, "aria-selected": isOn, "aria-checked": isTicked, onclick: () => choose(server, item), "data-tick": "1", ondblclick: () => tick(server, item) },
    h("span", { class: "check", "aria-checked": isTicked, "aria-hidden": "true", onclick: (event) => { event.stopPropagation(); tick(server, item); } }, icon("check")), h("span", { class: "clip", title: plain(item.uri) }, shown(named(item))), h("span", { class: "end" }, item.size ? tokens(Math.ceil(item.size / 4)) : "")));
}

function walk(event) {
  const all = [...event.currentTarget.querySelectorAll("[role=treeitem]")];
  const here = document.activeElement.closest("[role=treeitem]");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    const next = all[Math.min(all.length - 1, Math.max(0, here ? all.indexOf(here) + step : 0))];
    next?.focus();
    if (next && !next.dataset.flip) next.click();
  } else if (event.key === " " && here) { event.preventDefault(); (here.dataset.tick ? here.querySelector(".check") : here).dispatchEvent(new MouseEvent("click", { bubbles: true })); }
  else if ((event.key === "Enter" || event.key === "ArrowRight" || event.key === "ArrowLeft") && here && !event.ctrlKey && !event.metaKey) { event.preventDefault(); here.click(); }
}

/** Fill an address template in: {name} and the operators of RFC 6570 as far as people type them. */
export function expand(template, values) {
  return template.replace(/\{([+#./;?&]?)([^}]*)\}/g, (_, operator, names) => {
    const all = names.split(",").map((name) => name.replace(/(\*|:\d+)$/, "")).filter((name) => values[name]);
    const encode = (text) => (operator === "+" || operator === "#" ? encodeURI(text) : encodeURIComponent(text));
    if (!all.length) return "";
    if (operator === "?" || operator === "&" || operator === ";") return (operator === "?" ? "?" : operator) + all.map((name) => `${name}=${encode(values[name])}`).join(operator === ";" ? ";" : "&");
    const joint = operator === "/" || operator === "." ? operator : ",";
    return (operator && operator !== "+" ? operator : "") + all.map((name) => encode(values[name])).join(joint);
  });
}

const slots = (template) => [...new Set([...template.matchAll(/\{[+#./;?&]?([^}]*)\}/g)].flatMap((match) => match[1].split(",").map((name) => name.replace(/(\*|:\d+)$/, ""))))].filter(Boolean);

function address(template) {
  const parts = template.split(/(\{[^}]*\})/).filter(Boolean);
  return h("div", { class: "uri code line" }, parts.map((part) => {
    if (!part.startsWith("{")) return shown(part);
    const name = part.replace(/[{}+#./;?&*]/g, "");
    const value = view.values[name];
    return h("span", { class: `slot ${value ? "" : "todo"}` }, shown(value || name));
  }));
}

function detail() {
  if (!view.chosen) return empty("resource", "Choose something to look at", "Tick what should go along with your next message.");
  const { server, item } = view.chosen;
  const isTemplate = Boolean(item.uriTemplate);
  const names = isTemplate ? slots(item.uriTemplate) : [];
  const isWhole = names.every((name) => view.values[name]);
  const uri = isTemplate ? expand(item.uriTemplate, view.values) : item.uri;
  const set = (name, value) => { view.values = { ...view.values, [name]: value }; redraw(); };
  return [
    h("div", { class: "row gap12 top", key: "head" }, iconButton("Back to the list", "right", () => { view.chosen = null; redraw(); }, "quiet small flip only-phone"), tile(server, true), h("div", { class: "grow" }, h("h3", { class: "ask-t wrap-any" }, shown(named(item))), item.description && h("p", { class: "t2", dir: "auto" }, shown(item.description))), isTemplate ? chip("template", "", "braces") : item.mimeType && chip(item.mimeType)),
    h("div", { class: "col gap6", key: "address" }, h("h3", {}, isTemplate ? "Address it will read" : "Address"), isTemplate ? address(item.uriTemplate) : h("p", { class: "uri code line" }, shown(item.uri))),
    isTemplate && h("div", { class: "two", key: "fields" }, names.map((name) => h("div", { class: "field", key: name }, h("label", { class: "label", for: `slot-${name}` }, shown(name), h("span", { class: "req" }, "required")), suggested({ id: `slot-${name}`, server, ref: { type: "ref/resource", uri: item.uriTemplate }, name, value: view.values[name] ?? "", known: view.values, set: (value) => set(name, value) })))),
    isTemplate && h("div", { class: "row wrap", key: "acts" }, button("Preview", () => look(server, uri), { kind: "small", off: !isWhole, why: "Fill in all of it first" }), button(view.ticked.has(uri) ? "Chosen" : "Choose it", () => { view.ticked.set(uri, { server, name: `${named(item)}: ${Object.values(view.values).join(", ")}` }); redraw(); }, { kind: "small", sign: view.ticked.has(uri) ? "check" : "plus", off: !isWhole })),
    h("div", { class: "col gap6", key: "preview" }, h("h3", {}, "Preview"), preview(server)),
  ];
}

function preview(server) {
  const made = view.preview;
  if (!made) return h("p", { class: "s12 t3" }, "Nothing was read yet.");
  if (made.isLoading) return h("div", { class: "col late" }, h("div", { class: "skel w80" }), h("div", { class: "skel w60" }), h("div", { class: "skel w40" }));
  if (made.problem) return note("bad", "alert", h("p", { class: "b" }, "It could not be read."), h("p", { class: "t2" }, shown(server), " answered: ", shown(made.problem)));
  return made.contents.map((each, at) => content(server, each, at));
}

const LONGEST = 20_000;

function content(server, each, at) {
  const kind = each.mimeType ?? "";
  if (each.text !== undefined && each.text !== null) return h("div", { class: `theirs ${hue(server)}`, dir: "auto", key: at }, h("p", { class: "by", dir: "ltr" }, `${kind || "text"} · ${count(each.text.length, "character")}`), h("pre", { class: "wrap-text" }, shown(each.text.slice(0, LONGEST))), each.text.length > LONGEST && h("p", { class: "s12 t3" }, `${(each.text.length - LONGEST).toLocaleString("en")} more are not shown, and go along.`));
  if (/^image\/(png|jpeg|gif|webp)$/.test(kind)) return h("img", { key: at, class: "shot checker", alt: plain(each.uri), src: `data:${kind};base64,${each.blob}` });
  return h("div", { class: "col gap6", key: at }, h("p", { class: "s12 t3" }, `${kind || "binary data"} · ${bytes(Math.floor((each.blob.length * 3) / 4))}`), h("pre", { class: "code line" }, hex(each.blob)));
}

function hex(blob) {
  let raw;
  try { raw = atob(blob.slice(0, 340)); } catch { return "not readable"; }
  return [...raw].map((each, at) => each.charCodeAt(0).toString(16).padStart(2, "0") + (at % 16 === 15 ? "\n" : " ")).join("");
}

async function attach(then) {
  const all = [...view.ticked];
  if (!all.length && view.chosen?.item.uri) all.push([view.chosen.item.uri, { server: view.chosen.server }]);
  for (const [uri, { server }] of all) await act("attach", { server, uri });
  view.ticked = new Map();
  if (all.length) toast(`${count(all.length, "resource")} attached`);
  then();
}

const sizes = () => {
  const known = [...view.ticked.values()].map((each) => each.size).filter(Boolean);
  const sum = Math.ceil(known.reduce((all, each) => all + each, 0) / 4);
  const window = board.only("meter").window;
  return sum ? `${tokens(sum)} tokens${window ? `, ${Math.max(1, Math.round((100 * sum) / window))} % of the window` : ""}` : "";
};

const chosenChips = () => h("span", { class: "row wrap gap6 chosen" }, [...view.ticked].map(([uri, each]) => h("span", { class: "chip", key: uri }, tile(each.server), h("span", { class: "clip" }, shown(each.name)), h("button", { type: "button", class: "chip-x", "aria-label": `Leave ${plain(each.name)} out`, onclick: () => { view.ticked.delete(uri); redraw(); } }, icon("x")))));

function totals(all) {
  const resources = all.reduce((sum, each) => sum + each.listing.resources.length, 0);
  const templates = all.reduce((sum, each) => sum + each.listing.templates.length, 0);
  return `Search ${count(resources, "resource")} and ${count(templates, "template")}`;
}

/** The dialog that @ opens. */
export function attachDialog() {
  const close = () => change({ dialog: null });
  const all = rows();
  const done = () => attach(close);
  const number = view.ticked.size || (view.chosen?.item.uri ? 1 : 0);
  return dialog("attach", { width: "w-1040", close, extra: "tall", onkeydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); done(); } } },
    h("header", { class: "dlg-h" }, h("h2", { class: "sr", id: "dlg-title" }, "Attach resources"), search(totals(all), view.words, (value) => { view.words = value; redraw(); }, "grow", { "data-first": true }), iconButton("Close", "x", close)),
    h("div", { class: "cols lw md", "data-show": view.chosen ? "detail" : "list" }, h("div", { class: "pane0 scroll", key: "tree" }, all.length ? tree(all) : empty("server", "No servers yet", "Add one to read from it.")), h("div", { class: "pane rule", key: "detail", tabindex: 0, role: "region", "aria-label": "Chosen resource" }, detail())),
    h("footer", { class: "dlg-f" }, chosenChips(), h("span", { class: "s12 t3 num" }, sizes()), h("span", { class: "push" }), button("Cancel", close, { kind: "quiet" }), button([number ? `Attach ${number}` : "Attach", kbd("Ctrl ↵")], done, { kind: "primary", off: !number })));
}

/** The page: the same, without the dialog. */
export function resources() {
  const all = rows();
  return [bar("Resources", all.length ? totals(all).replace("Search ", "") : "", button(view.ticked.size ? `Attach ${view.ticked.size}` : "Attach", () => attach(() => redraw()), { kind: "small", sign: "at", off: !view.ticked.size && !view.chosen?.item.uri })),
    h("div", { class: "filters", key: "filters" }, search("Search resources", view.words, (value) => { view.words = value; redraw(); }, "w-find")),
    all.length === 0 ? empty("resource", "No resources yet", "Servers that offer some appear here.") : h("div", { class: "cols lw md fills", key: "cols", "data-show": view.chosen ? "detail" : "list" }, h("div", { class: "pane0 scroll", key: "tree" }, tree(all)), h("div", { class: "pane rule", key: "detail", tabindex: 0, role: "region", "aria-label": "Chosen resource" }, detail()))];
}

