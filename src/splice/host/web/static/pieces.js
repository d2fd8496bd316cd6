// Small pieces that stand everywhere: tiles, chips, buttons, notes, their words, tabs.

import { server } from "./board.js";
import { h, icon, lazy, plain, shown } from "./dom.js";
import { change, redraw, ui } from "./state.js";

/** Two letters on the colour that the host gave the server. */
export function tile(name, large = false) {
  const letters =
    [...(name || "Splice")]
      .filter((each) => /[\p{L}\p{N}]/u.test(each))
      .slice(0, 2)
      .join("") || "?";
  return h(
    "span",
    { class: `tile ${hue(name)} ${large ? "lg" : ""}`, "aria-hidden": "true" },
    letters[0].toUpperCase() + letters.slice(1).toLowerCase(),
  );
}

export const hue = (name) => `id-${server(name) ? (((server(name).hue ?? 1) - 1) % 6) + 1 : 6}`;

/** What a server wrote, beside its seam. */
export const theirs = (name, by, ...kids) =>
  h("div", { class: `theirs ${hue(name)}`, dir: "auto" }, by && h("p", { class: "by", dir: "ltr" }, by), kids);

const STATES = {
  ready: ["ready", "ready"],
  starting: ["busy", "starting"],
  working: ["busy", "working"],
  login: ["login", "sign in"],
  untrusted: ["login", "not trusted"],
  crashed: ["crash", "crashed"],
  failed: ["crash", "failed"],
  asleep: ["idle", "not started"],
  off: ["idle", "off"],
};

/** The state of a server as shape and word. */
export function state(item, isWorking = false) {
  const [dot, word] = STATES[isWorking && item.state === "ready" ? "working" : item.state] ?? STATES.asleep;
  const tone = { crash: "bad", login: "warn" }[dot] ?? "t3";
  return { dot, word, tone, isTroubled: dot === "crash" || dot === "login" };
}

export const dot = (of) => h("span", { class: `dot ${of.dot}`, role: "img", "aria-label": of.word });

export const chip = (text, extra = "", sign = null) =>
  h("span", { class: `chip ${extra}` }, sign && icon(sign), h("span", { class: "clip" }, shown(text)));

export function button(
  label,
  onclick,
  { kind = "", sign = null, key = undefined, off = false, why = "", ...rest } = {},
) {
  return h(
    "button",
    { type: "button", class: `btn ${kind}`, onclick, disabled: off, title: off && why ? why : null, key, ...rest },
    sign && icon(sign),
    label,
  );
}

export const iconButton = (label, sign, onclick, kind = "quiet small", rest = {}) =>
  h(
    "button",
    { type: "button", class: `btn icon ${kind}`, "aria-label": label, title: label, onclick, ...rest },
    icon(sign),
  );

export const note = (kind, sign, ...kids) =>
  h("div", { class: `note ${kind}` }, icon(sign, "i-s"), h("div", { class: "grow" }, kids));

export const empty = (sign, title, text, ...kids) =>
  h(
    "div",
    { class: "empty" },
    icon(sign),
    h("span", { class: "b" }, title),
    text && h("span", { class: "s12" }, text),
    kids,
  );

export const kbd = (text) => h("span", { class: "kbd", "aria-hidden": "true" }, text);

/** Tabs that arrow keys walk. `labels` are pairs of an id and a label. */
export function tabs(id, label, labels, kind = "tabs") {
  const chosen = labels.some(([each]) => each === ui.tabs.get(id)) ? ui.tabs.get(id) : labels[0][0];
  const choose = (each) => {
    ui.tabs.set(id, each);
    redraw();
  };
  const walk = (event) => {
    const at = labels.findIndex(([each]) => each === chosen);
    const next = {
      ArrowRight: (at + 1) % labels.length,
      ArrowLeft: (at - 1 + labels.length) % labels.length,
      Home: 0,
      End: labels.length - 1,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    choose(labels[next][0]);
    event.currentTarget.children[next].focus();
  };
  const list = h(
    "div",
    { class: kind, role: "tablist", "aria-label": label, onkeydown: walk },
    labels.map(([each, text, number]) =>
      h(
        "button",
        {
          type: "button",
          role: "tab",
          key: each,
          "aria-selected": each === chosen,
          tabindex: each === chosen ? 0 : -1,
          onclick: () => choose(each),
        },
        text,
        number !== undefined && number !== null && h("span", { class: "n" }, String(number)),
      ),
    ),
  );
  return [chosen, list];
}

/** A menu that hangs on a button: arrow keys walk, Esc closes. Items are [sign, label, action] or a string as heading. */
export function menu(id, items, extra = "up end") {
  if (ui.menu !== id) return null;
  return h(
    "div",
    {
      class: `pop menu ${extra}`,
      role: "menu",
      key: `menu-${id}`,
      onkeydown: walkMenu,
      ref: (node, isNew) =>
        isNew && setTimeout(() => node.querySelector("[role^=menuitem]")?.focus({ preventScroll: true })),
    },
    items.filter(Boolean).map((item, at) =>
      typeof item === "string"
        ? item === "-"
          ? h("hr", { role: "separator" })
          : h("div", { class: "h", role: "presentation" }, shown(item))
        : h(
            "button",
            {
              type: "button",
              class: `it ${item[3] ?? ""}`,
              role: "menuitem",
              key: `it${at}`,
              tabindex: -1,
              onclick: () => {
                closeMenu();
                item[2]();
              },
            },
            typeof item[0] === "string" ? icon(item[0]) : item[0],
            h("span", { class: "grow" }, shown(item[1])),
          ),
    ),
  );
}

let opener = null;

export function toggleMenu(id, event) {
  opener = event?.currentTarget ?? opener;
  change({ menu: ui.menu === id ? "" : id });
}

export function closeMenu() {
  if (!ui.menu) return;
  change({ menu: "" });
  if (opener?.isConnected) opener.focus({ preventScroll: true });
}

function walkMenu(event) {
  const all = [...event.currentTarget.querySelectorAll("[role^=menuitem]")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape" || event.key === "Tab") {
    closeMenu();
    if (event.key === "Escape") event.preventDefault();
    event.stopPropagation();
  }
  if (!step) return;
  event.preventDefault();
  event.stopPropagation();
  all[(all.indexOf(document.activeElement) + step + all.length) % all.length]?.focus();
}

addEventListener("pointerdown", (event) => {
  if (ui.menu && !event.target.closest(".pop, [aria-haspopup]")) change({ menu: "" });
});

const HOLD_MS = 900;
const held = new Map();
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** A button that acts when it was held for 0.9 s; without motion, when it was pressed twice. */
export function hold(label, act, { kind = "", off = false, why = "", key, verb = "allow" } = {}) {
  let timer = 0;
  const name = key ?? label;
  held.set(name, act); // what it does now: the button itself stays while it is held
  const again = `${name}#again`; // of this question: a press on another one is no press on this
  const start = (event) => {
    const node = event.currentTarget;
    if (node.disabled || timer) return;
    node.dataset.holding = "1";
    timer = setTimeout(() => {
      stop(event, node);
      held.get(name)();
    }, HOLD_MS);
  };
  const stop = (_, node) => {
    clearTimeout(timer);
    timer = 0;
    if (node) delete node.dataset.holding;
  };
  const press = () => {
    if (ui.tabs.get(again)) {
      ui.tabs.delete(again);
      act();
    } else {
      ui.tabs.set(again, true);
      redraw();
    }
  };
  if (calm.matches)
    return button(ui.tabs.get(again) ? `Press again to ${verb}` : label, press, {
      kind: `hold ${kind}`,
      off,
      why,
      key,
      onblur: () => {
        if (ui.tabs.delete(again)) redraw();
      },
    });
  return lazy(`hold-${name}`, [label, kind, off, why], () =>
    h(
      "button",
      {
        type: "button",
        class: `btn hold ${kind}`,
        disabled: off,
        title: off && why ? why : "Hold for a second",
        "data-hold": "1",
        onpointerdown: start,
        onpointerup: (event) => stop(event, event.currentTarget),
        onpointerleave: (event) => stop(event, event.currentTarget),
        onpointercancel: (event) => stop(event, event.currentTarget),
        onblur: (event) => stop(event, event.currentTarget),
        onkeydown: (event) => {
          if (event.key === " ") {
            event.preventDefault();
            event.stopPropagation();
            if (!event.repeat) start(event);
          }
        },
        onkeyup: (event) => {
          if (event.key === " ") stop(event, event.currentTarget);
        },
        oncontextmenu: (event) => event.preventDefault(),
      },
      label,
    ),
  );
}

/** A switch with its name. */
export const toggle = (label, on, onchange, rest = {}) =>
  h("button", {
    type: "button",
    class: "switch",
    role: "switch",
    "aria-checked": Boolean(on),
    "aria-label": plain(label),
    onclick: () => onchange(!on),
    ...rest,
  });

export const check = (label, value, onchange) =>
  h(
    "span",
    {
      class: "check",
      role: "checkbox",
      "aria-checked": String(value),
      "aria-label": label,
      tabindex: 0,
      onclick: onchange,
      onkeydown: (event) => {
        if (event.key === " ") {
          event.preventDefault();
          onchange();
        }
      },
    },
    icon("check"),
  );

export const search = (label, value, oninput, extra = "", rest = {}) =>
  h(
    "div",
    { class: `input ${extra}` },
    icon("search"),
    h("input", {
      "aria-label": label,
      placeholder: label,
      value,
      oninput: (event) => oninput(event.target.value),
      autocomplete: "off",
      spellcheck: "false",
      ...rest,
    }),
  );

export function copy(text) {
  navigator.clipboard?.writeText(text);
}
