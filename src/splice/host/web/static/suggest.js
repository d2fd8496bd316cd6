// A field whose server suggests what may stand in it: asked for after a short pause, with what is known already.

import { give } from "./commands.js";
import { h, plain, shown } from "./dom.js";
import { redraw, ui } from "./state.js";

const PAUSE_MS = 150;
const found = new Map();
const timers = new Map();
const places = new Map();

export function suggested({ id, server, ref, name, value, known, set, rest = {} }) {
  const isOpen = ui.menu === `suggest-${id}`;
  const values = found.get(id)?.values ?? [];
  const at = Math.min(places.get(id) ?? -1, values.length - 1);
  const ask = (typed) => {
    clearTimeout(timers.get(id));
    timers.set(id, setTimeout(async () => {
      const others = Object.fromEntries(Object.entries(known).filter(([each, text]) => each !== name && typeof text === "string" && text));
      const answer = await give("complete", { server, ref, name, value: typed, known: others }).catch(() => []);
      found.set(id, { values: (answer ?? []).slice(0, 100) });
      redraw();
    }, PAUSE_MS));
  };
  const open = () => { ui.menu = `suggest-${id}`; places.set(id, -1); ask(value); redraw(); };
  const close = () => { if (ui.menu === `suggest-${id}`) ui.menu = ""; redraw(); };
  const take = (each) => { set(each); close(); };
  const keys = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { event.preventDefault(); if (!isOpen) open(); else if (values.length) { places.set(id, (at + step + values.length) % values.length); redraw(); } }
    else if (event.key === "Enter" && isOpen && at >= 0 && !event.ctrlKey && !event.metaKey) { event.preventDefault(); event.stopPropagation(); take(values[at]); }
    else if (event.key === "Escape" && isOpen && values.length) { event.preventDefault(); event.stopPropagation(); close(); }
  };
  return h("div", { class: "anchor" }, h("div", { class: "input" }, h("input", { id, value, role: "combobox", "aria-expanded": isOpen && values.length > 0, "aria-controls": `${id}-o`, "aria-autocomplete": "list", "aria-activedescendant": isOpen && at >= 0 ? `${id}-o${at}` : null, autocomplete: "off", spellcheck: "false", onfocus: open, oninput: (event) => { set(event.target.value); ui.menu = `suggest-${id}`; places.set(id, -1); ask(event.target.value); }, onkeydown: keys, onblur: () => setTimeout(close, 120), ...rest })),
    isOpen && values.length > 0 && h("div", { class: "pop below drop", key: "pop" }, h("div", { role: "listbox", id: `${id}-o`, "aria-label": `Suggestions for ${plain(name)}` }, values.map((each, row) => h("div", { class: `it ${row === at ? "on" : ""}`, role: "option", id: `${id}-o${row}`, "aria-selected": row === at, key: row, onpointerdown: (event) => event.preventDefault(), onclick: () => take(each) }, h("span", { class: "grow wrap-any" }, marked(each, value))))),
      h("hr"), h("div", { class: "h" }, "Suggested by ", shown(server), `, ${values.length}`)));
}

function marked(text, typed) {
  const at = typed ? text.toLowerCase().indexOf(typed.toLowerCase()) : -1;
  return at < 0 ? shown(text) : [shown(text.slice(0, at)), h("b", {}, shown(text.slice(at, at + typed.length))), shown(text.slice(at + typed.length))];
}
