// The models that can be chosen, and where their keys come from. A key is never typed into this page.

import * as board from "./board.js";
import { act } from "./commands.js";
import { h, shown } from "./dom.js";
import { button, chip } from "./pieces.js";
import { redraw } from "./state.js";
import { count, tokens } from "./words.js";

let keys = null;
let looked = ""; // what the search on this computer came to
let isLooking = false;

/** Choose a model; those of programs on this computer are looked for only when the person asks. */
export function modelChoice() {
  const all = board.all("model").sort((one, other) => Number(one.is_ai !== false) - Number(other.is_ai !== false));
  return h(
    "div",
    { class: "col gap12", key: "models" },
    h(
      "div",
      { class: "col gap6", role: "radiogroup", "aria-label": "Model", onkeydown: walk },
      all.map((each) => option(each, all)),
    ),
    !all.length && h("p", { class: "t3" }, "No model is set up."),
    h(
      "div",
      { class: "row wrap" },
      button(isLooking ? "Looking" : "Look for models on this computer", look, {
        kind: "small",
        sign: "search",
        off: isLooking,
      }),
      h("span", { class: "s12 t3", role: "status" }, looked),
    ),
  );
}

function option(each, all) {
  const about =
    each.is_ai === false
      ? "Follows rules, without a network. Good for trying everything here."
      : [each.where, each.window && `${tokens(each.window)} tokens`].filter(Boolean).join(" · ");
  const isFirst = each.is_chosen || (!all.some((one) => one.is_chosen) && each === all[0]);
  return h(
    "button",
    {
      type: "button",
      class: "opt",
      role: "radio",
      key: each.id,
      "aria-checked": Boolean(each.is_chosen),
      tabindex: isFirst ? 0 : -1,
      onclick: () => !each.is_chosen && act("choose_model", { id: each.id }),
    },
    h("span", { class: "radio" }),
    h(
      "span",
      { class: "grow col gap4" },
      h(
        "span",
        { class: "m wrap-any" },
        shown(board.labelOf(each)),
        each.is_ai === false && h("span", { class: "t3" }, " · no AI, offline"),
      ),
      h("span", { class: "s12 t3 wrap-any" }, shown(about || "on this computer")),
    ),
    each.is_found && chip("found here"),
  );
}

function walk(event) {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const all = [...event.currentTarget.querySelectorAll("[role=radio]")];
  const next = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];
  next.focus();
  next.click();
}

async function look() {
  isLooking = true;
  looked = "";
  redraw();
  const found = await act("find_models");
  isLooking = false;
  looked =
    found === undefined
      ? ""
      : found
        ? `${count(found, "model")} found. What listens there may be anything: one is used once you choose it.`
        : "Nothing answered where Ollama, llama.cpp, LM Studio and vLLM usually are.";
  redraw();
}

/** Which environment variable has the key of each provider, and whether it is set. */
export function keyChoice() {
  if (keys === null) {
    keys = [];
    act("model_keys").then((found) => {
      keys = found ?? [];
      redraw();
    });
  }
  return h(
    "div",
    { class: "col gap6", key: "keys" },
    h(
      "dl",
      { class: "kv lined keys" },
      keys.map((each) => [
        h("dt", { key: `t${each.provider}` }, each.title),
        h(
          "dd",
          { key: each.provider },
          h(
            "span",
            { class: "row wrap gap6" },
            h("code", {}, each.variable),
            each.is_set ? chip("set", "ok", "check") : chip("not set"),
            each.lacks && h("span", { class: "s12 t3" }, "needs ", h("code", {}, each.lacks)),
          ),
          h(
            "span",
            { class: "s12 t3 block" },
            each.is_set ? "Its models are in the list. " : "",
            `The key goes to ${each.where} and nowhere else.`,
          ),
        ),
      ]),
    ),
    h(
      "p",
      { class: "s12 t3" },
      "Keys are read from the environment that Splice was started in, never typed here. To use one, set its variable and start Splice again. A key in the keyring of your system, or another address: under ",
      h("code", {}, "models"),
      " in ",
      h("code", {}, "settings.json"),
      ".",
    ),
  );
}
