// A server wants to use the model: the prompt is looked at first, and the answer before the server gets it.

import * as board from "./board.js";
import { answer } from "./commands.js";
import { combobox } from "./combo.js";
import { changeState, guarded, offWhy, putAside, stateOf } from "./decisions.js";
import { dialog, title } from "./dialog.js";
import { h, icon, seen, shown, unseen } from "./dom.js";
import * as json from "./json.js";
import { button, chip, hue, kbd, menu, note, theirs, tile, toggle, toggleMenu } from "./pieces.js";
import { isFresh, ui } from "./state.js";
import { count, estimated } from "./words.js";

const head = (question, step, words, waiting, shares = false) =>
  h(
    "header",
    { class: "dlg-h" },
    tile(question.server, true),
    h(
      "div",
      { class: "grow" },
      title(words),
      h(
        "p",
        { class: "s12 t3" },
        waiting > 1 && `1 of ${waiting} · `,
        during(question),
        shares ? "your chat goes along, by your word" : "separate from your chat, which it cannot see",
      ),
    ),
    h(
      "div",
      { class: "steps-bar", role: "img", "aria-label": `Step ${step} of 2` },
      h(
        "span",
        { class: step === 1 ? "on" : "done" },
        h("span", { class: "n" }, step === 1 ? "1" : icon("check", "i-s")),
        "Prompt",
      ),
      h("hr"),
      h("span", { class: step === 2 ? "on" : "" }, h("span", { class: "n" }, "2"), "Answer"),
    ),
  );

const during = (question) => {
  const call = board.get(question.asked.call);
  return call ? ["during ", h("code", {}, shown(call.tool)), " · "] : "";
};

const parts = (content) => (Array.isArray(content) ? content : [content]);

/** Step one: the prompt. */
export function sampling(question, waiting) {
  const asked = question.asked;
  const state = stateOf(question, { texts: {}, editing: {}, model: asked.model, max: asked.max_tokens, shares: false });
  const isOver = asked.cap > 0 && state.max > asked.cap;
  const off = Boolean(offWhy()) || isOver || !(state.max > 0);
  const why = offWhy() || (isOver ? `Your cap for this server is ${asked.cap.toLocaleString("en")} tokens` : "");
  const send = (verdict) => guarded(question, () => answer(question, reviewed(question, state, verdict)));
  const deny = guarded(question, () => answer(question, { type: "reviewed", verdict: "deny" }));
  const id = `run-${question.id}`;
  return dialog(
    question.id,
    {
      width: "w-1040",
      onkeydown: keys(question, { d: deny, a: () => !off && send("once")() }),
      close: () => putAside(question),
    },
    head(question, 1, [shown(question.server), " wants to ask your model"], waiting, state.shares),
    h(
      "div",
      { class: "cols" },
      h(
        "div",
        { class: "pane", key: "left", tabindex: 0, role: "region", "aria-label": "Prompt" },
        asked.system && piece(question, state, "system", "System", asked.system),
        (asked.messages ?? []).map((message, at) =>
          parts(message.content).map((part, place) => said(question, state, message, part, at, place)),
        ),
        brought(question),
      ),
      h(
        "div",
        { class: "pane rule sunk", key: "right", tabindex: 0, role: "region", "aria-label": "Model and limits" },
        chooser(question, state),
        weights(asked),
        limits(question, state, isOver),
      ),
    ),
    h(
      "footer",
      { class: "dlg-f", "data-fresh": isFresh(question) ? true : null },
      h("span", { class: "s12 t3" }, "You see the answer before ", shown(question.server), " does."),
      h("span", { class: "push" }),
      button(["Deny", kbd("D")], deny, { off: Boolean(offWhy()), key: "deny" }),
      h(
        "span",
        { class: "anchor", key: "run" },
        menu(id, [
          `Use of your model by ${question.server}`,
          ["clock", `For this chat${upTo(asked)}`, send("chat")],
          ["server", `Always, for ${question.server}${upTo(asked)}`, send("always")],
          "-",
          "Unseen then, also the answer. Revoke any time in Permissions",
        ]),
        h(
          "div",
          { class: "split" },
          button([edited(state) ? "Run with your changes" : "Run once", kbd("A")], send("once"), {
            kind: "primary",
            off,
            why,
          }),
          h(
            "button",
            {
              type: "button",
              class: "btn primary",
              "aria-label": "More ways to allow",
              "aria-haspopup": "menu",
              "aria-expanded": ui.menu === id,
              disabled: off,
              onclick: (event) => toggleMenu(id, event),
            },
            icon("down", "i-s"),
          ),
        ),
      ),
    ),
  );
}

/** What is allowed for longer is bounded all the same. */
const upTo = (asked) => (asked.cap ? `, up to ${asked.cap.toLocaleString("en")} tokens each` : "");

const edited = (state) => Object.keys(state.texts).length > 0;

function reviewed(question, state, verdict) {
  const asked = question.asked;
  const made = { type: "reviewed", verdict };
  if (state.model !== asked.model) made.model = state.model;
  if (state.max !== asked.max_tokens) made.max_tokens = state.max;
  if (state.shares) made.shares_chat = true;
  if ("system" in state.texts) made.system = state.texts.system;
  if (Object.keys(state.texts).some((key) => key !== "system")) {
    made.messages = asked.messages.map((message, at) => {
      const content = parts(message.content).map((part, place) =>
        `${at}/${place}` in state.texts ? { ...part, text: state.texts[`${at}/${place}`] } : part,
      );
      return { ...message, content: Array.isArray(message.content) ? content : content[0] };
    });
  }
  return made;
}

/** A field shows nothing of what cannot be seen, so it is said, and taken out if the person wants. */
const hidden = (text, put) =>
  unseen(text) > 0 &&
  h(
    "div",
    { class: "row wrap" },
    h(
      "p",
      { class: "hint grow" },
      icon("alert", "i-s warn"),
      ` ${count(unseen(text), "character")} in it cannot be seen.`,
    ),
    button("Take them out", () => put(seen(text)), { kind: "small" }),
  );

function said(question, state, message, part, at, place) {
  const name = `Message ${at + 1}, ${message.role === "assistant" ? "the model" : "user"}`;
  if (part?.type === "text") return piece(question, state, `${at}/${place}`, name, part.text ?? "");
  if (part?.type === "image" && /^image\/(png|jpeg|gif|webp)$/.test(part.mimeType ?? ""))
    return h(
      "div",
      { class: "col gap6" },
      h("span", { class: "m" }, name),
      h("img", { class: "shot", alt: "Image in the prompt", src: `data:${part.mimeType};base64,${part.data}` }),
    );
  return h("div", { class: "col gap6" }, h("span", { class: "m" }, name), json.code(json.text(part), name));
}

/** One text of the prompt; Edit makes it a field, and what was taken out stays to be seen. */
function piece(question, state, key, name, original) {
  const isEdited = key in state.texts;
  const text = isEdited ? state.texts[key] : original;
  const isEditing = state.editing[key];
  const edit = (on) => changeState(question, { editing: { ...state.editing, [key]: on } });
  const undo = () => {
    const { [key]: _, ...rest } = state.texts;
    changeState(question, { texts: rest, editing: { ...state.editing, [key]: false } });
  };
  const gone = isEdited
    ? original
        .split("\n")
        .filter((line) => line.trim() && !text.split("\n").includes(line))
        .slice(0, 50)
    : [];
  return h(
    "div",
    { class: "col gap6", key },
    h(
      "div",
      { class: "row wrap" },
      h("span", { class: "m" }, name),
      isEdited && h("span", { class: "chip acc" }, icon("edit"), "edited by you"),
      h("span", { class: "s12 t3 push" }, count(text.length, "character")),
      isEdited
        ? button("Undo", undo, { kind: "quiet small", sign: "undo" })
        : !isEditing &&
            button("Edit", () => edit(true), { kind: "quiet small", sign: "edit", "aria-label": `Edit: ${name}` }),
    ),
    isEditing || isEdited
      ? h("textarea", {
          class: "input code-in tall",
          "aria-label": name,
          value: text,
          spellcheck: "false",
          oninput: (event) => changeState(question, { texts: { ...state.texts, [key]: event.target.value } }),
        })
      : h(
          "div",
          { class: `theirs ${hue(question.server)}`, dir: "auto" },
          h("pre", { class: "prompt-text", tabindex: 0, role: "region", "aria-label": name }, shown(original)),
        ),
    (isEditing || isEdited) &&
      hidden(text, (value) => changeState(question, { texts: { ...state.texts, [key]: value } })),
    gone.length > 0 &&
      h(
        "pre",
        { class: "code-in gone" },
        gone.map((line) => [h("del", {}, shown(line)), "\n"]),
      ),
    isEdited &&
      h(
        "p",
        { class: "hint" },
        `${gone.length ? `You changed or removed ${count(gone.length, "line")}. ` : ""}Only your text reaches the model.`,
      ),
  );
}

/** The tools that come along, whole: the model reads their definitions as it reads the prompt. */
function brought(question) {
  const all = question.asked.definitions ?? [];
  if (!all.length) return null;
  const must =
    { required: " It has to use one of them.", none: " It must not use them." }[question.asked.tool_choice] ?? "";
  return h(
    "div",
    { class: "col gap12", key: "tools" },
    h(
      "div",
      { class: "row wrap" },
      h("span", { class: "m" }, `Tools it brings, ${all.length}`),
      h(
        "span",
        { class: "s12 t3" },
        `The model reads all of this.${must} `,
        shown(question.server),
        " carries them out; what the model wants to use is shown to you first.",
      ),
    ),
    all.map(({ name, title: heading, description, ...rest }, at) =>
      h(
        "div",
        { class: "col gap6", key: `tool-${at}`, "data-tool": name },
        theirs(
          question.server,
          null,
          h("p", {}, h("code", { class: "b" }, shown(name)), heading && [" ", shown(heading)]),
          description && h("p", { class: "pre" }, shown(description)),
        ),
        h(
          "details",
          { class: "defined", open: all.length <= 3 ? true : null },
          h("summary", { class: "s12 t2" }, "What it takes and claims"),
          json.code(json.text(rest), `Definition of ${name}`),
        ),
      ),
    ),
  );
}

const modelOf = (id) => board.all("model").find((each) => each.id === id || each.id === `model:${id}`);
const labelOf = (id) => (modelOf(id) ? board.labelOf(modelOf(id)) : id);
const endOf = (id) => (modelOf(id)?.is_ai === false ? "no AI" : (modelOf(id)?.where ?? ""));

function chooser(question, state) {
  const models = question.asked.models ?? [];
  const id = `model-${question.id}`;
  return h(
    "div",
    { class: "col gap6" },
    h("label", { class: "sub", for: id }, "Model"),
    combobox({
      id,
      options: models.map((each) => ({ words: labelOf(each), end: endOf(each) })),
      chosen: [models.indexOf(state.model)],
      take: (at) => changeState(question, { model: models[at] }),
      sign: "model",
      end: endOf(state.model),
    }),
    h(
      "p",
      { class: "hint" },
      state.model === question.asked.model
        ? ["Why this one: ", shown(question.asked.why)]
        : ["Your choice. Splice would take ", shown(labelOf(question.asked.model)), ": ", shown(question.asked.why)],
    ),
  );
}

const COLUMNS = 3;

/** Why this model: a sum for each that could be taken. Few models stand beside each other, many below. */
function weights(asked) {
  const all = asked.weights ?? [];
  const parts = all[0]?.parts ?? [];
  const won = (each) => (each.is_chosen ? "won" : null);
  if (!all.length) return null;
  if (all.length > COLUMNS || !parts.length) {
    return h(
      "table",
      { class: "math" },
      h("thead", {}, h("tr", {}, h("th", {}, "Model"), h("th", {}, "Weight × value"), h("th", {}, "Score"))),
      h(
        "tbody",
        {},
        all.map((each) =>
          h(
            "tr",
            { class: each.is_chosen ? "win" : "" },
            h("td", {}, shown(board.bare(each.model))),
            h(
              "td",
              { class: "t2" },
              shown(each.parts.map(([name, weight, value]) => `${weight} × ${value} ${name}`).join(" + ")),
            ),
            h("td", {}, each.total.toFixed(2)),
          ),
        ),
      ),
    );
  }
  return h(
    "table",
    { class: "math" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", {}, "Priority"),
        h("th", {}, "Weight"),
        all.map((each) => h("th", { class: won(each) }, shown(board.bare(each.model)))),
      ),
    ),
    h(
      "tbody",
      {},
      parts.map(([name, weight], row) =>
        h(
          "tr",
          {},
          h("td", {}, shown(name[0].toUpperCase() + name.slice(1))),
          h("td", {}, String(weight)),
          all.map((each) => h("td", { class: won(each) }, (each.parts?.[row]?.[2] ?? 0).toFixed(2))),
        ),
      ),
      h(
        "tr",
        { class: "score" },
        h("td", {}, "Score"),
        h("td", {}),
        all.map((each) =>
          h(
            "td",
            { class: won(each) },
            each.total.toFixed(2),
            each.is_chosen && h("span", { class: "sr" }, ", chosen"),
          ),
        ),
      ),
    ),
  );
}

/** How much goes to the model, about: what was edited counts as it is now. */
function size(asked, state) {
  const system = "system" in state.texts ? state.texts.system : (asked.system ?? "");
  const said = (asked.messages ?? []).flatMap((message, at) =>
    parts(message.content).map((part, place) => state.texts[`${at}/${place}`] ?? part?.text ?? json.text(part)),
  );
  return estimated([system, ...said, asked.definitions?.length ? json.text(asked.definitions) : ""].join(""));
}

function limits(question, state, isOver) {
  const asked = question.asked;
  return [
    h(
      "div",
      { class: "field" },
      h(
        "label",
        { class: "label", for: `max-${question.id}` },
        "Answer, at most",
        h("span", { class: "req" }, "tokens"),
      ),
      h(
        "div",
        { class: `input ${isOver ? "invalid" : ""}` },
        h("input", {
          id: `max-${question.id}`,
          class: "num",
          inputmode: "numeric",
          value: String(state.max ?? 0),
          "aria-invalid": isOver ? true : null,
          "aria-describedby": `cap-${question.id}`,
          oninput: (event) => changeState(question, { max: Number(event.target.value.replace(/\D/g, "")) || 0 }),
        }),
      ),
      h(
        "p",
        { class: isOver ? "error" : "hint", id: `cap-${question.id}` },
        isOver && icon("alert"),
        h(
          "span",
          {},
          `${isOver ? "Too many: " : ""}asked ${(asked.max_tokens ?? 0).toLocaleString("en")}${asked.cap ? `, your cap ${asked.cap.toLocaleString("en")}` : ""}`,
        ),
      ),
    ),
    h(
      "dl",
      { class: "kv lined s12" },
      h("dt", {}, "Prompt"),
      h("dd", { class: "num" }, `about ${count(size(asked, state), "token")}`),
      asked.rate && [h("dt", {}, "Rate"), h("dd", { class: "num" }, shown(asked.rate))],
      asked.definitions?.length > 0 && [
        h("dt", {}, "Brings tools"),
        h(
          "dd",
          {},
          h(
            "span",
            { class: "row wrap gap6" },
            asked.definitions.map(({ name }) =>
              h("span", { class: "chip claim" }, h("span", { class: "clip" }, shown(name))),
            ),
          ),
        ),
      ],
      asked.stops?.length > 0 && [
        h("dt", {}, "Stops at"),
        h(
          "dd",
          {},
          h(
            "span",
            { class: "row wrap gap6" },
            asked.stops.map((each) =>
              h("code", { class: "chip claim" }, h("span", { class: "clip" }, shown(JSON.stringify(each)))),
            ),
          ),
        ),
      ],
      asked.temperature !== undefined &&
        asked.temperature !== null && [
          h("dt", {}, "Temperature"),
          h("dd", { class: "num" }, String(asked.temperature)),
        ],
      h("dt", {}, "Your chat"),
      h("dd", {}, state.shares ? "shared, by your word" : "not shared"),
    ),
    asked.context &&
      h(
        "div",
        { class: "col gap6" },
        note(
          "s12",
          "info",
          "It asked to see ",
          asked.context === "allServers" ? "the chat with all servers" : "its part of the chat",
          ".",
        ),
        h(
          "div",
          { class: "row gap12" },
          toggle("Share the chat this time", state.shares, (on) => changeState(question, { shares: on })),
          h("span", {}, "Share the chat this time"),
        ),
      ),
  ];
}

const isNoAi = (label) =>
  board.all("model").some((each) => each.is_ai === false && (each.label === label || board.labelOf(each) === label));

/** Step two: the answer. */
export function completion(question, waiting) {
  const asked = question.asked;
  const state = stateOf(question, {});
  const text = state.text ?? asked.text;
  const off = Boolean(offWhy());
  const send = guarded(question, () =>
    answer(question, { type: "reviewed", verdict: "once", ...(text !== asked.text ? { text } : {}) }),
  );
  const deny = guarded(question, () => answer(question, { type: "reviewed", verdict: "deny" }));
  return dialog(
    question.id,
    { onkeydown: keys(question, { d: deny, a: send }), close: () => putAside(question) },
    head(question, 2, ["Send this answer to ", shown(question.server), "?"], waiting),
    h(
      "div",
      { class: "dlg-b" },
      h(
        "div",
        { class: "col gap6" },
        h(
          "div",
          { class: "row wrap" },
          h("span", { class: "m" }, "Answer of ", shown(board.bare(asked.model))),
          isNoAi(asked.model) && chip("no AI"),
          text !== asked.text && h("span", { class: "chip acc" }, icon("edit"), "edited by you"),
          h(
            "span",
            { class: "s12 t3 push num" },
            asked.tokens ? count(asked.tokens, "token") : "",
            asked.stop && asked.stop !== "endTurn" ? [", stopped: ", shown(asked.stop)] : "",
          ),
          text !== asked.text &&
            button("Undo", () => changeState(question, { text: undefined }), { kind: "quiet small", sign: "undo" }),
        ),
        (asked.text || !asked.uses) &&
          h("textarea", {
            class: "input grow-text",
            rows: 8,
            "aria-label": "Answer",
            value: text,
            oninput: (event) => changeState(question, { text: event.target.value }),
          }),
        hidden(text, (value) => changeState(question, { text: value })),
        isNoAi(asked.model) &&
          h("p", { class: "hint" }, shown(question.server), " is told with it that a program wrote this, no AI."),
      ),
      asked.uses &&
        h(
          "div",
          { class: "col gap6" },
          h("span", { class: "m" }, "Tools it wants to use"),
          json.code(json.text(asked.uses), "Tools"),
        ),
    ),
    h(
      "footer",
      { class: "dlg-f", "data-fresh": isFresh(question) ? true : null },
      h("span", { class: "push" }),
      button(["Deny", kbd("D")], deny, { off, key: "deny" }),
      button(
        "Regenerate",
        guarded(question, () => answer(question, { type: "reviewed", verdict: "again" })),
        { sign: "restart", off, key: "again" },
      ),
      button(["Send to ", shown(question.server), kbd("A")], send, { kind: "primary", off, key: "send" }),
    ),
  );
}

const keys = (question, acts) => (event) => {
  if (
    event.target.closest("input, textarea, [role=menu]") ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    !acts[event.key]
  )
    return;
  event.preventDefault();
  acts[event.key]();
};
