// A field whose server suggests what may stand in it: asked for after a short pause, with what is known already.

import * as board from "./board.js";
import { calendar, calendarButton, toggleCalendar } from "./calendar.js";
import { give } from "./commands.js";
import { h, plain, shown } from "./dom.js";
import { redraw, ui } from "./state.js";
import { weekday } from "./words.js";

const PAUSE_MS = 150;
const found = new Map();
const timers = new Map();
const places = new Map();

/** Tell whether a server may have suggestions: one that says what it can, and not this, has none. */
const mayComplete = (server) => {
  const can = board.server(server)?.capabilities ?? [];
  return !can.length || can.some((each) => each.startsWith("completions"));
};

/** Tell whether a field is a date by its own words. On the wire it is text all the same. */
const isDate = (name, about) =>
  /(^|[^a-z])date$|[a-z]Date$/i.test(name) || /YYYY-MM-DD|ISO 8601 date/i.test(about ?? "");

/** Describe a field. `set(text)` takes what is typed, `focused(on)` is told whether it has the focus. */
export function suggested({ id, server, ref, name, value, known, set, focused, about, rest = {} }) {
  const can = mayComplete(server);
  const day = isDate(name, about);
  const calendarKey = `cal-${id}`;
  const isOpen = ui.menu === `suggest-${id}`;
  const values = found.get(id)?.values ?? [];
  const at = Math.min(places.get(id) ?? -1, values.length - 1);
  const ask = (typed) => {
    clearTimeout(timers.get(id));
    timers.set(
      id,
      setTimeout(async () => {
        const others = Object.fromEntries(
          Object.entries(known).filter(([each, text]) => each !== name && typeof text === "string" && text),
        );
        const answer = await give("complete", { server, ref, name, value: typed, known: others }).catch(() => []);
        found.set(id, { values: (answer ?? []).slice(0, 100) });
        redraw();
      }, PAUSE_MS),
    );
  };
  const open = () => {
    if (!can) return;
    ui.menu = `suggest-${id}`;
    places.set(id, -1);
    ask(value);
    redraw();
  };
  const close = () => {
    if (ui.menu === `suggest-${id}`) ui.menu = "";
    redraw();
  };
  const take = (each) => {
    set(each);
    close();
  };
  const keys = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && day && !(isOpen && values.length)) {
      event.preventDefault();
      toggleCalendar(calendarKey);
    } else if (step && can) {
      event.preventDefault();
      if (!isOpen) open();
      else if (values.length) {
        places.set(id, (at + step + values.length) % values.length);
        redraw();
      }
    } else if (event.key === "Enter" && isOpen && at >= 0 && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      event.stopPropagation();
      take(values[at]);
    } else if (event.key === "Escape" && isOpen && values.length) {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  };
  const list = can
    ? {
        role: "combobox",
        "aria-expanded": isOpen && values.length > 0,
        "aria-controls": `${id}-o`,
        "aria-autocomplete": "list",
        "aria-activedescendant": isOpen && at >= 0 ? `${id}-o${at}` : null,
      }
    : {};
  const type = (event) => {
    set(event.target.value);
    if (!can) return;
    ui.menu = `suggest-${id}`;
    places.set(id, -1);
    ask(event.target.value);
  };
  return h(
    "div",
    { class: "anchor" },
    h(
      "div",
      { class: "input" },
      h("input", {
        id,
        value,
        ...list,
        autocomplete: "off",
        spellcheck: "false",
        onfocus: () => {
          focused?.(true);
          open();
        },
        oninput: type,
        onkeydown: keys,
        onblur: () => {
          focused?.(false);
          setTimeout(close, 120);
        },
        ...rest,
      }),
      isOpen &&
        value &&
        values.length > 0 &&
        h("span", { class: "s12 t3 nowrap" }, `${values.length} match${values.length === 1 ? "" : "es"}`),
      day && weekday(value) && h("span", { class: "s12 t3 nowrap" }, weekday(value)),
      day && calendarButton(calendarKey, "calendar"),
    ),
    isOpen &&
      values.length > 0 &&
      h(
        "div",
        { class: "pop below drop", key: "pop" },
        h(
          "div",
          { role: "listbox", id: `${id}-o`, "aria-label": `Suggestions for ${plain(name)}` },
          values.map((each, row) =>
            h(
              "div",
              {
                class: `it ${row === at ? "on" : ""}`,
                role: "option",
                id: `${id}-o${row}`,
                "aria-selected": row === at,
                key: row,
                onpointerdown: (event) => event.preventDefault(),
                onclick: () => take(each),
              },
              h("span", { class: "grow wrap-any" }, marked(each, value)),
              row === at && h("span", { class: "kbd", "aria-hidden": "true" }, "↵"),
            ),
          ),
        ),
        h("hr"),
        h("div", { class: "h" }, "Suggested by ", shown(server), `, ${values.length}`),
      ),
    ui.menu === calendarKey &&
      calendar(calendarKey, value, (chosen) => {
        ui.menu = "";
        if (chosen) set(chosen);
        redraw();
        document.getElementById(id)?.focus();
      }),
  );
}

function marked(text, typed) {
  const at = typed ? text.toLowerCase().indexOf(typed.toLowerCase()) : -1;
  return at < 0
    ? shown(text)
    : [
        shown(text.slice(0, at)),
        h("b", {}, shown(text.slice(at, at + typed.length))),
        shown(text.slice(at + typed.length)),
      ];
}
