// May this call go out? Everything that is sent stands here whole, and nothing is allowed by accident.

import * as board from "./board.js";
import * as args from "./arguments.js";
import { answer, give } from "./commands.js";
import { changeState, guarded, nameOf, offWhy, stateOf } from "./decisions.js";
import { dialog } from "./dialog.js";
import { h, icon, shown } from "./dom.js";
import { controls } from "./fields.js";
import * as json from "./json.js";
import { button, chip, hold, iconButton, kbd, menu, note, tabs, tile, toggleMenu } from "./pieces.js";
import { afterwards, change, isFresh, redraw, ui } from "./state.js";

const phone = matchMedia("(max-width: 599px)");
phone.addEventListener("change", redraw);

const INLINE = new Set(["approval", "goon", "result", "roots"]);

export const inline = () => board.questions().filter((each) => INLINE.has(each.asked.type));

/** Describe the cards of all questions that are answered in the conversation. */
export function approvals() {
  const all = inline();
  return all.map((each, at) => card(each, at, all));
}

/** On a phone the first of them is a sheet over the page, until it is put aside. */
export function sheet() {
  if (!phone.matches) return null;
  const all = inline();
  const first = all.find((each) => !ui.aside.has(each.id));
  if (!first) return null;
  const aside = () => {
    ui.aside.add(first.id);
    redraw();
  };
  const head = h(
    "div",
    { class: "ask-h" },
    icon("hand", "i-s warn"),
    h("span", { class: "m" }, "Waiting for you"),
    h(
      "span",
      { class: "push row gap4" },
      h("span", { class: "num t3" }, `${all.indexOf(first) + 1} of ${all.length}`),
      iconButton("Put aside", "down", aside),
    ),
  );
  isFresh(first);
  return dialog(
    first.id,
    {
      width: "",
      extra: "sheet ask",
      label: `t-${first.id}`,
      close: aside,
      onkeydown: (event) => keys(event, first, all),
    },
    head,
    inside(first, 0, all, true),
  );
}

function card(question, at, all) {
  return h(
    "article",
    {
      class: "ask",
      role: "group",
      key: question.id,
      tabindex: 0,
      "aria-labelledby": `t-${question.id}`,
      "data-question": question.id,
      "data-fresh": isFresh(question) ? true : null,
      onkeydown: (event) => keys(event, question, all),
    },
    inside(question, at, all, false),
  );
}

function inside(question, at, all, isSheet) {
  const kind = question.asked.type;
  return kind === "approval"
    ? approval(question, at, all, isSheet)
    : kind === "result"
      ? review(question, at, all, isSheet)
      : kind === "roots"
        ? roots(question, at, all, isSheet)
        : goOn(question, at, all, isSheet);
}

function heading(question, at, all, title, sub, isSheet) {
  return h(
    "div",
    { class: "row gap12 top" },
    tile(question.server, true),
    h(
      "div",
      { class: "grow" },
      h(
        "h2",
        { class: `ask-t ${isSheet ? "dlg-title" : ""}`, id: `t-${question.id}`, tabindex: isSheet ? -1 : null },
        shown(title),
      ),
      h("p", { class: "s12 t3" }, sub),
    ),
    !isSheet && h("span", { class: "chip warn num" }, icon("hand"), `${at + 1} of ${all.length}`),
  );
}

const decide = (question, verdict, more = {}) => answer(question, { type: "decision", verdict, ...more });

function approval(question, at, all, isSheet) {
  const asked = question.asked;
  const call = board.get(asked.call) ?? {};
  const tool = board.get(asked.tool) ?? {};
  const state = stateOf(question);
  const values = state.values ?? call.arguments ?? {};
  const server = board.server(question.server) ?? {};
  return [
    h(
      "div",
      { class: "ask-b", key: "body", tabindex: isSheet ? 0 : null },
      heading(
        question,
        at,
        all,
        nameOf(question),
        h("code", {}, shown(`${question.server} · ${tool.name ?? call.tool ?? ""}`)),
        isSheet,
      ),
      (asked.loud || asked.is_grave) &&
        h(
          "div",
          {},
          h("p", { class: "loud" }, icon("alert"), h("span", {}, shown(asked.loud || "Look at this one closely."))),
          h("p", { class: "s12" }, shown(why(asked))),
        ),
      tool.claims?.length > 0 &&
        h(
          "div",
          { class: "row wrap gap6" },
          tool.claims.map((claim) => chip(claim, "claim")),
          h("span", { class: "s12 t3" }, "claimed by the server"),
        ),
      state.mode === "edit"
        ? editor(question, tool, values)
        : [argumentsOf(question, call, tool, values), hidden(asked.hidden)],
      h(
        "dl",
        { class: "kv tight s12" },
        !(asked.loud || asked.is_grave) && [
          h("dt", {}, "Why you are asked"),
          h("dd", {}, shown(why(asked)), " ", h("a", { href: "#/permissions" }, "How rules decide")),
        ],
        h("dt", {}, "Asked by"),
        h("dd", {}, shown(asked.asker || "The model")),
        server.runs && [h("dt", {}, "Runs on"), h("dd", {}, h("code", {}, shown(server.runs)))],
      ),
    ),
    footer(question, tool, state, values, isSheet),
  ];
}

const why = ({ why: words }) =>
  words ? words[0].toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? "" : ".") : "No rule covers it.";

const hidden = (number) =>
  number > 0 &&
  note(
    "warn s12",
    "alert",
    `${number} invisible character${number === 1 ? "" : "s"}, drawn above by code point. ${number === 1 ? "It is" : "They are"} sent as ${number === 1 ? "it stands" : "they stand"}, unless you edit.`,
  );

function argumentsOf(question, call, tool, values) {
  const [chosen, list] = tabs(
    `view-${question.id}`,
    "View of the arguments",
    [
      ["fields", "Fields"],
      ["json", "JSON"],
    ],
    "seg small",
  );
  return h(
    "div",
    { class: "args" },
    h("div", { class: "arg-h" }, h("span", { class: "m" }, "Arguments"), list),
    chosen === "fields"
      ? args.list(values, { before: question.asked.before, schema: tool.schema, isWhole: true })
      : json.code(json.text(values), "Arguments as JSON"),
  );
}

/** Fields of the tool's schema, or JSON where the schema is no form. */
function editor(question, tool, values) {
  const state = stateOf(question);
  const hasForm = question.asked.fields?.length > 0;
  const [chosen, list] = tabs(
    `edit-${question.id}`,
    "How to edit",
    hasForm
      ? [
          ["fields", "Fields"],
          ["json", "JSON"],
        ]
      : [["json", "JSON"]],
    "seg small",
  );
  const source = state.source ?? json.text(values);
  return h(
    "div",
    { class: "args" },
    h("div", { class: "arg-h" }, h("span", { class: "m" }, "Arguments, edited by you"), list),
    chosen === "fields"
      ? h(
          "div",
          { class: "col gap12" },
          controls(question.asked.fields, values, {
            id: question.id,
            problems: state.problems ?? {},
            set: (name, value) => edit(question, { ...values, [name]: value }),
          }),
        )
      : h(
          "div",
          { class: "field" },
          h("textarea", {
            class: "input code-in tall",
            "aria-label": "Arguments as JSON",
            "aria-invalid": state.error ? true : null,
            spellcheck: "false",
            value: source,
            oninput: (event) => {
              const made = json.readObject(event.target.value);
              changeState(question, { source: event.target.value, error: made.error });
              if (!made.error) edit(question, made.value, event.target.value);
            },
          }),
          state.error && h("p", { class: "error", role: "alert" }, icon("alert"), h("span", {}, shown(state.error))),
        ),
  );
}

let checking = 0;

function edit(question, values, source = undefined) {
  const cleared = Object.fromEntries(Object.entries(values ?? {}).filter(([, value]) => value !== undefined));
  changeState(question, { values: cleared, source, ...(source ? {} : { error: "" }) });
  clearTimeout(checking);
  checking = setTimeout(
    async () =>
      changeState(question, {
        problems: await give("check", { question: question.id, values: cleared }).catch(() => ({})),
      }),
    120,
  );
}

function footer(question, tool, state, values, isSheet) {
  const why = offWhy(question);
  const off = Boolean(why);
  if (state.mode === "reason") return reasonLine(question, state, isSheet);
  const isEditing = state.mode === "edit";
  const problems = Object.keys(state.problems ?? {}).length;
  const isBroken = isEditing && Boolean(state.error);
  const more = state.values ? { arguments: state.values } : {};
  const once = guarded(question, () => decide(question, "once", more));
  const label = isEditing ? "Allow with your changes" : "Allow once";
  const isGrave = question.asked.is_grave || question.asked.may_always === false;
  const parts = {
    deny: button(
      ["Deny", !isSheet && kbd("D")],
      guarded(question, () => decide(question, "deny")),
      { off, why, key: "deny" },
    ),
    reason: button(
      isSheet ? "Deny with a reason…" : "With a reason…",
      () => {
        changeState(question, { mode: "reason" });
        afterwards(() => document.getElementById(`why-${question.id}`)?.focus());
      },
      { kind: `quiet ${isSheet ? "full" : ""}`, off, why, key: "reason" },
    ),
    edit: isEditing
      ? button(
          "Undo changes",
          () => changeState(question, { mode: "", values: undefined, source: undefined, error: "", problems: {} }),
          { kind: "quiet", sign: "undo", key: "edit" },
        )
      : button("Edit", () => changeState(question, { mode: "edit" }), {
          kind: isSheet ? "" : "quiet",
          sign: "edit",
          off,
          why,
          key: "edit",
        }),
    allow: question.asked.is_grave
      ? hold(isEditing ? "Hold to allow with your changes" : "Hold to allow once", once, {
          kind: isSheet ? "full" : "",
          off: off || isBroken,
          why,
          key: question.id,
        })
      : h(
          "span",
          { class: "anchor", key: "allow" },
          allowMenu(question, tool),
          h(
            "div",
            { class: "split" },
            button([label, !isSheet && !isEditing && kbd("A")], once, { kind: "primary", off: off || isBroken, why }),
            !isGrave &&
              !isEditing &&
              h(
                "button",
                {
                  type: "button",
                  class: "btn primary",
                  "aria-label": "More ways to allow",
                  "aria-haspopup": "menu",
                  "aria-expanded": ui.menu === `allow-${question.id}`,
                  disabled: off,
                  title: why || null,
                  onclick: (event) => toggleMenu(`allow-${question.id}`, event),
                },
                icon("down", "i-s"),
              ),
          ),
        ),
  };
  const warning =
    isEditing &&
    problems > 0 &&
    h(
      "span",
      { class: "s12 bad row gap6 m full", key: "problems" },
      icon("alert", "i-s"),
      `${problems} field${problems === 1 ? " does" : "s do"} not fit what the tool declares`,
    );
  if (isSheet)
    return h(
      "footer",
      { class: "ask-f stack", key: "foot" },
      warning,
      h("span", { class: "full row sheet-allow", key: "full" }, parts.allow),
      parts.edit,
      parts.deny,
      parts.reason,
    );
  return h(
    "footer",
    { class: "ask-f", key: "foot" },
    warning,
    parts.deny,
    parts.reason,
    parts.edit,
    h("span", { class: "push", key: "push" }),
    parts.allow,
  );
}

function allowMenu(question, tool) {
  const always = (verdict, what) => () => change({ dialog: { kind: "always", question, verdict, what } });
  const alike = equals(question);
  return menu(`allow-${question.id}`, [
    `Allow “${nameOf(question)}” from ${question.server}`,
    alike > 1 && [
      "check",
      `Once, all ${alike} equal calls`,
      guarded(question, () => decide(question, "once", { is_for_equal: true })),
    ],
    ["clock", "For this chat", guarded(question, () => decide(question, "chat"))],
    ["tool", "Always, this tool", always("tool", `${question.server}/${tool.name}`)],
    ["server", `Always, every tool of ${question.server}`, always("server", `${question.server}/*`)],
    "-",
    "Revoke any time in Permissions",
  ]);
}

/** How many calls wait that are the same tool with the same arguments. */
function equals(question) {
  const own = JSON.stringify(board.get(question.asked.call)?.arguments ?? {});
  return inline().filter(
    (each) =>
      each.asked.tool === question.asked.tool && JSON.stringify(board.get(each.asked.call)?.arguments ?? {}) === own,
  ).length;
}

/** "Always" asks once more, and says where it is revoked. */
export function alwaysDialog({ question, verdict, what }) {
  const close = () => change({ dialog: null });
  return dialog(
    "always",
    { width: "w-560", close },
    h(
      "header",
      { class: "dlg-h" },
      tile(question.server, true),
      h("div", { class: "grow" }, h("h2", { id: "dlg-title", class: "dlg-title", tabindex: -1 }, "Never ask again?")),
    ),
    h(
      "div",
      { class: "dlg-b" },
      h(
        "p",
        {},
        "Calls of ",
        h("code", { class: "b" }, shown(what)),
        " will run without a question, in every chat, until you revoke it in Permissions. It is void when the definition of the tool changes.",
      ),
    ),
    h(
      "footer",
      { class: "dlg-f" },
      h("span", { class: "push" }),
      button("Cancel", close),
      button(
        "Always allow",
        () => {
          close();
          decide(question, verdict);
        },
        { kind: "primary" },
      ),
    ),
  );
}

function reasonLine(question, state, isSheet) {
  const send = guarded(question, () => decide(question, "deny", { reason: state.reason ?? "" }));
  return h(
    "footer",
    { class: `ask-f ${isSheet ? "stack" : ""}`, key: "foot" },
    h(
      "div",
      { class: "input grow", key: "reason" },
      h("input", {
        id: `why-${question.id}`,
        "aria-label": "Why not? The model is told",
        placeholder: "Why not? The model is told",
        value: state.reason ?? "",
        maxlength: 2000,
        oninput: (event) => changeState(question, { reason: event.target.value }),
        onkeydown: (event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            send();
          } else if (event.key === "Escape") {
            event.stopPropagation();
            changeState(question, { mode: "" });
          }
        },
      }),
    ),
    button("Back", () => changeState(question, { mode: "" }), { kind: "quiet", key: "back" }),
    button("Deny", send, { off: Boolean(offWhy(question)), why: offWhy(question), key: "deny-why" }),
  );
}

function goOn(question, at, all, isSheet) {
  const why = offWhy(question);
  const off = Boolean(why);
  return [
    h(
      "div",
      { class: "ask-b", key: "body" },
      heading(question, at, all, "Go on?", "asked by Splice", isSheet),
      h("p", {}, "A bound of this turn is reached: ", h("b", {}, shown(question.asked.what)), "."),
    ),
    h(
      "footer",
      { class: "ask-f", key: "foot" },
      button(
        ["Stop here", kbd("D")],
        guarded(question, () => decide(question, "deny")),
        { off, why },
      ),
      h("span", { class: "push" }),
      button(
        ["Go on", kbd("A")],
        guarded(question, () => decide(question, "once")),
        { kind: "primary", off, why },
      ),
    ),
  ];
}

function review(question, at, all, isSheet) {
  const call = board.get(question.asked.call) ?? {};
  const state = stateOf(question);
  const blocks = call.result ?? [];
  const original = blocks.map((block) => block.text ?? "").join("\n") || call.structured || "";
  const isEditing = state.mode === "edit";
  const why = offWhy(question);
  const off = Boolean(why);
  return [
    h(
      "div",
      { class: "ask-b", key: "body" },
      heading(
        question,
        at,
        all,
        "May the model read this?",
        h("code", {}, shown(`${question.server} · ${call.tool ?? ""}`)),
        isSheet,
      ),
      isEditing
        ? h("textarea", {
            class: "input code-in tall",
            "aria-label": "What the model reads",
            value: state.text ?? original,
            oninput: (event) => changeState(question, { text: event.target.value }),
          })
        : h(
            "div",
            { class: "theirs scroll-in", dir: "auto", tabindex: 0, role: "region", "aria-label": "Result" },
            h("pre", {}, shown(original)),
          ),
      unshown(blocks, call.structured_left).map((each) => h("p", { class: "s12 t3" }, each)),
    ),
    h(
      "footer",
      { class: "ask-f", key: "foot" },
      button(
        ["Keep it back", kbd("D")],
        guarded(question, () => decide(question, "deny")),
        { off, why },
      ),
      button(
        isEditing ? "Undo changes" : "Edit",
        () => changeState(question, { mode: isEditing ? "" : "edit", text: undefined }),
        { kind: "quiet", sign: isEditing ? "undo" : "edit" },
      ),
      h("span", { class: "push" }),
      button(
        [isEditing ? "Let it read your text" : "Let it read", kbd("A")],
        guarded(question, () => decide(question, "once", isEditing ? { arguments: state.text ?? original } : {})),
        { kind: "primary", off, why },
      ),
    ),
  ];
}

/** What of a result a card does not show, in sentences. */
function unshown(blocks, structuredLeft) {
  const text = blocks.reduce((sum, block) => sum + Math.max((block.size ?? 0) - (block.text ?? "").length, 0), 0);
  const left = text || (blocks.some((block) => block.text) ? 0 : (structuredLeft ?? 0));
  const others = blocks.filter((block) => !block.text);
  return [
    left > 0 &&
      `${left.toLocaleString("en")} more characters go along, and are not shown here. If you edit it, only your text does.`,
    others.length > 0 && ["Not shown: ", shown(others.map((block) => block.mime_type || block.type).join(", ")), "."],
  ].filter(Boolean);
}

function roots(question, at, all, isSheet) {
  const state = stateOf(question, { left: [] }); // what is left out: a folder that was added since is told, too
  const isTold = (uri) => !state.left.includes(uri);
  const flip = (uri) =>
    changeState(question, {
      left: isTold(uri) ? [...state.left, uri] : state.left.filter((each) => each !== uri),
    });
  const uris = question.asked.known.filter(isTold);
  const why = offWhy(question);
  const off = Boolean(why);
  const fill = (action, content) =>
    guarded(question, () => answer(question, { type: "filled", action, ...(content ? { content } : {}) }));
  return [
    h(
      "div",
      { class: "ask-b", key: "body" },
      heading(
        question,
        at,
        all,
        `Which folders may ${question.server} know of?`,
        "a hint to the server, not a sandbox",
        isSheet,
      ),
      question.asked.known.length
        ? h(
            "div",
            { class: "col gap6" },
            question.asked.known.map((uri) =>
              h(
                "div",
                {
                  class: "opt",
                  role: "checkbox",
                  key: uri,
                  "aria-checked": isTold(uri),
                  tabindex: 0,
                  onclick: () => flip(uri),
                  onkeydown: (event) => {
                    if (event.key === " ") {
                      event.preventDefault();
                      flip(uri);
                    }
                  },
                },
                h("span", { class: "check", "aria-checked": isTold(uri), "aria-hidden": "true" }, icon("check")),
                h("code", {}, shown(uri)),
              ),
            ),
          )
        : h("p", { class: "t2" }, "You have named no folders."),
    ),
    h(
      "footer",
      { class: "ask-f", key: "foot" },
      button("Tell it nothing", fill("decline"), { off, why }),
      h("span", { class: "push" }),
      button(`Tell it of ${uris.length || "none"}`, fill("accept", { uris }), {
        kind: "primary",
        off,
        why,
      }),
    ),
  ];
}

/** Keys of the card that has the focus. */
function keys(event, question, all) {
  if (event.target.closest("input, textarea, [role=menu]") || event.ctrlKey || event.metaKey || event.altKey) return;
  const go = (step) => {
    const next = all[(all.indexOf(question) + step + all.length) % all.length];
    document.querySelector(`[data-question="${CSS.escape(next.id)}"]`)?.focus();
  };
  const acts = {
    j: () => go(1),
    k: () => go(-1),
    d: guarded(question, () =>
      question.asked.type === "roots"
        ? answer(question, { type: "filled", action: "decline" })
        : decide(question, "deny"),
    ),
    a: guarded(question, () => {
      if (!question.asked.is_grave && question.asked.type !== "roots" && !stateOf(question).mode)
        decide(question, "once");
    }),
    c: guarded(question, () => {
      if (
        question.asked.type === "approval" &&
        question.asked.may_always !== false &&
        !question.asked.is_grave &&
        !stateOf(question).mode
      )
        decide(question, "chat");
    }),
    e: () => question.asked.type === "approval" && changeState(question, { mode: "edit" }),
  };
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
}
