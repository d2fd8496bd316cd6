// What servers offer to read: found, looked at, filled in where it is a template, and attached.

import * as board from "./board.js";
import { give, toast } from "./commands.js";
import { dialog } from "./dialog.js";
import { h, icon, plain, shown } from "./dom.js";
import { button, chip, empty, hue, iconButton, kbd, note, search, tile } from "./pieces.js";
import { bar } from "./shell.js";
import { change, redraw } from "./state.js";
import { suggested } from "./suggest.js";
import { enterTree, grown, idOf, leaves, rewind, tree } from "./tree.js";
import { bytes, clock, count, tokens } from "./words.js";

const MOST = 100; // taken by one tick of a folder
const listings = new Map();
const view = {
  words: "",
  chosen: null,
  ticked: new Map(),
  values: {},
  slot: "",
  preview: null,
  problems: [],
  isBusy: false,
};

const offering = () => board.servers().filter((each) => !["off", "untrusted"].includes(each.state));

/** Ask each server for what it has, once until its numbers change. */
function load(server) {
  const stamp = `${server.resources ?? 0}/${server.templates ?? 0}/${server.state === "crashed"}`;
  const known = listings.get(server.name);
  if (known?.stamp === stamp) return known;
  const entry = {
    stamp,
    isLoading: true,
    resources: known?.resources ?? [],
    templates: known?.templates ?? [],
    problem: "",
  };
  listings.set(server.name, entry);
  give("resources", { server: server.name })
    .then(
      (found) =>
        Object.assign(entry, {
          isLoading: false,
          resources: found.resources ?? [],
          templates: found.templates ?? [],
          problem: found.problem ?? "",
        }),
      (error) => Object.assign(entry, { isLoading: false, problem: error.message }),
    )
    .then(redraw);
  return entry;
}

const named = (each) => each.title || each.name || each.uri || each.uriTemplate;

/** The tree of a server, made anew only when its list or the words of the search are other ones. */
function rooted(server) {
  const entry = load(server);
  const made = entry.made;
  if (made?.resources !== entry.resources || made.words !== view.words) {
    const words = view.words.toLowerCase();
    const fits = (each) =>
      !words ||
      [each.name, each.title, each.uri, each.uriTemplate, each.description].some((text) =>
        text?.toLowerCase().includes(words),
      );
    entry.made = {
      resources: entry.resources,
      words: view.words,
      root: grown(server.name, entry.resources.filter(fits), entry.templates.filter(fits)),
    };
  }
  const retry = entry.problem
    ? () => {
        listings.delete(server.name);
        redraw();
      }
    : null;
  return Object.assign(entry.made.root, { isLoading: entry.isLoading, word: entry.problem, retry });
}

/** The servers that have something, or are asked still, or could not be asked. */
const rooteds = () =>
  offering()
    .map(rooted)
    .filter((root) => root.kids.length || root.word || (root.isLoading && !view.words));

function choose(server, item) {
  if (view.chosen?.item === item) return;
  Object.assign(view, { chosen: { server, item }, values: {}, slot: "", preview: null });
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
    preview = { contents: read.contents ?? [], at: Date.now() / 1000 };
  } catch (error) {
    preview = { problem: error.message };
  }
  if (number !== asked) return;
  view.preview = preview;
  redraw();
}

/** Take or leave what is below a node: a folder is taken whole, or left whole if all of it was taken. */
function tick(node) {
  const below = leaves(node);
  const isAll = below.every((each) => view.ticked.has(each.key));
  if (!isAll && below.length > MOST)
    return toast(`At most ${MOST} at once: this has ${below.length.toLocaleString("en")}`, "warn");
  for (const each of below)
    isAll
      ? view.ticked.delete(each.key)
      : view.ticked.set(each.key, {
          server: each.server,
          uri: each.item.uri,
          name: named(each.item),
          size: each.item.size,
        });
  return redraw();
}

const NAMES = /\{([+#./;?&]?)([^}]*)\}/g;
const parsed = (names) =>
  names
    .split(",")
    .map((each) => {
      const [, name, most] = /^(.*?)(?:\*|:(\d+))?$/.exec(each.trim()) ?? ["", each];
      return { name, most: Number(most) || Infinity };
    })
    .filter((each) => each.name);
const BETWEEN = { "/": "/", ".": ".", ";": ";", "?": "&", "&": "&" };

/** Fill an address template in: {name} and the operators of RFC 6570 as far as people type them. */
export function expand(template, values) {
  return template.replace(NAMES, (_, operator, names) => {
    const all = parsed(names).filter(({ name }) => values[name]);
    const encode = operator === "+" || operator === "#" ? encodeURI : encodeURIComponent;
    const parts = all.map(
      ({ name, most }) =>
        `${["?", "&", ";"].includes(operator) ? `${name}=` : ""}${encode([...values[name]].slice(0, most).join(""))}`,
    );
    return parts.length ? (operator === "+" ? "" : operator) + parts.join(BETWEEN[operator] ?? ",") : "";
  });
}

/** The names in a template, and which of them an address needs: those of a query may be left empty. */
function slots(template) {
  const all = new Map();
  for (const [, operator, names] of template.matchAll(NAMES))
    for (const { name } of parsed(names)) all.set(name, all.get(name) || !["?", "&", ";"].includes(operator));
  return all;
}

const isFilled = (template) => [...slots(template)].every(([name, isNeeded]) => !isNeeded || view.values[name]);

/** The address as far as it is known: the one that is typed now has a ring. */
function address(template) {
  const slot = ({ name }) =>
    h(
      "span",
      { class: `slot ${view.values[name] ? "" : "todo"} ${view.slot === name ? "on" : ""}` },
      shown(view.values[name] || name),
    );
  return h(
    "div",
    { class: "uri code line" },
    template
      .split(/(\{[^}]*\})/)
      .filter(Boolean)
      .map((part) => {
        const [, operator, names] = /^\{([+#./;?&]?)([^}]*)\}$/.exec(part) ?? [];
        if (names === undefined) return shown(part);
        const isNamed = ["?", "&", ";"].includes(operator);
        return parsed(names).map((each, at) => [
          at ? (BETWEEN[operator] ?? ",") : operator === "+" ? "" : operator,
          isNamed && shown(`${each.name}=`),
          slot(each),
        ]);
      }),
  );
}

function detail() {
  if (!view.chosen)
    return empty("resource", "Choose something to look at", "Tick what should go along with your next message.");
  const { server, item } = view.chosen;
  const isTemplate = Boolean(item.uriTemplate);
  const names = isTemplate ? [...slots(item.uriTemplate)] : [];
  const isWhole = !isTemplate || isFilled(item.uriTemplate);
  const uri = isTemplate ? expand(item.uriTemplate, view.values) : item.uri;
  const id = idOf(server, uri);
  const set = (name, value) => {
    Object.assign(view, { values: { ...view.values, [name]: value }, preview: null });
    redraw();
  };
  return [
    h(
      "div",
      { class: "row gap12 top", key: "head" },
      iconButton(
        "Back to the list",
        "right",
        () => {
          view.chosen = null;
          redraw();
        },
        "quiet small flip only-phone",
      ),
      tile(server, true),
      h(
        "div",
        { class: "grow" },
        h("h3", { class: "ask-t wrap-any" }, shown(named(item))),
        item.description && h("p", { class: "t2", dir: "auto" }, shown(item.description)),
      ),
      isTemplate ? chip("template", "", "braces") : item.mimeType && chip(item.mimeType),
    ),
    h(
      "div",
      { class: "col gap6", key: "address" },
      h("h3", {}, isTemplate ? "Address it will read" : "Address"),
      isTemplate ? address(item.uriTemplate) : h("p", { class: "uri code line" }, shown(item.uri)),
    ),
    isTemplate &&
      h(
        "div",
        { class: "two", key: "fields" },
        names.map(([name, isNeeded]) =>
          h(
            "div",
            { class: "field", key: name },
            h(
              "label",
              { class: "label", for: `slot-${name}` },
              shown(name),
              isNeeded && h("span", { class: "req" }, "required"),
            ),
            suggested({
              id: `slot-${name}`,
              server,
              ref: { type: "ref/resource", uri: item.uriTemplate },
              name,
              value: view.values[name] ?? "",
              known: view.values,
              set: (value) => set(name, value),
              focused: (on) => {
                view.slot = on ? name : view.slot === name ? "" : view.slot;
                redraw();
              },
            }),
          ),
        ),
      ),
    isTemplate &&
      h(
        "div",
        { class: "row wrap", key: "acts" },
        button("Preview", () => look(server, uri), { kind: "small", off: !isWhole, why: "Fill in all of it first" }),
        button(
          view.ticked.has(id) ? "Chosen" : "Choose it",
          () => {
            view.ticked.set(id, filledIn());
            redraw();
          },
          {
            kind: "small",
            sign: view.ticked.has(id) ? "check" : "plus",
            off: !isWhole,
            why: "Fill in all of it first",
          },
        ),
      ),
    h("div", { class: "col gap6", key: "preview" }, h("h3", {}, "Preview"), preview(server)),
  ];
}

function preview(server) {
  const made = view.preview;
  if (!made) return h("p", { class: "s12 t3" }, "Nothing was read yet.");
  if (made.isLoading)
    return h(
      "div",
      { class: "col late" },
      h("div", { class: "skel w80" }),
      h("div", { class: "skel w60" }),
      h("div", { class: "skel w40" }),
    );
  if (made.problem)
    return note(
      "bad",
      "alert",
      h("p", { class: "b" }, "It could not be read."),
      h("p", { class: "t2" }, shown(server), " answered: ", shown(made.problem)),
    );
  if (!made.contents.length) return h("p", { class: "s12 t3" }, "There is nothing in it.");
  return made.contents.map((each, at) => content(server, each, at, made.at));
}

const LONGEST = 20_000;

function content(server, each, at, readAt) {
  const kind = each.mimeType ?? "";
  if (each.text !== undefined && each.text !== null)
    return h(
      "div",
      { class: `theirs ${hue(server)}`, dir: "auto", key: at },
      h(
        "p",
        { class: "by", dir: "ltr" },
        shown(kind || "text"),
        ` · ${count(each.text.length, "character")} · read at ${clock(readAt, true)}`,
      ),
      h("pre", { class: "wrap-text" }, shown(each.text.slice(0, LONGEST))),
      each.text.length > LONGEST &&
        h(
          "p",
          { class: "s12 t3" },
          `${(each.text.length - LONGEST).toLocaleString("en")} more are not shown, and go along.`,
        ),
    );
  if (/^image\/(png|jpeg|gif|webp)$/.test(kind))
    return h(
      "div",
      { class: "col gap6", key: at },
      h("p", { class: "s12 t3" }, `${kind} · ${bytes(sizeOf(each.blob))} · read at ${clock(readAt, true)}`),
      h("img", { class: "shot checker", alt: plain(each.uri), src: `data:${kind};base64,${each.blob}` }),
    );
  return h(
    "div",
    { class: "col gap6", key: at },
    h(
      "p",
      { class: "s12 t3" },
      shown(kind || "binary data"),
      ` · ${bytes(sizeOf(each.blob))} · read at ${clock(readAt, true)}`,
    ),
    h("pre", { class: "code line hex", tabindex: 0, role: "region", "aria-label": "First bytes" }, hex(each.blob)),
  );
}

const sizeOf = (blob) => Math.floor((blob.length * 3) / 4) - (blob.endsWith("==") ? 2 : blob.endsWith("=") ? 1 : 0);

/** The first bytes: where, as numbers, and as letters where they are some. */
function hex(blob) {
  let raw;
  try {
    raw = atob(blob.slice(0, 344)).slice(0, 256);
  } catch {
    return "not readable";
  }
  return (raw.match(/[^]{1,16}/g) ?? [])
    .map((row, at) => {
      const numbers = [...row].map((each) => each.charCodeAt(0).toString(16).padStart(2, "0")).join(" ");
      return `${(at * 16).toString(16).padStart(4, "0")}  ${numbers.padEnd(47)}  ${row.replace(/[^\x20-\x7e]/g, "·")}`;
    })
    .join("\n");
}

/** The template that is filled in, as something to attach; nothing until it is whole. */
function filledIn() {
  const { server, item } = view.chosen ?? {};
  if (!item?.uriTemplate || !isFilled(item.uriTemplate)) return null;
  return {
    server,
    uri: expand(item.uriTemplate, view.values),
    name: `${named(item)}: ${Object.values(view.values).join(", ")}`,
  };
}

/** What would be attached now: what is ticked, or else what is looked at. */
function taken() {
  if (view.ticked.size) return [...view.ticked];
  const one = view.chosen?.item.uri
    ? {
        server: view.chosen.server,
        uri: view.chosen.item.uri,
        name: named(view.chosen.item),
        size: view.chosen.item.size,
      }
    : filledIn();
  return one ? [[idOf(one.server, one.uri), one]] : [];
}

/** Attach it. What could not be read stays ticked, and it is said why. */
async function attach(then) {
  const all = taken();
  if (!all.length || view.isBusy) return;
  Object.assign(view, { isBusy: true, problems: [] });
  redraw();
  for (const [id, { server, uri, name }] of all) {
    try {
      await give("attach", { server, uri });
      view.ticked.delete(id);
    } catch (error) {
      view.problems.push(`${name}: ${error.message}`);
    }
  }
  view.isBusy = false;
  const done = all.length - view.problems.length;
  if (done) toast(`${count(done, "resource")} attached`);
  if (view.problems.length) redraw();
  else then();
}

const sizes = () => {
  const known = taken()
    .map(([, each]) => each.size)
    .filter(Boolean);
  const sum = Math.ceil(known.reduce((all, each) => all + each, 0) / 4);
  const window = board.only("meter").window;
  const isPart = known.length < taken().length ? "at least " : "";
  return sum
    ? `${isPart}${tokens(sum)} tokens${window ? `, ${Math.max(1, Math.round((100 * sum) / window))} % of the window` : ""}`
    : "";
};

const CHIPS = 12;
const chosenChips = () =>
  h(
    "span",
    { class: "row wrap gap6 chosen" },
    [...view.ticked].slice(0, CHIPS).map(([id, each]) =>
      h(
        "span",
        { class: "chip", key: id },
        tile(each.server),
        h("span", { class: "clip" }, shown(each.name)),
        h(
          "button",
          {
            type: "button",
            class: "chip-x",
            "aria-label": `Leave ${plain(each.name)} out`,
            onclick: () => {
              view.ticked.delete(id);
              redraw();
            },
          },
          icon("x"),
        ),
      ),
    ),
    view.ticked.size > CHIPS && h("span", { class: "s12 t3" }, `and ${view.ticked.size - CHIPS} more`),
  );

function totals() {
  const known = offering().map(load);
  const resources = known.reduce((sum, each) => sum + each.resources.length, 0);
  const templates = known.reduce((sum, each) => sum + each.templates.length, 0);
  return `${count(resources, "resource")} and ${count(templates, "template")}`;
}

const found = (value) => {
  view.words = value;
  rewind();
  redraw();
};
const down = {
  onkeydown: (event) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      enterTree();
    }
  },
};

/** The list and what is chosen in it: the same in the dialog and on the page. */
function sides(kind) {
  const roots = rooteds();
  const list = roots.length
    ? tree(roots, { ticked: view.ticked, chosen: view.chosen?.item, open: choose, tick })
    : view.words
      ? empty("search", "Nothing matches", "Names, titles, addresses and descriptions were searched.")
      : empty(
          "resource",
          offering().length ? "Your servers offer nothing to read" : "No servers yet",
          offering().length ? "" : "Add one to read from it.",
        );
  return h(
    "div",
    { class: `cols lw md ${kind}`, key: "cols", "data-show": view.chosen ? "detail" : "list" },
    h("div", { class: "pane0 whole-tree", key: "tree" }, list),
    h(
      "div",
      { class: "pane rule", key: "detail", tabindex: 0, role: "region", "aria-label": "Chosen resource" },
      view.problems.length > 0 &&
        note(
          "bad",
          "alert",
          h("p", { class: "b" }, `${count(view.problems.length, "resource")} could not be attached.`),
          view.problems.map((each) => h("p", { class: "t2" }, shown(each))),
        ),
      detail(),
    ),
  );
}

/** The dialog that @ opens. */
export function attachDialog() {
  const close = () => {
    view.problems = [];
    change({ dialog: null });
  };
  const done = () => attach(close);
  const number = taken().length;
  return dialog(
    "attach",
    {
      width: "w-1040",
      close,
      extra: "tall",
      onkeydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          done();
        }
      },
    },
    h(
      "header",
      { class: "dlg-h" },
      h("h2", { class: "sr", id: "dlg-title" }, "Attach resources"),
      search(`Search ${totals()}`, view.words, found, "grow", { "data-first": true, ...down }),
      iconButton("Close", "x", close),
    ),
    sides(""),
    h(
      "footer",
      { class: "dlg-f" },
      chosenChips(),
      h("span", { class: "s12 t3 num" }, sizes()),
      h("span", { class: "push" }),
      button("Cancel", close, { kind: "quiet" }),
      button(
        [view.isBusy && h("span", { class: "spin" }), number ? `Attach ${number}` : "Attach", kbd("Ctrl ↵")],
        done,
        { kind: "primary", off: !number || view.isBusy, why: number ? "It is read" : "Tick something first" },
      ),
    ),
  );
}

/** The page: the same, without the dialog. */
export function resources() {
  const number = taken().length;
  return [
    bar(
      "Resources",
      offering().length ? totals() : "",
      button(number ? `Attach ${number}` : "Attach", () => attach(redraw), {
        kind: "small",
        sign: "at",
        off: !number || view.isBusy,
      }),
    ),
    h("div", { class: "filters", key: "filters" }, search("Search resources", view.words, found, "w-find", down)),
    sides("fills"),
  ];
}
