// Arguments of a call, whole: as fields with real line ends, or as JSON. What differs from the last call is marked.

import { h, shown } from "./dom.js";
import * as json from "./json.js";
import { weekday } from "./words.js";

/** Describe arguments as a list of names and values; a `isWhole` one also says which of the last call's are not there. */
export function list(values, { before = null, flow = false, schema = null, isWhole = false } = {}) {
  const names = Object.keys(values ?? {});
  const gone =
    isWhole && before && typeof before === "object" ? Object.keys(before).filter((name) => !(name in values)) : [];
  if (!names.length && !gone.length) return h("p", { class: "s12 t3" }, "No arguments.");
  const isObject = before && typeof before === "object";
  return h(
    "dl",
    { class: `arglist ${flow ? "flow" : "kv"}`, tabindex: 0 },
    names.map((name) => {
      const isNew = isObject && JSON.stringify(before[name]) !== JSON.stringify(values[name]);
      const isDefault =
        schema?.properties?.[name] && JSON.stringify(schema.properties[name]?.default) === JSON.stringify(values[name]);
      const pair = [
        h("dt", {}, shown(name)),
        h(
          "dd",
          { class: typeof values[name] === "number" ? "num" : "", dir: "auto" },
          isNew && typeof values[name] !== "object"
            ? h("mark", { title: "Not as in the last call" }, value(values[name]))
            : value(values[name]),
          isNew && h("span", { class: "t3 s12 since" }, name in before ? " changed" : " new"),
          isDefault && h("span", { class: "t3" }, " default"),
        ),
      ];
      return flow ? h("div", {}, pair) : pair;
    }),
    gone.map((name) => [h("dt", {}, shown(name)), h("dd", { class: "t3", dir: "auto" }, "not sent this time")]),
  );
}

function value(of) {
  if (typeof of === "string") {
    if (!of) return h("span", { class: "t3" }, "empty");
    const day = weekday(of);
    return of.includes("\n") ? h("pre", {}, shown(of)) : [...shown(of), day && h("span", { class: "t3" }, ` ${day}`)];
  }
  if (Array.isArray(of) && of.length && of.every((each) => ["string", "number", "boolean"].includes(typeof each)))
    return h(
      "ul",
      { class: "values" },
      of.map((each) => h("li", {}, typeof each === "string" ? shown(each) : String(each))),
    );
  if (of !== null && typeof of === "object" && !("source" in of))
    return h("pre", { class: "mono" }, json.coloured(json.text(of)));
  return String(of);
}

/** A short line of arguments, where nothing is decided. */
export function short(values) {
  const line = Object.keys(values ?? {}).length ? JSON.stringify(values) : "";
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}
