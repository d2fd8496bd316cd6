// Resources as a tree: servers, the folders of their addresses, what is in them. Only the rows in view are drawn.

import { h, icon, lazy, plain, shown } from "./dom.js";
import { tile } from "./pieces.js";
import { redraw } from "./state.js";
import { tokens } from "./words.js";

const DEEPEST = 8; // folders within each other; what is below stands together
const SPARE = 6; // rows drawn above and below of those in view
const shut = new Set();
const place = { top: 0, height: 600, at: "" };

/** Make the nodes of a server from what fits. Folders with nothing but one folder in them are one. */
export function grown(server, resources, templates) {
  const root = { kind: "server", key: server, server, level: 1, name: server, kids: [], folders: new Map(), size: 0 };
  for (const item of resources) {
    let node = root;
    for (const part of folders(item.uri)) {
      if (!node.folders.has(part)) {
        const made = {
          kind: "folder",
          key: `${node.key}/${part}`,
          server,
          level: 0,
          name: part,
          kids: [],
          folders: new Map(),
          size: 0,
          parent: node,
        };
        node.folders.set(part, made);
        node.kids.push(made);
      }
      node = node.folders.get(part);
    }
    node.kids.push({ kind: "leaf", key: idOf(server, item.uri), server, item, parent: node });
    for (let up = node; up; up = up.parent) up.size += 1;
  }
  root.kids = root.kids.concat(
    templates.map((item) => ({
      kind: "template",
      key: `${server} template ${item.uriTemplate}`,
      server,
      item,
      parent: root,
    })),
  );
  joined(root, 1);
  return root;
}

export const idOf = (server, uri) => `${server} ${uri}`;

function folders(uri) {
  const parts = uri
    .replace(/^[\w+.-]+:\/\//, "")
    .split("/")
    .slice(0, -1)
    .filter(Boolean);
  return parts.length > DEEPEST ? [...parts.slice(0, DEEPEST - 1), parts.slice(DEEPEST - 1).join("/")] : parts;
}

/** Join folders that have one folder only, and number the levels. */
function joined(node, level) {
  node.level = level;
  node.kids = node.kids.map((kid) => {
    let one = kid;
    while (one.kind === "folder" && one.kids.length === 1 && one.kids[0].kind === "folder")
      one = { ...one.kids[0], name: `${one.name}/${one.kids[0].name}`, parent: one.parent };
    if (one !== kid) for (const each of one.kids) each.parent = one;
    if (one.kids) joined(one, level + 1);
    else one.level = level + 1;
    return one;
  });
}

/** List the leaves below a node. */
export const leaves = (node) => (node.kids ? node.kids.flatMap(leaves) : node.kind === "leaf" ? [node] : []);

function rows(roots) {
  const all = [];
  const walk = (node) => {
    all.push(node);
    if (!node.kids || shut.has(node.key)) return;
    for (const kid of node.kids) walk(kid);
  };
  for (const root of roots) {
    walk(root);
    if (root.word) all.push({ kind: "word", key: `${root.key} word`, text: root.word, retry: root.retry, level: 2 });
  }
  return all;
}

/** Count for each node how many leaves below it are ticked. */
function counted(roots, ticked) {
  const counts = new Map();
  for (const leaf of ticked.size ? roots.flatMap(leaves) : []) {
    if (ticked.has(leaf.key))
      for (let up = leaf.parent; up; up = up.parent) counts.set(up.key, (counts.get(up.key) ?? 0) + 1);
  }
  return counts;
}

const rowHeight = () =>
  Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--h-row")) + 1 || 33;

/** Describe the tree. `open` shows a leaf or a template, `tick` takes or leaves nodes. */
export function tree(roots, { ticked, chosen, open, tick }) {
  const all = rows(roots);
  const counts = counted(roots, ticked);
  const height = rowHeight();
  const first = Math.max(0, Math.floor(place.top / height) - SPARE);
  const shownRows = all.slice(first, Math.ceil((place.top + place.height) / height) + SPARE);
  const flip = (node) => {
    shut.has(node.key) ? shut.delete(node.key) : shut.add(node.key);
    redraw();
  };
  const acts = { open, tick, flip };
  const measure = (node) => {
    if (node.clientHeight && node.clientHeight !== place.height) {
      place.height = node.clientHeight;
      redraw();
    }
  };
  const at = all.some((each) => each.key === place.at) ? place.at : all[0]?.key;
  return h(
    "div",
    {
      class: "vlist tree",
      role: "tree",
      "aria-label": "Resources",
      "aria-multiselectable": true,
      tabindex: 0,
      "aria-activedescendant": shownRows.some((each) => each.key === at) ? rowId(at) : null,
      onscroll: (event) => {
        place.top = event.currentTarget.scrollTop;
        redraw();
      },
      onkeydown: (event) => keys(event, all, at, acts, height),
      ref: measure,
    },
    h(
      "div",
      {
        class: "vspace",
        role: "none",
        ref: (node) => {
          node.style.blockSize = `${all.length * height}px`;
        },
      },
      shownRows.map((node, row) =>
        line(node, first + row, height, {
          at,
          chosen,
          count: counts.get(node.key) ?? 0,
          isTicked: ticked.has(node.key),
          ...acts,
        }),
      ),
    ),
  );
}

/** Focus the tree, from the search over it. */
export const enterTree = () => document.querySelector(".tree")?.focus();

/** Begin at the top: other rows are shown now. */
export function rewind() {
  place.top = 0;
  place.at = "";
  const node = document.querySelector(".tree");
  if (node) node.scrollTop = 0;
}

const rowId = (key) => `row-${encodeURIComponent(key.toWellFormed?.() ?? key)}`;

function line(node, row, height, { at, chosen, count, isTicked, open, tick, flip }) {
  const isAt = node.key === at;
  const isOn = Boolean(chosen) && node.item === chosen;
  return lazy(node.key, [row, height, node, isAt, isOn, count, isTicked, shut.has(node.key)], () => {
    const moved = (element) => {
      element.style.transform = `translateY(${row * height}px)`;
      element.style.blockSize = `${height - 1}px`;
    };
    if (node.kind === "word")
      return h(
        "div",
        { class: "li note-row", role: "none", ref: moved },
        h("span", { class: "hint clip grow", title: plain(node.text) }, shown(node.text)),
        node.retry && h("button", { type: "button", class: "btn quiet small", onclick: node.retry }, "Try again"),
      );
    const isFolder = Boolean(node.kids);
    const state = !isFolder ? isTicked : count === 0 ? false : count === node.size ? true : "mixed";
    const act = () => {
      place.at = node.key;
      isFolder ? flip(node) : open(node.server, node.item);
      redraw();
    };
    const check =
      node.kind !== "template" &&
      (!isFolder || node.size > 0) &&
      h(
        "span",
        {
          class: "check",
          "aria-checked": state,
          "aria-hidden": "true",
          onclick: (event) => {
            event.stopPropagation();
            place.at = node.key;
            tick(node);
          },
        },
        icon("check"),
      );
    return h(
      "div",
      {
        class: `li lv${Math.min(node.level, 9)} ${node.kind === "server" ? "srv-row" : ""} ${isOn ? "on" : ""} ${isAt ? "at" : ""}`,
        role: "treeitem",
        id: rowId(node.key),
        "aria-level": node.level,
        "aria-expanded": isFolder ? !shut.has(node.key) : null,
        "aria-selected": isOn,
        "aria-checked": node.kind === "template" ? null : state,
        onclick: act,
        ref: moved,
      },
      isFolder && icon(shut.has(node.key) ? "right" : "down", "i-s"),
      node.kind === "server" ? [check, tile(node.server)] : node.kind === "template" ? icon("braces") : check,
      h(
        "span",
        {
          class: `clip ${node.kind === "server" ? "m" : ""}`,
          title: plain(node.item?.uri ?? node.item?.uriTemplate ?? node.name),
        },
        shown(named(node)),
      ),
      h("span", { class: "end" }, end(node, count)),
    );
  });
}

const named = (node) =>
  node.item ? node.item.title || node.item.name || node.item.uri || node.item.uriTemplate : node.name;

function end(node, count) {
  if (node.kind === "template") return "template";
  if (node.kind === "leaf") return node.item.size ? tokens(Math.ceil(node.item.size / 4)) : "";
  if (node.isLoading) return "loading";
  return count ? `${count} of ${node.size}` : String(node.size);
}

/** Arrow keys walk, Right and Left open and close, Space ticks, Enter opens. */
function keys(event, all, at, { open, tick, flip }, height) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
  const here = Math.max(
    0,
    all.findIndex((each) => each.key === at),
  );
  const node = all[here];
  const list = event.currentTarget;
  const page = Math.max(1, Math.floor(list.clientHeight / height) - 1);
  const go = (to) => {
    const next = Math.min(all.length - 1, Math.max(0, to));
    place.at = all[next]?.key ?? "";
    if (next * height < list.scrollTop) list.scrollTop = next * height;
    else if ((next + 1) * height > list.scrollTop + list.clientHeight)
      list.scrollTop = (next + 1) * height - list.clientHeight;
    redraw();
  };
  const isOpen = node?.kids && !shut.has(node.key);
  const acts = {
    ArrowDown: () => go(here + 1),
    ArrowUp: () => go(here - 1),
    PageDown: () => go(here + page),
    PageUp: () => go(here - page),
    Home: () => go(0),
    End: () => go(all.length - 1),
    ArrowRight: () => {
      if (isOpen) go(here + 1);
      else if (node?.kids) flip(node);
    },
    ArrowLeft: () => {
      if (isOpen) flip(node);
      else if (node?.parent) go(all.indexOf(node.parent));
    },
    Enter: () => {
      if (node?.kids) flip(node);
      else if (node?.item) open(node.server, node.item);
      else node?.retry?.();
    },
    " ": () => {
      if (node && (node.kind === "leaf" || node.size)) tick(node);
      else if (node?.item) open(node.server, node.item);
    },
  };
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
}
