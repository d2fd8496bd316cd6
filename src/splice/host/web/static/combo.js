// A field to choose from many by: typing finds, arrow keys walk, Enter takes. Used for choices of forms and for models.

import { h, icon, shown } from "./dom.js";
import { afterwards, redraw, ui } from "./state.js";

const MOST = 200; // options drawn at once: the rest is found by typing
const CLOSE_MS = 150;

/** Describe a combobox. `options` have words and perhaps an end, `chosen` are places; `isMany` leaves it open after taking one. */
export function combobox({
  id,
  options,
  chosen,
  take,
  left,
  sign = null,
  end = null,
  isMany = false,
  invalid = false,
  attributes = {},
}) {
  const key = `combo-${id}`;
  const isOpen = ui.menu === key;
  const typed = isOpen ? (ui.tabs.get(key) ?? "") : "";
  const value = isOpen ? typed : isMany || !options[chosen[0]] ? "" : options[chosen[0]].words;
  const all = options
    .map((each, place) => ({ ...each, place }))
    .filter((each) => each.words.toLowerCase().includes(typed.toLowerCase()));
  const found = all.slice(0, MOST);
  const at = Math.min(ui.tabs.get(`${key}#`) ?? 0, found.length - 1);
  const show = (open, words = "") => {
    ui.menu = open ? key : "";
    ui.tabs.set(key, words);
    ui.tabs.set(`${key}#`, 0);
    redraw();
  };
  const walk = (step) => {
    ui.tabs.set(`${key}#`, (at + step + found.length) % found.length);
    redraw();
    afterwards(() => document.querySelector(`#${CSS.escape(id)}-list .on`)?.scrollIntoView({ block: "nearest" }));
  };
  const choose = (place) => {
    take(place);
    if (isMany) show(true);
    else show(false);
  };
  const keys = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      if (!isOpen) show(true);
      else if (found.length) walk(step);
    } else if (event.key === "Enter" && isOpen && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      if (found[at]) choose(found[at].place);
    } else if (event.key === "Escape" && isOpen) {
      event.preventDefault();
      event.stopPropagation();
      show(false);
    } else if (event.key === "Backspace" && isMany && !typed && chosen.length) take(chosen.at(-1));
  };
  const leave = () =>
    setTimeout(() => {
      if (ui.menu === key && document.activeElement?.id !== id) show(false);
      left?.();
    }, CLOSE_MS);
  const option = (each, row) =>
    h(
      "div",
      {
        class: `it ${row === at ? "on" : ""}`,
        role: "option",
        id: `${id}-o${row}`,
        "aria-selected": chosen.includes(each.place),
        key: each.place,
        onpointerdown: (event) => event.preventDefault(),
        onclick: () => choose(each.place),
      },
      h("span", { class: "grow wrap-any" }, shown(each.words)),
      each.end && h("span", { class: "s12 t3" }, shown(each.end)),
      chosen.includes(each.place) && icon("check", "i-s"),
    );
  return h(
    "div",
    { class: "anchor" },
    h(
      "div",
      { class: `input ${invalid ? "invalid" : ""}` },
      sign && icon(sign),
      h("input", {
        id,
        role: "combobox",
        "aria-expanded": isOpen,
        "aria-controls": `${id}-list`,
        "aria-autocomplete": "list",
        "aria-activedescendant": isOpen && found.length ? `${id}-o${at}` : null,
        "aria-invalid": invalid ? true : null,
        autocomplete: "off",
        spellcheck: "false",
        value,
        placeholder: isMany ? "Type to search, choose several" : "Choose or type to search",
        onclick: () => !isOpen && show(true),
        oninput: (event) => show(true, event.target.value),
        onkeydown: keys,
        onblur: leave,
        ...attributes,
      }),
      !isOpen && end && h("span", { class: "s12 t3 nowrap" }, shown(end)),
      icon("down", "i-s"),
    ),
    isOpen &&
      h(
        "div",
        { class: "pop below drop", key: "pop" },
        h(
          "div",
          { role: "listbox", id: `${id}-list`, "aria-label": "Choices", "aria-multiselectable": isMany ? true : null },
          found.map(option),
        ),
        !found.length && h("p", { class: "h" }, "Nothing matches"),
        all.length > MOST && h("p", { class: "h" }, `${all.length - MOST} more: type to find them`),
      ),
  );
}
