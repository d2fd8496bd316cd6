// The fields of a form, drawn by us: one control for each kind that the host made of the schema.

import { calendar } from "./calendar.js";
import { h, icon, plain, shown } from "./dom.js";
import * as json from "./json.js";
import { redraw, ui } from "./state.js";

const SHORT = 32;
const INPUTS = { email: "email", uri: "url", integer: "numeric", number: "decimal" };

/** Describe the controls of fields. `set(name, value)` takes what was typed, `left(name)` that a field was left. */
export function controls(fields, values, given) {
  return fields.map(titled).map((field) => {
    const id = `f-${given.id}-${field.name}`;
    const problem = given.problems[field.name];
    const made = { id, problem, value: values[field.name], set: (value) => given.set(field.name, value), left: () => given.left?.(field.name), server: given.server, known: values };
    const isWide = fields.length === 1 || field.kind === "tick" || field.kind === "long" || field.kind === "json" || (field.kind === "one" && field.choices.length > 3 && field.choices.length <= 6);
    return h("div", { class: `field ${isWide ? "all" : ""}`, key: field.name, "data-field": field.name }, (DRAWN[field.kind] ?? text)(field, made),
      problem && h("p", { class: "error", id: `${id}-e` }, icon("alert"), h("span", {}, shown(problem))));
  });
}

const about = (field, made) => [field.description && `${made.id}-d`, field.hint && !made.problem && `${made.id}-h`, made.problem && `${made.id}-e`].filter(Boolean).join(" ") || null;
const req = (field) => (field.is_required ? h("span", { class: "req", "aria-hidden": "true" }, "required") : null);
/** A field without a title is called by its description: the name is meant for programs. */
export function titled(field) {
  const isName = field.title === field.name && field.description && field.description.length <= 90;
  return isName ? { ...field, title: field.description, description: "" } : field;
}

const label = (field, made, tag = "label") => [h(tag, { class: "label", for: tag === "label" ? made.id : null, id: `${made.id}-l` }, h("span", {}, shown(field.title || field.name)), req(field)), field.description && h("p", { class: "hint", id: `${made.id}-d`, dir: "auto" }, shown(field.description))];
const hint = (field, made, extra = null) => (!made.problem && (field.hint || extra) ? h("p", { class: "hint", id: `${made.id}-h` }, shown(field.hint || extra)) : null);

function text(field, made) {
  const value = made.value === undefined || made.value === null ? "" : String(made.value);
  const near = field.max && ["text", "long"].includes(field.kind) && value.length >= field.max * 0.8;
  const common = {
    id: made.id, value, "aria-invalid": made.problem ? true : null, "aria-describedby": about(field, made), "aria-required": field.is_required ? true : null, autocomplete: "off", spellcheck: field.kind === "long" ? null : "false",
    oninput: (event) => made.set(event.target.value === "" ? undefined : number(field, event.target.value)), onblur: made.left,
  };
  const counter = near && h("span", { class: "s12 t3 num" }, `${value.length} of ${field.max}`);
  if (field.kind === "long") return [label(field, made), h("textarea", { class: `input grow-text ${made.problem ? "invalid" : ""}`, rows: 3, ...common }), counter, hint(field, made)];
  const stepper = field.kind === "integer" && h("span", { class: "row gap4" }, ["−", "+"].map((sign, at) => h("button", { type: "button", class: "btn quiet small", "aria-label": `${at ? "More" : "Less"}: ${plain(field.title)}`, tabindex: -1, onclick: () => { made.set(bounded(field, (Number(value) || 0) + (at ? 1 : -1))); made.left(); } }, sign)));
  return [label(field, made), h("div", { class: `input ${made.problem ? "invalid" : ""}` }, field.is_secret && icon("lock"), h("input", { ...common, inputmode: INPUTS[field.kind], type: field.is_secret ? "password" : "text", class: ["integer", "number"].includes(field.kind) ? "num" : "" }), counter, stepper), hint(field, made, field.example && `as in ${field.example}`)];
}

const bounded = (field, value) => Math.min(field.max ?? Infinity, Math.max(field.min ?? -Infinity, value));

function number(field, value) {
  if (!["integer", "number"].includes(field.kind)) return value;
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value.trim()) ? Number(value) : value;
}

function date(field, made) {
  const value = made.value ?? "";
  const key = `cal-${made.id}`;
  const isOpen = ui.menu === key;
  const open = () => { ui.menu = key; redraw(); };
  const isDate = field.kind === "date";
  const parsed = isDate && /^\d{4}-\d{2}-\d{2}$/.test(value) ? new Date(`${value}T12:00:00`) : null;
  const words = parsed && !Number.isNaN(parsed.getTime()) ? parsed.toLocaleString("en", { weekday: "short", day: "numeric", month: "short" }) : "";
  const form = { date: "2024-06-15", time: "09:30:00Z", datetime: "2024-06-15T09:30:00Z" }[field.kind];
  return [label(field, made), h("div", { class: "anchor" }, h("div", { class: `input ${made.problem ? "invalid" : ""}` }, icon(field.kind === "time" ? "clock" : "calendar"),
    h("input", { id: made.id, value, class: "num", placeholder: field.example || form, "aria-invalid": made.problem ? true : null, "aria-describedby": about(field, made), "aria-required": field.is_required ? true : null, autocomplete: "off", spellcheck: "false", oninput: (event) => made.set(event.target.value || undefined), onblur: made.left, onkeydown: (event) => { if (isDate && event.key === "ArrowDown") { event.preventDefault(); open(); } } }),
    words && h("span", { class: "s12 t3 nowrap" }, words), isDate && h("button", { type: "button", class: "btn icon quiet tiny", tabindex: -1, "aria-label": "Calendar", "aria-haspopup": "dialog", "aria-expanded": isOpen, onclick: () => (isOpen ? (ui.menu = "", redraw()) : open()) }, icon("down", "i-s"))),
  isOpen && calendar(key, value, (chosen) => { ui.menu = ""; if (chosen) { made.set(chosen); made.left(); } redraw(); document.getElementById(made.id)?.focus(); })),
  hint(field, made, isDate ? "Type a date, or press ↓ for the calendar" : `as in ${form}`)];
}

function tick(field, made) {
  const on = made.value === true;
  const flip = () => { made.set(!on); made.left(); };
  return h("div", { class: `opt ${made.problem ? "invalid" : ""}`, id: made.id, role: "checkbox", "aria-checked": on, tabindex: 0, "aria-describedby": about(field, made), onclick: flip, onkeydown: (event) => { if (event.key === " ") { event.preventDefault(); flip(); } } },
    h("span", { class: "check", "aria-checked": on, "aria-hidden": "true" }, icon("check")), h("span", { class: "grow" }, h("span", { class: "m" }, shown(field.title)), field.description && h("span", { class: "t2 s12 block", id: `${made.id}-d` }, shown(field.description))), h("span", { class: "s12 t3" }, "required"));
}

function toggle(field, made) {
  const on = made.value === true;
  const isTheirs = field.default !== undefined && field.default === (made.value ?? field.default);
  return [label(field, made, "span"), h("div", { class: "row gap12 even-h" }, h("button", { type: "button", id: made.id, class: "switch", role: "switch", "aria-checked": on, "aria-labelledby": `${made.id}-l`, "aria-describedby": about(field, made), onclick: () => { made.set(!on); made.left(); } }),
    h("span", { class: "t2" }, on ? "On" : "Off", isTheirs && h("span", { class: "t3 s12" }, made.server ? [" ", shown(made.server), "’s default"] : " default")))];
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

function one(field, made) {
  const chosen = field.choices.findIndex(([value]) => same(value, made.value));
  const choose = (at) => { made.set(field.choices[at]?.[0]); made.left(); };
  const size = field.choices.reduce((sum, [, words]) => sum + words.length, 0);
  if (field.choices.length > 6) return combo(field, made, chosen, choose);
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
  return [label(field, made, "span"), h("div", { class: isShort ? `seg fill ${made.problem ? "invalid" : ""}` : "radios", role: "radiogroup", id: made.id, "aria-labelledby": `${made.id}-l`, "aria-describedby": about(field, made), onkeydown: walk },
    field.choices.map(([, words], at) => h("button", { type: "button", key: at, class: isShort ? null : "opt", role: "radio", "aria-checked": at === chosen, tabindex: at === Math.max(chosen, 0) ? 0 : -1, onclick: () => choose(clear && at === chosen ? -1 : at) }, !isShort && h("span", { class: "radio" }), h("span", { class: "clip" }, shown(words))))), hint(field, made)];
}

function combo(field, made, chosen, choose) {
  const key = `combo-${made.id}`;
  const isOpen = ui.menu === key;
  const words = isOpen ? (ui.tabs.get(key) ?? "") : chosen >= 0 ? field.choices[chosen][1] : "";
  const found = field.choices.map(([, each], at) => [each, at]).filter(([each]) => !isOpen || each.toLowerCase().includes(words.toLowerCase())).slice(0, 200);
  const at = Math.min(ui.tabs.get(`${key}#`) ?? 0, found.length - 1);
  const show = (open, typed = "") => { ui.menu = open ? key : ""; ui.tabs.set(key, typed); ui.tabs.set(`${key}#`, 0); redraw(); };
  const keys = (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); if (!isOpen) show(true); else { ui.tabs.set(`${key}#`, (at + (event.key === "ArrowDown" ? 1 : -1) + found.length) % found.length); redraw(); } }
    else if (event.key === "Enter" && isOpen) { event.preventDefault(); if (found[at]) choose(found[at][1]); show(false); }
    else if (event.key === "Escape" && isOpen) { event.preventDefault(); event.stopPropagation(); show(false); }
  };
  return [label(field, made), h("div", { class: "anchor" }, h("div", { class: `input ${made.problem ? "invalid" : ""}` }, h("input", { id: made.id, role: "combobox", "aria-expanded": isOpen, "aria-controls": `${made.id}-o`, "aria-autocomplete": "list", "aria-activedescendant": isOpen && found.length ? `${made.id}-o${at}` : null, "aria-invalid": made.problem ? true : null, "aria-describedby": about(field, made), autocomplete: "off", value: words, placeholder: "Choose or type to search", onclick: () => !isOpen && show(true), oninput: (event) => show(true, event.target.value), onkeydown: keys, onblur: () => setTimeout(() => { if (ui.menu === key) show(false); made.left(); }, 150) }), icon("down", "i-s")),
    isOpen && h("div", { class: "pop below drop", role: "listbox", id: `${made.id}-o`, "aria-labelledby": `${made.id}-l`, key: "pop" }, found.length ? found.map(([each, place], row) => h("div", { class: `it ${row === at ? "on" : ""}`, role: "option", id: `${made.id}-o${row}`, "aria-selected": place === chosen, key: place, onpointerdown: (event) => event.preventDefault(), onclick: () => { choose(place); show(false); } }, h("span", { class: "grow" }, shown(each)), place === chosen && icon("check", "i-s"))) : h("p", { class: "h" }, "Nothing matches"))), hint(field, made)];
}

function many(field, made) {
  const chosen = Array.isArray(made.value) ? made.value : [];
  const flip = (value) => { const next = chosen.some((each) => same(each, value)) ? chosen.filter((each) => !same(each, value)) : [...chosen, value]; made.set(next.length || field.is_required ? next : undefined); made.left(); };
  const limit = field.max_items ? `up to ${field.max_items}` : field.is_required ? "required" : "";
  return [h("span", { class: "label", id: `${made.id}-l` }, h("span", {}, shown(field.title)), limit && h("span", { class: "req" }, limit)), field.description && h("p", { class: "hint", id: `${made.id}-d` }, shown(field.description)),
    h("div", { class: "row wrap gap6", role: "group", id: made.id, tabindex: -1, "aria-labelledby": `${made.id}-l`, "aria-describedby": about(field, made) }, field.choices.map(([value, words], at) => h("button", { type: "button", class: "toggle-chip", key: at, role: "checkbox", "aria-checked": chosen.some((each) => same(each, value)), onclick: () => flip(value) }, icon("check"), h("span", { class: "clip" }, shown(words))))), hint(field, made)];
}

function raw(field, made) {
  const key = `json-${made.id}`;
  const source = ui.tabs.get(key) ?? (made.value === undefined ? "" : json.text(made.value));
  const error = source.trim() ? json.read(source).error : "";
  return [label(field, made), h("textarea", { id: made.id, class: `input code-in ${made.problem || error ? "invalid" : ""}`, rows: 4, spellcheck: "false", value: source, "aria-invalid": made.problem || error ? true : null, "aria-describedby": about(field, made), oninput: (event) => { ui.tabs.set(key, event.target.value); const read = json.read(event.target.value); made.set(event.target.value.trim() === "" ? undefined : read.error ? event.target.value : read.value); }, onblur: made.left }), error && !made.problem && h("p", { class: "error" }, icon("alert"), h("span", {}, error)), hint(field, made, "JSON")];
}

const DRAWN = { text, long: text, email: text, uri: text, integer: text, number: text, date, datetime: date, time: date, tick, switch: toggle, one, many, json: raw };
