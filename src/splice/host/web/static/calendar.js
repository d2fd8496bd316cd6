// A month to choose a day from, by arrow keys or pointer.

import { h, icon } from "./dom.js";
import { redraw, ui } from "./state.js";

const DAYS = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"];
const shownAt = new Map();
const iso = (date) =>
  `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}`;

/** The button in a field that shows and hides its calendar. */
export const calendarButton = (key, sign) =>
  h(
    "button",
    {
      type: "button",
      class: "btn icon quiet tiny",
      tabindex: -1,
      "aria-label": "Calendar",
      "aria-haspopup": "dialog",
      "aria-expanded": ui.menu === key,
      onclick: () => toggleCalendar(key),
    },
    icon(sign, "i-s"),
  );

/** Show a calendar, or hide it. */
export function toggleCalendar(key) {
  ui.menu = ui.menu === key ? "" : key;
  redraw();
}

export function calendar(key, value, choose) {
  const given = new Date(`${value}T12:00:00`);
  const at = shownAt.get(key) ?? (Number.isNaN(given.getTime()) ? new Date() : given);
  const first = new Date(at.getFullYear(), at.getMonth(), 1, 12);
  const offset = (first.getDay() + 6) % 7;
  const days = new Date(at.getFullYear(), at.getMonth() + 1, 0).getDate();
  const weeks = Array.from({ length: Math.ceil((offset + days) / 7) }, (_, week) =>
    Array.from(
      { length: 7 },
      (_, day) => new Date(first.getFullYear(), first.getMonth(), 1 - offset + week * 7 + day, 12),
    ),
  );
  const move = (days, months = 0) => {
    shownAt.set(
      key,
      new Date(at.getFullYear(), at.getMonth() + months, months ? Math.min(at.getDate(), 28) : at.getDate() + days, 12),
    );
    redraw();
    requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector(".cal [tabindex='0']")?.focus()));
  };
  const end = (chosen) => {
    shownAt.delete(key);
    choose(chosen);
  };
  const keys = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[event.key];
    if (step) move(step);
    else if (event.key === "PageUp" || event.key === "PageDown") move(0, event.key === "PageUp" ? -1 : 1);
    else if (event.key === "Escape") end("");
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const month = first.toLocaleString("en", { month: "long", year: "numeric" });
  return h(
    "div",
    {
      class: "pop below cal-pop",
      role: "group",
      "aria-label": "Calendar",
      key: "cal",
      onkeydown: keys,
      ref: (node, isNew) => isNew && setTimeout(() => node.querySelector("[tabindex='0']")?.focus()),
    },
    h(
      "div",
      { class: "row" },
      h(
        "button",
        {
          type: "button",
          class: "btn icon quiet small flip",
          "aria-label": "Month before",
          tabindex: -1,
          onclick: () => move(0, -1),
        },
        icon("right"),
      ),
      h("span", { class: "grow m center" }, month),
      h(
        "button",
        {
          type: "button",
          class: "btn icon quiet small",
          "aria-label": "Next month",
          tabindex: -1,
          onclick: () => move(0, 1),
        },
        icon("right"),
      ),
    ),
    h(
      "table",
      { class: "cal", role: "grid", "aria-label": month },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          DAYS.map((day) => h("th", { scope: "col" }, day)),
        ),
      ),
      h(
        "tbody",
        {},
        weeks.map((week) =>
          h(
            "tr",
            {},
            week.map((date) =>
              h(
                "td",
                {
                  role: "gridcell",
                  "aria-selected": iso(date) === value,
                  class: date.getMonth() === at.getMonth() ? "" : "out",
                },
                h(
                  "button",
                  {
                    type: "button",
                    tabindex: iso(date) === iso(at) ? 0 : -1,
                    "aria-label": date.toLocaleString("en", { day: "numeric", month: "long", year: "numeric" }),
                    onclick: () => end(iso(date)),
                  },
                  String(date.getDate()),
                ),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}
