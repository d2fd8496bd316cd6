// Elements from descriptions: what is drawn is a function of the board, and only differences touch the page.
// Text always becomes text nodes. The one way for HTML is `html`, the fragments that the server has cleaned (markdown.js).

import { setHtml } from "./markdown.js";

const SVG = new Set(["svg", "use", "rect", "path"]);
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0\u180b-\u180f\u{e0100}-\u{e01ef}]/u; // as in splice.host.text
const ALLOWED = new Set(["\n", "\t", "\u200c", "\u200d"]);

/** Describe an element. `null`, `false` and `undefined` among the children are nothing, lists are flattened. */
export function h(tag, props, ...kids) {
  return {
    tag,
    props: props || {},
    kids: kids.flat(Infinity).filter((kid) => kid !== null && kid !== undefined && kid !== false),
    key: props?.key,
  };
}

/** Describe an element that is made anew only when one of the values it depends on is another one. */
export function lazy(key, values, make) {
  return { key, values, make };
}

/** Text of others: whatever cannot be seen stands as its code point. */
export function shown(text) {
  text = String(text ?? "").replaceAll("\r\n", "\n");
  if (!UNSEEN.test(text)) return [text];
  const parts = [];
  let plain = "";
  for (const each of text) {
    if (ALLOWED.has(each) || !UNSEEN.test(each)) plain += each;
    else {
      if (plain) parts.push(plain);
      plain = "";
      parts.push(h("span", { class: "esc" }, named(each)));
    }
  }
  return plain ? [...parts, plain] : parts;
}

/** The same for attributes, which hold text only. */
export function plain(text) {
  text = String(text ?? "");
  if (!UNSEEN.test(text)) return text;
  return [...text].map((each) => (!UNSEEN.test(each) || ALLOWED.has(each) ? each : named(each))).join("");
}

/** How many characters of a text cannot be seen. */
export function unseen(text) {
  return [...String(text ?? "").replaceAll("\r\n", "\n")].filter((each) => UNSEEN.test(each) && !ALLOWED.has(each))
    .length;
}

/** A text without what cannot be seen. */
export const seen = (text) =>
  [...String(text ?? "")].filter((each) => !UNSEEN.test(each) || ALLOWED.has(each)).join("");

function named(each) {
  return each === "\x1b" ? "ESC" : `U+${each.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

export const icon = (name, extra = "") =>
  h("svg", { class: `i ${extra}`, "aria-hidden": "true" }, h("use", { href: `/static/icons.svg#${name}` }));

/** Make what stands below an element be what is described. */
export function patch(parent, described) {
  const kids = described.flat(Infinity).filter((kid) => kid !== null && kid !== undefined && kid !== false);
  const keyed = new Map();
  const loose = [];
  for (const node of parent.childNodes) {
    if (node.splice?.key !== undefined) keyed.set(node.splice.key, node);
    else loose.push(node);
  }
  const used = new Set();
  const nodes = kids.map((kid) => {
    const old =
      typeof kid === "object" && kid.key !== undefined
        ? keyed.get(kid.key)
        : loose.find((node) => !used.has(node) && fits(node, kid));
    const node = made(old && !used.has(old) ? old : null, kid, parent);
    used.add(node);
    return node;
  });
  for (const node of [...parent.childNodes]) if (!used.has(node)) node.remove();
  let place = parent.firstChild;
  for (const node of nodes) {
    if (node === place) place = place.nextSibling;
    else parent.insertBefore(node, place);
  }
}

function fits(node, kid) {
  if (typeof kid !== "object") return node.nodeType === 3;
  return node.nodeType === 1 && node.localName === kid.tag;
}

function made(old, kid, parent) {
  if (typeof kid !== "object") {
    const text = String(kid);
    if (!old) return document.createTextNode(text);
    if (old.data !== text) old.data = text;
    return old;
  }
  if (kid.make) {
    if (old && same(old.splice.values, kid.values)) return old;
    const node = made(old, kid.make(), parent);
    Object.assign(node.splice, { key: kid.key, values: kid.values });
    return node;
  }
  let node = old && fits(old, kid) ? old : null;
  const isNew = !node;
  if (isNew) {
    node = SVG.has(kid.tag)
      ? document.createElementNS("http://www.w3.org/2000/svg", kid.tag)
      : document.createElement(kid.tag);
    node.splice = { props: {} };
  }
  node.splice.key = kid.key;
  give(node, kid.props);
  if (kid.props.html) setHtml(node, kid.props.html);
  else if (!kid.props.own) patch(node, kid.kids);
  if (kid.props.value !== undefined && node.value !== kid.props.value) node.value = kid.props.value;
  kid.props.ref?.(node, isNew);
  return node;
}

const READ = new Set(["aria-label", "title", "alt", "placeholder"]); // people read them, or hear them
const SPECIAL = new Set(["key", "ref", "html", "own", "value"]);

function give(node, props) {
  const before = node.splice.props;
  for (const name of Object.keys(before)) if (!(name in props)) set(node, name, null);
  for (const [name, value] of Object.entries(props)) if (before[name] !== value) set(node, name, value);
  node.splice.props = props;
}

function set(node, name, value) {
  if (SPECIAL.has(name)) return;
  if (name.startsWith("on"))
    node[name] = value ? (event) => void value(event) : null; // false would keep keys from it
  else if (value === null || value === undefined || (value === false && !name.startsWith("aria-")))
    node.removeAttribute(name);
  else if (value === true && !name.startsWith("aria-")) node.setAttribute(name, "");
  else node.setAttribute(name, READ.has(name) ? plain(value) : String(value));
}

function same(one, other) {
  return one !== undefined && one.length === other.length && one.every((each, place) => Object.is(each, other[place]));
}
