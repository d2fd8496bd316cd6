// May this program of a file start? Its whole command stands here, one server at a time; there is no "trust all".

import * as board from "./board.js";
import { answer } from "./commands.js";
import { guarded, offWhy, putAside } from "./decisions.js";
import { dialog } from "./dialog.js";
import { h, icon, shown } from "./dom.js";
import { button, chip, hue, kbd, note, tile } from "./pieces.js";
import { isFresh, redraw, ui } from "./state.js";
import { count } from "./words.js";

/** What was decided since this dialog opened, by server: it stays in the list until the last one is answered. */
const decided = new Map();

export function trust(first, all) {
  if (!document.querySelector("[data-dialog=trust]")) decided.clear();
  const question = all.find((each) => each.id === ui.tabs.get("trust")) ?? first;
  const asked = question.asked;
  const off = Boolean(offWhy());
  const choose = (each) => {
    ui.tabs.set("trust", each.id);
    redraw();
  };
  const decide = (verdict) =>
    guarded(question, () => {
      if (all.length > 1) decided.set(question.server, { verdict, runs: asked.runs });
      answer(question, { type: "decision", verdict });
    });
  const place = all.indexOf(question);
  const keys = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.target.matches("input, textarea, [tabindex='0']")) return;
    event.preventDefault();
    choose(all[(place + step + all.length) % all.length]);
  };
  const done = [...decided].filter(([name]) => all.every((each) => each.server !== name));
  const number = all.length + done.length;
  return dialog(
    "trust",
    { width: "w-920", onkeydown: keys, close: () => all.forEach(putAside) },
    h(
      "div",
      { class: `cols ${number > 1 ? "l" : "single-col"}` },
      number > 1 && chooser(all, done, question, choose),
      h(
        "div",
        { class: "pane rule", key: "detail", tabindex: 0, role: "region", "aria-label": "What would start" },
        heading(question.server, asked, number > 1 ? `${done.length + place + 1} of ${number} · ` : ""),
        whatRuns(question.server, asked),
      ),
    ),
    h(
      "footer",
      { class: "dlg-f", "data-fresh": isFresh(question) ? true : null },
      all.length > 1 && h("span", { class: "s12 t3 row gap6 no-phone" }, kbd("↑"), kbd("↓"), "other servers"),
      h("span", { class: "push" }),
      button("Don’t start", decide("deny"), { off, why: offWhy(), key: "deny" }),
      button(
        h("span", { class: "clip trust-name" }, "Trust and start “", shown(question.server), "”"),
        decide("once"),
        { kind: "primary", off, why: offWhy(), key: "start" },
      ),
    ),
  );
}

/** The servers that want to start, those that were decided first. */
function chooser(all, done, question, choose) {
  const sources = [...new Set(all.map((each) => each.asked.source).filter(Boolean))];
  const number = count(all.length + done.length, "server");
  const model = board.model();
  return h(
    "div",
    { class: "pane sunk", key: "list" },
    h(
      "div",
      { class: "col gap4" },
      h(
        "h2",
        { class: "ask-t wrap-any" },
        sources.length === 1 ? [shown(sources[0]), ` brings ${number}`] : `${number} wait for your word`,
      ),
      h(
        "p",
        { class: "t2" },
        sources.length > 1 && [
          "They are listed in ",
          sources.map((each, at) => [at > 0 && (at < sources.length - 1 ? ", " : " and "), h("code", {}, shown(each))]),
          ". ",
        ],
        "Each is a program that acts for you, so nothing starts until you have read its command.",
      ),
    ),
    h(
      "div",
      { class: "col gap4" },
      done.map(([name, { verdict, runs }]) =>
        row(name, runs, verdict === "once" ? chip("Trusted", "ok", "check") : chip("Not started"), {
          key: name,
          disabled: true,
        }),
      ),
      all.map((each) =>
        row(
          each.server,
          each.asked.runs,
          each.asked.before && chip("changed", "warn"),
          { key: each.id, "aria-current": each === question ? "step" : "false", onclick: () => choose(each) },
          each === question,
        ),
      ),
    ),
    model &&
      h(
        "p",
        { class: "s12 t3 push-b no-phone" },
        "Model: ",
        h(
          "span",
          { class: "t2" },
          shown(board.labelOf(model)),
          model.is_ai === false ? ", no AI, offline" : model.where && `, ${model.where}`,
          ". ",
        ),
        h("a", { href: "#/settings", onclick: () => all.forEach(putAside) }, "Change"),
      ),
  );
}

const row = (name, runs, sign, props, isOn = false) =>
  h(
    "button",
    { type: "button", class: `li tall ${isOn ? "on" : ""}`, ...props },
    tile(name),
    h(
      "span",
      { class: "grow col gap4" },
      h("span", { class: "row gap6" }, h("span", { class: "m clip" }, shown(name)), h("span", { class: "push" }), sign),
      h("span", { class: "s12 t3 clip" }, shown(runs)),
    ),
  );

const isAddress = (asked) => asked.words.length === 1 && /^https?:/.test(asked.words[0]);

export const heading = (name, asked, place = "", from = "from") =>
  h(
    "div",
    { class: "row gap12" },
    tile(name, true),
    h(
      "div",
      { class: "grow" },
      h("h2", { id: "dlg-title", class: "ask-t dlg-title wrap-any", tabindex: -1 }, "Start “", shown(name), "”?"),
      h(
        "p",
        { class: "t3 s12 wrap-any" },
        place,
        isAddress(asked) ? "a server elsewhere" : "local program",
        asked.source && [` · ${from} `, h("code", {}, shown(asked.source))],
      ),
    ),
  );

/** What runs, whole: the command, or how it changed; where, as whom, what it is given, what was ignored. */
export function whatRuns(name, asked, again = "Asked again if any of this changes.") {
  const isURL = isAddress(asked);
  return [
    asked.before &&
      note(
        "bad",
        "diff",
        h("p", { class: "b" }, "This is not what you trusted."),
        h("p", { class: "t2" }, "The command changed since. It does not run until you trust the new one."),
      ),
    h(
      "div",
      { class: "col gap6", key: "runs" },
      h("h3", { class: "s12 m t3" }, isURL ? "It connects to exactly this" : "It runs exactly this"),
      asked.before
        ? diff(name, asked)
        : h("pre", { class: "code line", tabindex: 0, role: "region", "aria-label": "Command" }, command(asked.words)),
      h(
        "p",
        { class: "s12 t3" },
        isURL
          ? "Complete: nothing is cut. What you and the model say to its tools leaves this computer."
          : "Complete: nothing is cut or wrapped by an alias. No shell reads it.",
      ),
    ),
    h(
      "dl",
      { class: "kv lined", key: "facts" },
      !isURL && [
        h("dt", {}, "Runs in"),
        h("dd", {}, h("code", {}, shown(asked.folder))),
        h("dt", {}, "Runs as"),
        h("dd", {}, "you. It can read and write what you can."),
      ],
      h("dt", {}, isURL ? "Is sent" : "Is given"),
      h(
        "dd",
        {},
        asked.variables?.length
          ? h(
              "span",
              { class: "row wrap gap6" },
              asked.variables.map((each) =>
                h(
                  "span",
                  { class: "chip wrap-chip" },
                  /KEY|TOKEN|SECRET|PASS|AUTH/i.test(each) && icon("lock"),
                  h("span", { class: "wrap-any" }, shown(each)),
                ),
              ),
            )
          : h("span", { class: "t3" }, isURL ? "no headers of yours" : "nothing of yours"),
      ),
      asked.ignored?.length > 0 && [
        h("dt", {}, "Suggests"),
        h(
          "dd",
          {},
          shown(asked.ignored.join("; ")),
          ". ",
          h("span", { class: "t3" }, "Ignored: a file cannot grant permissions."),
        ),
      ],
      asked.fingerprint && [
        h("dt", {}, "Fingerprint"),
        h(
          "dd",
          {},
          h("code", { title: asked.fingerprint }, shown(short(asked.fingerprint))),
          h("span", { class: "t3 s12" }, ` ${again}`),
        ),
      ],
    ),
  ];
}

/** The first digits of a fingerprint, as the command line shows them, in fours. */
const short = (fingerprint) => fingerprint.slice(0, 16).replace(/(.{4})(?=.)/g, "$1 ");

/** The words of a command, so that it is seen where each begins: those with spaces stand in quotes. */
export function command(words) {
  const quoted = words.map((word) => (/[\s"'\\]|^$/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : word));
  const lines = [];
  for (const word of quoted) {
    const last = lines.at(-1);
    if (
      last &&
      last.join(" ").length + word.length < 56 &&
      !(word.startsWith("-") && last.length > 1 && lines.length > 0 && last.join(" ").length > 24)
    )
      last.push(word);
    else lines.push([word]);
  }
  return lines.map((line, at) => [
    at ? "    " : "",
    line.map((word, place) => [
      place ? " " : "",
      at === 0 && place === 0 ? h("span", { class: "b" }, shown(word)) : shown(word),
    ]),
    at < lines.length - 1 ? " \\\n" : "",
  ]);
}

function diff(name, asked) {
  return h(
    "div",
    { class: `diff seam ${hue(name)}`, role: "figure", "aria-label": "Changes of the command" },
    asked.before.map(([sign, word], at) =>
      h(
        "div",
        { class: { "+": "add", "-": "del" }[sign] ?? "" },
        h("span", { class: "ln" }, String(at + 1)),
        h("span", { class: "sg" }, { "+": "+", "-": "−" }[sign] ?? ""),
        h(
          "span",
          {},
          sign === "+" ? h("ins", {}, shown(word)) : sign === "-" ? h("del", {}, shown(word)) : shown(word),
        ),
      ),
    ),
  );
}
