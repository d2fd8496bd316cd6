// A server asks for facts. It is checked field by field, shown once more as a whole, and then sent; or declined.

import * as board from "./board.js";
import { act, answer, give, toast } from "./commands.js";
import { changeState, guarded, offWhy, putAside, stateOf } from "./decisions.js";
import { dialog, title } from "./dialog.js";
import { h, icon, shown } from "./dom.js";
import { controls, titled, whole } from "./fields.js";
import { button, copy, hold, note, theirs, tile } from "./pieces.js";
import { afterwards, change, isFresh } from "./state.js";
import { face } from "./words.js";

const timers = new Map();

const begin = (question) => {
  const values = {};
  for (const field of question.asked.fields ?? []) if (field.default !== undefined) values[field.name] = field.default;
  return { values: { ...values, ...(question.asked.draft ?? {}) }, touched: [], problems: {}, isReview: false };
};

export function form(question, count) {
  const asked = question.asked;
  const fields = asked.fields ?? [];
  const state = stateOf(question, begin(question));
  const off = Boolean(offWhy());
  const why = offWhy();
  const call = board.get(asked.call);
  const shownProblems = Object.fromEntries(
    Object.entries(state.problems).filter(([name]) => state.touched.includes(name) || name === ""),
  );
  const wrong = Object.keys(shownProblems).length;
  const fill = (action) =>
    guarded(question, () => {
      answered.add(question.id);
      answer(question, {
        type: "filled",
        action,
        ...(action === "accept" ? { content: cleaned(fields, state.values) } : {}),
      });
    });
  const decline = fill("decline");
  const secrets = fields.filter((field) => field.is_secret || asked.secrets?.includes(field.name));
  return dialog(
    question.id,
    {
      close: () => putAside(question),
      onkeydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(question, fields);
      },
    },
    h(
      "header",
      { class: "dlg-h" },
      tile(question.server, true),
      h(
        "div",
        { class: "grow" },
        title(state.isReview ? "Send this?" : titleOf(question, call)),
        h(
          "p",
          { class: "s12 t3" },
          shown(question.server || "The model"),
          " asks",
          call && question.server ? [", during ", h("code", {}, shown(call.tool))] : "",
          question.server ? " · your answer goes to this server only" : " · your answer goes to the model",
        ),
      ),
      h("span", { class: "chip warn" }, icon("form"), count > 1 ? `Question, 1 of ${count}` : "Question"),
    ),
    h(
      "div",
      { class: "dlg-b", tabindex: state.isReview ? 0 : null },
      !state.isReview &&
        theirs(
          question.server,
          ["Written by ", shown(question.server || "the model"), ". Plain text, links do not open."],
          h("p", { class: "s14 pre" }, shown(asked.message)),
        ),
      secrets.length > 0 &&
        note(
          "bad",
          "lock",
          h(
            "p",
            { class: "b" },
            `This asks for what looks like a secret: ${secrets.map((field) => field.name).join(", ")}.`,
          ),
          h(
            "p",
            { class: "t2" },
            "A server should never need a password, a card number or a code here. What you send is no longer yours.",
          ),
        ),
      asked.problem && note("warn", "alert", shown(asked.problem)),
      shownProblems[""] && note("bad", "alert", shown(shownProblems[""])),
      state.isReview
        ? review(fields, cleaned(fields, state.values))
        : h(
            "form",
            { class: "two", novalidate: true, onsubmit: (event) => event.preventDefault() },
            controls(fields, state.values, {
              id: question.id,
              problems: shownProblems,
              server: question.server,
              set: (name, value) => put(question, name, value),
              left: (name) => touch(question, name),
            }),
            h(
              "button",
              {
                type: "submit",
                class: "sr",
                tabindex: -1,
                "aria-hidden": "true",
                onclick: () => submit(question, fields),
              },
              "Review",
            ),
          ),
    ),
    h(
      "footer",
      { class: "dlg-f", "data-fresh": isFresh(question) ? true : null },
      wrong > 0 &&
        !state.isReview &&
        h(
          "button",
          { type: "button", class: "s12 bad row gap6 m linkbad", onclick: () => toFirst(question, fields) },
          icon("alert", "i-s"),
          `${wrong} field${wrong === 1 ? " needs" : "s need"} a change`,
        ),
      state.isBusy && h("span", { class: "row gap6 s12 t3" }, h("span", { class: "spin" }), "Checking"),
      h("span", { class: "push" }),
      state.isReview
        ? button("Back", () => changeState(question, { isReview: false }), { key: "back" })
        : [
            button("Cancel the call", fill("cancel"), { kind: "quiet", off, why, key: "cancel" }),
            button("Decline", decline, { off, why, key: "decline" }),
          ],
      asked.problem
        ? null
        : state.isReview
          ? send(question, secrets, fill("accept"), off, why)
          : fields.length > 1 || secrets.length
            ? button("Review and send", () => submit(question, fields), {
                kind: "primary",
                off: off || wrong > 0,
                why: why || "A field needs a change",
                key: "review",
              })
            : button(fields.length ? "Send" : "Confirm", () => submit(question, fields, fill("accept")), {
                kind: "primary",
                off: off || wrong > 0,
                why,
                key: "send",
              }),
    ),
  );
}

const send = (question, secrets, accept, off, why) =>
  secrets.length
    ? hold("Hold to send", accept, { off, why, key: question.id, verb: "send" })
    : button(["Send to ", shown(question.server || "the model")], accept, { kind: "primary", off, why, key: "send" });

const titleOf = (question, call) =>
  call && question.server
    ? [shown(call.title || board.get(`tool:${call.server}/${call.tool}`)?.title || call.tool), ": a question"]
    : [shown(question.server || "The model"), " asks you"];

/** The values as they are sent: what was left empty is left out. */
function cleaned(fields, values) {
  const known = Object.fromEntries(fields.map((field) => [field.name, field]));
  return Object.fromEntries(
    Object.entries(values)
      .map(([name, value]) => [name, known[name] ? whole(known[name], value) : value])
      .filter(([, value]) => value !== undefined && value !== ""),
  );
}

const now = (question) => cleaned(question.asked.fields ?? [], stateOf(question).values);

function put(question, name, value) {
  if (!board.get(question.id)) return; // a field that is left because the form goes
  const state = stateOf(question);
  changeState(question, { values: { ...state.values, [name]: value } });
  if (state.touched.includes(name)) later(question, () => look(question));
  later(question, () => act("draft", { question: question.id, value: now(question) }), "draft", 800);
}

function later(question, work, kind = "check", milliseconds = 120) {
  const key = `${kind}-${question.id}`;
  clearTimeout(timers.get(key));
  timers.set(
    key,
    setTimeout(() => {
      if (board.get(question.id)) work();
    }, milliseconds),
  );
}

function touch(question, name) {
  if (!board.get(question.id)) return;
  const state = stateOf(question);
  if (!state.touched.includes(name)) changeState(question, { touched: [...state.touched, name] });
  later(question, () => look(question), "check", 30);
}

async function look(question) {
  const problems = await give("check", { question: question.id, values: now(question) }).catch(() => null);
  if (problems) changeState(question, { problems });
  return problems;
}

async function submit(question, fields, accept) {
  changeState(question, { touched: [...fields.map((field) => field.name)], isBusy: true });
  const problems = await look(question);
  changeState(question, { isBusy: false });
  if (!problems) return;
  if (Object.keys(problems).length) toFirst(question, fields);
  else if (accept) accept();
  else {
    changeState(question, { isReview: true });
    afterwards(() => document.querySelector(".dlg-title")?.focus());
  }
}

function toFirst(question, fields) {
  afterwards(() => {
    const first = fields.find((field) => stateOf(question).problems[field.name]);
    const node = first && document.getElementById(`f-${question.id}-${first.name}`);
    (node?.matches("[role=radiogroup], [role=group]") ? node.querySelector("button") : node)?.focus();
  });
  changeState(question, {});
}

function review(fields, values) {
  return h(
    "dl",
    { class: "kv lined" },
    fields.map((field) => [
      h("dt", {}, shown(titled(field).title)),
      h("dd", { dir: "auto" }, worded(field, values[field.name])),
    ]),
  );
}

function worded(field, value) {
  if (value === undefined || value === "") return h("span", { class: "t3" }, "left empty");
  if (field.is_secret) return "•".repeat(Math.min(String(value).length, 12));
  if (typeof value === "boolean") return value ? "Yes" : "No";
  const named = (one) => field.choices?.find(([each]) => JSON.stringify(each) === JSON.stringify(one))?.[1];
  if (Array.isArray(value)) return shown(value.map((each) => named(each) ?? String(each)).join(", "));
  return h(
    "span",
    { class: "pre" },
    shown(named(value) ?? (typeof value === "object" ? JSON.stringify(value) : String(value))),
  );
}

const answered = new Set();
let drawn = null; // the form on the page, with what was typed into it

/** Follow which form is on the page. One that its server took back stays to be read, and it is said why it cannot be sent. */
export async function follow(question) {
  const before = drawn;
  drawn = question?.asked.type === "form" ? { question, state: stateOf(question, begin(question)) } : null;
  if (
    !before ||
    before.question.id === drawn?.question.id ||
    board.get(before.question.id) ||
    answered.has(before.question.id)
  )
    return;
  const ended = await give("ended", { question: before.question.id }).catch(() => "");
  if (/^Withdrawn/.test(ended))
    change({ dialog: { kind: "withdrawn", ...before, why: ended.replace(/^Withdrawn: /, "") } });
  else if (ended) toast(`Answered in the ${face(ended)}`, "info");
}

/** A form that nobody waits for any more: what was typed can be read and copied, and not sent. */
export function withdrawn({ question, state, why }) {
  const close = () => change({ dialog: null });
  const fields = question.asked.fields ?? [];
  const values = cleaned(fields, state.values);
  const isDown = ["crashed", "failed", "off", "asleep"].includes(board.server(question.server)?.state);
  const open = fields.filter((field) => !field.is_secret && values[field.name] !== undefined);
  const written = () => {
    copy(
      open
        .map(
          (field) =>
            `${titled(field).title}: ${typeof values[field.name] === "string" ? values[field.name] : JSON.stringify(values[field.name])}`,
        )
        .join("\n"),
    );
    toast("Copied");
  };
  return dialog(
    `withdrawn-${question.id}`,
    { close },
    h(
      "header",
      { class: "dlg-h" },
      tile(question.server, true),
      h(
        "div",
        { class: "grow" },
        title(shown(question.server || "The model"), isDown ? " is gone" : " no longer waits for this"),
        h("p", { class: "s12 t3" }, "Nothing was sent."),
      ),
    ),
    h(
      "div",
      { class: "dlg-b", tabindex: 0 },
      note(
        "warn",
        "offline",
        h("p", { class: "b" }, "This form cannot be sent any more."),
        h("p", { class: "t2" }, shown(why[0].toUpperCase() + why.slice(1)), "."),
      ),
      theirs(
        question.server,
        ["Written by ", shown(question.server || "the model")],
        h("p", { class: "s14 pre" }, shown(question.asked.message)),
      ),
      review(fields, values),
    ),
    h(
      "footer",
      { class: "dlg-f" },
      open.length > 0 && button("Copy what you typed", written, { kind: "quiet", sign: "copy" }),
      h("span", { class: "push" }),
      button(["Send to ", shown(question.server || "the model")], () => {}, {
        off: true,
        why: "Nobody waits for it any more",
      }),
      button("Close", close, { kind: "primary" }),
    ),
  );
}
