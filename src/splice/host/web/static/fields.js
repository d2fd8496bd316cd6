// The fields of a form, drawn by us: one control for each kind that the host made of the schema.

import { calendar, calendarButton, toggleCalendar } from "./calendar.js";
import { combobox } from "./combo.js";
import { h, icon, plain, shown } from "./dom.js";
import * as json from "./json.js";
import { redraw, ui } from "./state.js";
import { weekday } from "./words.js";

const SHORT = 32;
const PILLS = 6; // more choices than these are found by typing
const FORMS = { date: "2026-01-31", time: "09:30:00Z", datetime: "2026-01-31T09:30" };
const INPUTS = { email: "email", uri: "url", integer: "numeric", number: "decimal" };

/** Describe the controls of fields. `set(name, value)` takes what was typed, `left(name)` that a field was left. */
export function controls(fields, values, given) {
  return fields.map(titled).map((field) => {
    const id = `f-${given.id}-${field.name}`;
    const problem = given.problems[field.name];
    const made = {
      id,
      problem,
      value: values[field.name],
      set: (value) => given.set(field.name, value),
      left: () => given.left?.(field.name),
      server: given.server,
      known: values,
    };
    const isWide =
      fields.length === 1 ||
      field.kind === "tick" ||
      field.kind === "long" ||
      field.kind === "json" ||
      (field.kind === "one" && field.choices.length > 3 && field.choices.length <= PILLS);
    return h(
      "div",
      { class: `field ${isWide ? "all" : ""}`, key: field.name, "data-field": field.name },
      (DRAWN[field.kind] ?? text)(field, made),
      problem && h("p", { class: "error", id: `${id}-e` }, icon("alert"), h("span", {}, shown(problem))),
    );
  });
}

const about = (field, made) =>
  [field.description && `${made.id}-d`, field.hint && !made.problem && `${made.id}-h`, made.problem && `${made.id}-e`]
    .filter(Boolean)
    .join(" ") || null;
const described = (field, made) => ({
  "aria-invalid": made.problem ? true : null,
  "aria-describedby": about(field, made),
  "aria-required": field.is_required ? true : null,
});
const req = (field) => (field.is_required ? h("span", { class: "req", "aria-hidden": "true" }, "required") : null);
/** A field without a title is called by its description: the name is meant for programs. */
export function titled(field) {
  const isName = field.title === field.name && field.description && field.description.length <= 90;
  return isName ? { ...field, title: field.description, description: "" } : field;
}

const label = (field, made, tag = "label") => [
  h(
    tag,
    { class: "label", for: tag === "label" ? made.id : null, id: `${made.id}-l` },
    h("span", {}, shown(field.title || field.name)),
    req(field),
  ),
  field.description && h("p", { class: "hint", id: `${made.id}-d`, dir: "auto" }, shown(field.description)),
];
const hint = (field, made, extra = null) =>
  !made.problem && (field.hint || extra)
    ? h("p", { class: "hint", id: `${made.id}-h` }, shown(field.hint || extra))
    : null;

const typed = new Map(); // what stands in a field of a number, as it was typed: "2." is on its way to 2.5

function text(field, made) {
  const isNumber = ["integer", "number"].includes(field.kind);
  const own = typed.get(made.id);
  const value =
    isNumber && own !== undefined && same(number(field, own), made.value)
      ? own
      : made.value === undefined || made.value === null
        ? ""
        : String(made.value);
  const near = field.max && ["text", "long"].includes(field.kind) && value.length >= field.max * 0.8;
  const step = (by) => {
    made.set(bounded(field, (Number(value) || 0) + by));
    made.left();
  };
  const common = {
    ...described(field, made),
    id: made.id,
    value,
    autocomplete: "off",
    spellcheck: field.kind === "long" ? null : "false",
    oninput: (event) => {
      typed.set(made.id, event.target.value);
      made.set(event.target.value === "" ? undefined : number(field, event.target.value));
    },
    onblur: () => {
      const tidy = whole(field, made.value);
      if (tidy !== made.value) made.set(tidy);
      made.left();
    },
    onkeydown: isNumber
      ? (event) => {
          const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
          if (by) {
            event.preventDefault();
            step(by);
          }
        }
      : null,
  };
  const counter =
    near &&
    h(
      "span",
      { class: `s12 num nowrap ${value.length > field.max ? "bad" : "t3"}` },
      `${value.length} of ${field.max}`,
    );
  if (field.kind === "long")
    return [
      label(field, made),
      h("textarea", { class: `input grow-text ${made.problem ? "invalid" : ""}`, rows: 3, ...common }),
      near ? counter : hint(field, made),
    ];
  const stepper =
    isNumber &&
    h(
      "span",
      { class: "row gap4 stepper" },
      ["−", "+"].map((sign, at) =>
        h(
          "button",
          {
            type: "button",
            class: "btn quiet small",
            "aria-label": `${at ? "More" : "Less"}: ${plain(field.title)}`,
            tabindex: -1,
            onclick: () => step(at ? 1 : -1),
          },
          sign,
        ),
      ),
    );
  return [
    label(field, made),
    h(
      "div",
      { class: `input ${made.problem ? "invalid" : ""}` },
      field.is_secret && icon("lock"),
      h("input", {
        ...common,
        inputmode: INPUTS[field.kind],
        type: field.is_secret ? "password" : "text",
        class: isNumber ? "num" : "",
      }),
      counter,
      stepper,
    ),
    hint(field, made, field.example && `as in ${field.example}`),
  ];
}

const bounded = (field, value) => Math.min(field.max ?? Infinity, Math.max(field.min ?? -Infinity, value));

/** Read a number. One with more digits than the page can hold stays as it was typed, and is refused rather than changed. */
function number(field, value) {
  if (!["integer", "number"].includes(field.kind)) return value;
  const isExact = value.replace(/\D/g, "").length <= 15;
  return isExact && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value.trim()) ? Number(value) : value;
}

const two = (count) => String(count).padStart(2, "0");

/** What was typed, as it is sent: without spaces around it, and a moment without a zone is one of this computer. */
export function whole(field, value) {
  if (typeof value !== "string" || ["text", "long", "json", "one"].includes(field.kind)) return value;
  const text = value.trim();
  const moment = field.kind === "datetime" ? /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?$/.exec(text) : null;
  const at = moment && new Date(`${moment[1]}T${moment[2]}${moment[3] ?? ":00"}`);
  if (!at || Number.isNaN(at.getTime())) return text;
  const zone = -at.getTimezoneOffset();
  return `${moment[1]}T${moment[2]}${moment[3] ?? ":00"}${zone < 0 ? "-" : "+"}${two(Math.floor(Math.abs(zone) / 60))}:${two(Math.abs(zone) % 60)}`;
}

function date(field, made) {
  const value = made.value ?? "";
  const key = `cal-${made.id}`;
  const isOpen = ui.menu === key;
  const hasDay = field.kind !== "time";
  const day = /^\d{4}-\d{2}-\d{2}/.exec(value)?.[0] ?? "";
  const take = (chosen) => {
    ui.menu = "";
    if (chosen)
      made.set(
        field.kind === "date"
          ? chosen
          : whole(field, `${chosen}${/^[T ].+/.exec(value.slice(day.length))?.[0] ?? "T09:00"}`),
      );
    if (chosen) made.left();
    redraw();
    document.getElementById(made.id)?.focus();
  };
  return [
    label(field, made),
    h(
      "div",
      { class: "anchor" },
      h(
        "div",
        { class: `input ${made.problem ? "invalid" : ""}` },
        icon(hasDay ? "calendar" : "clock"),
        h("input", {
          ...described(field, made),
          id: made.id,
          value,
          class: "num",
          placeholder: field.example || FORMS[field.kind],
          autocomplete: "off",
          spellcheck: "false",
          oninput: (event) => made.set(event.target.value || undefined),
          onblur: () => {
            const tidy = whole(field, made.value);
            if (tidy !== made.value) made.set(tidy);
            made.left();
          },
          onkeydown: (event) => {
            if (hasDay && event.key === "ArrowDown") {
              event.preventDefault();
              toggleCalendar(key);
            }
          },
        }),
        weekday(day) && h("span", { class: "s12 t3 nowrap" }, weekday(day)),
        hasDay && calendarButton(key, "down"),
      ),
      isOpen && calendar(key, day, take),
    ),
    hint({ ...field, hint: "" }, made, hasDay ? "Type it, or press ↓ for the calendar" : `as in ${FORMS.time}`),
  ];
}

function tick(field, made) {
  const on = made.value === true;
  const flip = () => {
    made.set(!on);
    made.left();
  };
  return h(
    "div",
    {
      class: `opt ${made.problem ? "invalid" : ""}`,
      id: made.id,
      role: "checkbox",
      "aria-checked": on,
      tabindex: 0,
      ...described(field, made),
      onclick: flip,
      onkeydown: (event) => {
        if (event.key === " ") {
          event.preventDefault();
          flip();
        }
      },
    },
    h("span", { class: "check", "aria-checked": on, "aria-hidden": "true" }, icon("check")),
    h(
      "span",
      { class: "grow" },
      h("span", { class: "m" }, shown(field.title)),
      field.description && h("span", { class: "t2 s12 block", id: `${made.id}-d` }, shown(field.description)),
    ),
    h("span", { class: "s12 t3" }, "required"),
  );
}

function toggle(field, made) {
  const on = made.value === true;
  const isTheirs = field.default !== undefined && field.default === (made.value ?? field.default);
  return [
    label(field, made, "span"),
    h(
      "div",
      { class: "row gap12 even-h" },
      h("button", {
        type: "button",
        id: made.id,
        class: "switch",
        role: "switch",
        "aria-checked": on,
        "aria-labelledby": `${made.id}-l`,
        "aria-describedby": about(field, made),
        onclick: () => {
          made.set(!on);
          made.left();
        },
      }),
      h(
        "span",
        { class: "t2" },
        on ? "On" : "Off",
        isTheirs && h("span", { class: "t3 s12" }, made.server ? [" ", shown(made.server), "’s default"] : " default"),
      ),
    ),
  ];
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

function one(field, made) {
  const chosen = field.choices.findIndex(([value]) => same(value, made.value));
  const choose = (at) => {
    made.set(field.choices[at]?.[0]);
    made.left();
  };
  const size = field.choices.reduce((sum, [, words]) => sum + words.length, 0);
  if (field.choices.length > PILLS) return combo(field, made, chosen, choose);
  const isShort = field.choices.length <= 3 && size <= SHORT;
  const clear = !field.is_required && chosen >= 0;
  const walk = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = (Math.max(chosen, 0) + step + field.choices.length) % field.choices.length;
    choose(next);
    event.currentTarget.children[next].focus();
  };
  return [
    label(field, made, "span"),
    h(
      "div",
      {
        class: isShort ? `seg fill ${made.problem ? "invalid" : ""}` : "radios",
        role: "radiogroup",
        id: made.id,
        "aria-labelledby": `${made.id}-l`,
        ...described(field, made),
        onkeydown: walk,
      },
      field.choices.map(([, words], at) =>
        h(
          "button",
          {
            type: "button",
            key: at,
            class: isShort ? null : "opt",
            role: "radio",
            "aria-checked": at === chosen,
            tabindex: at === Math.max(chosen, 0) ? 0 : -1,
            onclick: () => choose(clear && at === chosen ? -1 : at),
          },
          !isShort && h("span", { class: "radio" }),
          h("span", { class: "clip" }, shown(words)),
        ),
      ),
    ),
    hint(field, made),
  ];
}

function combo(field, made, chosen, choose) {
  const options = field.choices.map(([, words]) => ({ words }));
  return [
    label(field, made),
    combobox({
      id: made.id,
      options,
      chosen: [chosen],
      take: choose,
      left: made.left,
      invalid: Boolean(made.problem),
      attributes: described(field, made),
    }),
    hint(field, made),
  ];
}

/** Several of many: found by typing, and each chosen one stands as a chip. */
function chips(field, made, chosen, flip) {
  const places = chosen
    .map((each) => field.choices.findIndex(([value]) => same(value, each)))
    .filter((place) => place >= 0);
  return [
    combobox({
      id: made.id,
      options: field.choices.map(([, words]) => ({ words })),
      chosen: places,
      take: (at) => flip(field.choices[at][0]),
      left: made.left,
      isMany: true,
      invalid: Boolean(made.problem),
      attributes: described(field, made),
    }),
    places.length > 0 &&
      h(
        "div",
        { class: "row wrap gap6" },
        places.map((place) =>
          h(
            "span",
            { class: "chip acc", key: place },
            h("span", { class: "clip" }, shown(field.choices[place][1])),
            h(
              "button",
              {
                type: "button",
                class: "chip-x",
                "aria-label": `Take ${plain(field.choices[place][1])} off`,
                onclick: () => flip(field.choices[place][0]),
              },
              icon("x"),
            ),
          ),
        ),
      ),
  ];
}

function many(field, made) {
  const chosen = Array.isArray(made.value) ? made.value : [];
  const flip = (value) => {
    const next = chosen.some((each) => same(each, value))
      ? chosen.filter((each) => !same(each, value))
      : [...chosen, value];
    made.set(next.length || field.is_required ? next : undefined);
    made.left();
  };
  const limit = field.max_items ? `up to ${field.max_items}` : field.is_required ? "required" : "";
  const isLong = field.choices.length > PILLS;
  return [
    h(
      isLong ? "label" : "span",
      { class: "label", id: `${made.id}-l`, for: isLong ? made.id : null },
      h("span", {}, shown(field.title)),
      limit && h("span", { class: "req" }, limit),
    ),
    field.description && h("p", { class: "hint", id: `${made.id}-d` }, shown(field.description)),
    isLong
      ? chips(field, made, chosen, flip)
      : h(
          "div",
          {
            class: "row wrap gap6",
            role: "group",
            id: made.id,
            tabindex: -1,
            "aria-labelledby": `${made.id}-l`,
            "aria-describedby": about(field, made),
          },
          field.choices.map(([value, words], at) =>
            h(
              "button",
              {
                type: "button",
                class: "toggle-chip",
                key: at,
                role: "checkbox",
                "aria-checked": chosen.some((each) => same(each, value)),
                onclick: () => flip(value),
              },
              icon("check"),
              h("span", { class: "clip" }, shown(words)),
            ),
          ),
        ),
    (field.hint ?? "").toLowerCase() !== limit && hint(field, made),
  ];
}

function raw(field, made) {
  const key = `json-${made.id}`;
  const source = ui.tabs.get(key) ?? (made.value === undefined ? "" : json.text(made.value));
  const error = source.trim() ? json.read(source).error : "";
  return [
    label(field, made),
    h("textarea", {
      id: made.id,
      class: `input code-in ${made.problem || error ? "invalid" : ""}`,
      rows: 4,
      spellcheck: "false",
      value: source,
      "aria-invalid": made.problem || error ? true : null,
      "aria-describedby": about(field, made),
      oninput: (event) => {
        ui.tabs.set(key, event.target.value);
        const read = json.read(event.target.value);
        made.set(event.target.value.trim() === "" ? undefined : read.error ? event.target.value : read.value);
      },
      onblur: made.left,
    }),
    error && !made.problem && h("p", { class: "error" }, icon("alert"), h("span", {}, error)),
    hint(field, made, "JSON"),
    field.schema &&
      h(
        "details",
        { class: "defined" },
        h("summary", { class: "s12 t2" }, "Its schema"),
        json.code(json.text(field.schema), `Schema of ${plain(field.title)}`),
      ),
  ];
}

const DRAWN = {
  text,
  long: text,
  email: text,
  uri: text,
  integer: text,
  number: text,
  date,
  datetime: date,
  time: date,
  tick,
  switch: toggle,
  one,
  many,
  json: raw,
};
