// Dialogs: the focus is caught and given back, Esc is the harmless answer, the title gets the focus first.

import { h } from "./dom.js";

let before = null;
let openKey = null;

/** Describe a dialog. `close` is what Esc does. */
export function dialog(key, { width = "w-720", label = "dlg-title", close, onkeydown, extra = "" }, ...kids) {
  const keys = (event) => {
    if (event.key === "Escape" && close && !event.defaultPrevented) {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else if (event.key === "Tab") trap(event);
    else onkeydown?.(event);
  };
  return h(
    "div",
    { class: "scrim", key: `scrim-${key}`, onkeydown: keys },
    h(
      "div",
      {
        class: `dialog ${width} ${extra}`,
        role: "dialog",
        "aria-modal": "true",
        "aria-labelledby": label,
        "data-dialog": key,
      },
      h("span", { class: "sheet-grip" }),
      kids,
    ),
  );
}

export const title = (...kids) => h("h2", { id: "dlg-title", tabindex: -1, class: "dlg-title" }, kids);

function trap(event) {
  const all = [...event.currentTarget.querySelectorAll("a[href], button, input, textarea, [tabindex]")].filter(
    (node) => !node.disabled && node.tabIndex >= 0 && node.offsetParent !== null,
  );
  if (!all.length) return;
  const [first, last] = [all[0], all.at(-1)];
  if (event.shiftKey && (document.activeElement === first || !all.includes(document.activeElement))) {
    event.preventDefault();
    last.focus();
  } else if (!event.shiftKey && document.activeElement === last) {
    event.preventDefault();
    first.focus();
  }
}

/** Look after each drawing whether a dialog came or went. */
export function settle() {
  const node = document.querySelector("[data-dialog]");
  const key = node?.dataset.dialog ?? null;
  document.querySelector(".app, .welcome")?.toggleAttribute("inert", Boolean(node));
  if (key === openKey) return;
  if (key && !openKey) before = document.activeElement;
  openKey = key;
  if (node)
    (node.querySelector("[data-first]") ?? node.querySelector(".dlg-title") ?? node).focus({ preventScroll: true });
  else if (before?.isConnected) before.focus({ preventScroll: true });
  else document.querySelector(".say")?.focus({ preventScroll: true });
}
