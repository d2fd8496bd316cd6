// A server wants to use the model: the prompt is looked at first, and the answer before the server gets it.

import * as board from "./board.js";
import { answer } from "./commands.js";
import { changeState, guarded, offWhy, putAside, stateOf } from "./decisions.js";
import { dialog, title } from "./dialog.js";
import { h, icon, shown } from "./dom.js";
import * as json from "./json.js";
import { button, hue, kbd, menu, note, tile, toggle, toggleMenu } from "./pieces.js";
import { isFresh, ui } from "./state.js";
import { count } from "./words.js";

const head = (question, step, words, waiting) => h("header", { class: "dlg-h" }, tile(question.server, true), h("div", { class: "grow" }, title(words), h("p", { class: "s12 t3" }, waiting > 1 && `1 of ${waiting} · `, during(question), "separate from your chat, which it cannot see")),
  h("div", { class: "steps-bar", role: "img", "aria-label": `Step ${step} of 2` }, h("span", { class: step === 1 ? "on" : "done" }, h("span", { class: "n" }, step === 1 ? "1" : icon("check", "i-s")), "Prompt"), h("hr"), h("span", { class: step === 2 ? "on" : "" }, h("span", { class: "n" }, "2"), "Answer")));

const during = (question) => { const call = board.get(question.asked.call); return call ? ["during ", h("code", {}, shown(call.tool)), " · "] : ""; };

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
  return dialog(question.id, { width: "w-1040", onkeydown: keys(question, { d: deny, a: () => !off && send("once")() }), close: () => putAside(question) },
    head(question, 1, [shown(question.server), " wants to ask your model"], waiting),
    h("div", { class: "cols" }, h("div", { class: "pane", key: "left", tabindex: 0, role: "region", "aria-label": "Prompt" }, asked.system && piece(question, state, "system", "System", asked.system), (asked.messages ?? []).map((message, at) => parts(message.content).map((part, place) => said(question, state, message, part, at, place)))),
      h("div", { class: "pane rule sunk", key: "right", tabindex: 0, role: "region", "aria-label": "Model and limits" }, chooser(question, state), weights(asked), limits(question, state, isOver))),
    h("footer", { class: "dlg-f", "data-fresh": isFresh(question) ? true : null }, h("span", { class: "s12 t3" }, "You see the answer before ", shown(question.server), " does."), h("span", { class: "push" }), button(["Deny", kbd("D")], deny, { off: Boolean(offWhy()), key: "deny" }),
      h("span", { class: "anchor", key: "run" }, menu(id, [`Use of your model by ${question.server}`, ["clock", "For this chat", send("chat")], ["server", `Always, for ${question.server}`, send("always")], "-", "Revoke any time in Permissions"]),
        h("div", { class: "split" }, button([edited(state) ? "Run with your changes" : "Run once", kbd("A")], send("once"), { kind: "primary", off, why }), h("button", { type: "button", class: "btn primary", "aria-label": "More ways to allow", "aria-haspopup": "menu", "aria-expanded": ui.menu === id, disabled: off, onclick: (event) => toggleMenu(id, event) }, icon("down", "i-s"))))));
}

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
      const content = parts(message.content).map((part, place) => (`${at}/${place}` in state.texts ? { ...part, text: state.texts[`${at}/${place}`] } : part));
      return { ...message, content: Array.isArray(message.content) ? content : content[0] };
    });
  }
  return made;
}

function said(question, state, message, part, at, place) {
  const name = `Message ${at + 1}, ${message.role === "assistant" ? "the model" : "user"}`;
  if (part?.type === "text") return piece(question, state, `${at}/${place}`, name, part.text ?? "");
  if (part?.type === "image" && /^image\/(png|jpeg|gif|webp)$/.test(part.mimeType ?? "")) return h("div", { class: "col gap6" }, h("span", { class: "m" }, name), h("img", { class: "shot", alt: "Image in the prompt", src: `data:${part.mimeType};base64,${part.data}` }));
  return h("div", { class: "col gap6" }, h("span", { class: "m" }, name), json.code(json.text(part), name));
}

/** One text of the prompt; Edit makes it a field, and what was taken out stays to be seen. */
function piece(question, state, key, name, original) {
  const isEdited = key in state.texts;
  const text = isEdited ? state.texts[key] : original;
  const isEditing = state.editing[key];
  const edit = (on) => changeState(question, { editing: { ...state.editing, [key]: on } });
  const undo = () => { const { [key]: _, ...rest } = state.texts; changeState(question, { texts: rest, editing: { ...state.editing, [key]: false } }); };
  const gone = isEdited ? original.split("\n").filter((line) => line.trim() && !text.split("\n").includes(line)).slice(0, 50) : [];
  return h("div", { class: "col gap6", key }, h("div", { class: "row wrap" }, h("span", { class: "m" }, name), isEdited && h("span", { class: "chip acc" }, icon("edit"), "edited by you"), h("span", { class: "s12 t3 push" }, count(text.length, "character")), isEdited ? button("Undo", undo, { kind: "quiet small", sign: "undo" }) : !isEditing && button("Edit", () => edit(true), { kind: "quiet small", sign: "edit", "aria-label": `Edit: ${name}` })),
    isEditing || isEdited ? h("textarea", { class: "input code-in tall", "aria-label": name, value: text, spellcheck: "false", oninput: (event) => changeState(question, { texts: { ...state.texts, [key]: event.target.value } }) }) : h("div", { class: `theirs ${hue(question.server)}`, dir: "auto" }, h("pre", { class: "prompt-text", tabindex: 0, role: "region", "aria-label": name }, shown(original))),
    gone.length > 0 && h("pre", { class: "code-in gone" }, gone.map((line) => [h("del", {}, shown(line)), "\n"])), isEdited && h("p", { class: "hint" }, `${gone.length ? `You changed or removed ${count(gone.length, "line")}. ` : ""}Only your text reaches the model.`));
}

function chooser(question, state) {
  const id = `model-${question.id}`;
  const models = question.asked.models ?? [];
  const label = (name) => board.all("model").find((each) => each.id === name || each.id === `model:${name}`)?.label ?? name;
  return h("div", { class: "col gap6" }, h("h3", {}, "Model"), h("span", { class: "anchor" }, h("button", { type: "button", class: "input", "aria-haspopup": "menu", "aria-expanded": ui.menu === id, "aria-label": `Model: ${label(state.model)}`, onclick: (event) => toggleMenu(id, event) }, icon("model"), h("span", { class: "grow m clip" }, shown(label(state.model))), icon("down", "i-s")),
    menu(id, models.map((each) => ["model", label(each), () => changeState(question, { model: each }), each === state.model ? "on" : ""]), "below")), h("p", { class: "hint" }, "Why this one: ", shown(question.asked.why)));
}

function weights(asked) {
  if (!asked.weights?.length) return null;
  return h("table", { class: "math" }, h("thead", {}, h("tr", {}, h("th", {}, "Model"), h("th", {}, "Weight × value"), h("th", {}, "Score"))),
    h("tbody", {}, asked.weights.map((each) => h("tr", { class: each.is_chosen ? "win" : "" }, h("td", {}, shown(each.model)), h("td", { class: "t2" }, shown(each.sum.replaceAll(" x ", " × "))), h("td", {}, each.total.toFixed(2))))));
}

function limits(question, state, isOver) {
  const asked = question.asked;
  return [
    h("div", { class: "field" }, h("label", { class: "label", for: `max-${question.id}` }, "Answer, at most", h("span", { class: "req" }, "tokens")), h("div", { class: `input ${isOver ? "invalid" : ""}` }, h("input", { id: `max-${question.id}`, class: "num", inputmode: "numeric", value: String(state.max ?? 0), "aria-invalid": isOver ? true : null, "aria-describedby": `cap-${question.id}`, oninput: (event) => changeState(question, { max: Number(event.target.value.replace(/\D/g, "")) || 0 }) })),
      h("p", { class: isOver ? "error" : "hint", id: `cap-${question.id}` }, isOver && icon("alert"), h("span", {}, `${isOver ? "Too many: " : ""}asked ${(asked.max_tokens ?? 0).toLocaleString("en")}${asked.cap ? `, your cap ${asked.cap.toLocaleString("en")}` : ""}`))),
    h("dl", { class: "kv lined s12" }, asked.rate && [h("dt", {}, "Rate"), h("dd", { class: "num" }, shown(asked.rate))], asked.tools?.length > 0 && [h("dt", {}, "Brings tools"), h("dd", {}, h("span", { class: "row wrap gap6" }, asked.tools.map((each) => h("span", { class: "chip claim" }, shown(each)))))],
      h("dt", {}, "Your chat"), h("dd", {}, state.shares ? "shared, by your word" : "not shared")),
    asked.context && h("div", { class: "col gap6" }, note("s12", "info", "It asked to see ", asked.context === "allServers" ? "the chat with all servers" : "its part of the chat", "."), h("div", { class: "row gap12" }, toggle("Share the chat this time", state.shares, (on) => changeState(question, { shares: on })), h("span", {}, "Share the chat this time"))),
  ];
}

/** Step two: the answer. */
export function completion(question, waiting) {
  const asked = question.asked;
  const state = stateOf(question, {});
  const text = state.text ?? asked.text;
  const off = Boolean(offWhy());
  const send = guarded(question, () => answer(question, { type: "reviewed", verdict: "once", ...(text !== asked.text ? { text } : {}) }));
  const deny = guarded(question, () => answer(question, { type: "reviewed", verdict: "deny" }));
  return dialog(question.id, { onkeydown: keys(question, { d: deny, a: send }), close: () => putAside(question) }, head(question, 2, ["Send this answer to ", shown(question.server), "?"], waiting),
    h("div", { class: "dlg-b" }, h("div", { class: "col gap6" }, h("div", { class: "row wrap" }, h("span", { class: "m" }, "Answer of ", shown(asked.model)), text !== asked.text && h("span", { class: "chip acc" }, icon("edit"), "edited by you"), h("span", { class: "s12 t3 push num" }, asked.tokens ? count(asked.tokens, "token") : "", asked.stop && asked.stop !== "endTurn" ? [", stopped: ", shown(asked.stop)] : ""), text !== asked.text && button("Undo", () => changeState(question, { text: undefined }), { kind: "quiet small", sign: "undo" })),
      (asked.text || !asked.uses) && h("textarea", { class: "input grow-text", rows: 8, "aria-label": "Answer", value: text, oninput: (event) => changeState(question, { text: event.target.value }) })),
    asked.uses && h("div", { class: "col gap6" }, h("span", { class: "m" }, "Tools it wants to use"), json.code(json.text(asked.uses), "Tools"))),
    h("footer", { class: "dlg-f", "data-fresh": isFresh(question) ? true : null }, h("span", { class: "push" }), button(["Deny", kbd("D")], deny, { off, key: "deny" }), button("Regenerate", guarded(question, () => answer(question, { type: "reviewed", verdict: "again" })), { sign: "restart", off, key: "again" }), button(["Send to ", shown(question.server), kbd("A")], send, { kind: "primary", off, key: "send" })));
}

const keys = (question, acts) => (event) => {
  if (event.target.closest("input, textarea, [role=menu]") || event.ctrlKey || event.metaKey || event.altKey || !acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
};
