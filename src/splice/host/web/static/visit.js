// A server asks to open an address. It is shown whole, its host in ink, and nothing is fetched before consent.

import * as board from "./board.js";
import { act, answer, toast } from "./commands.js";
import { guarded, offWhy, putAside } from "./decisions.js";
import { dialog, title } from "./dialog.js";
import { h, icon, shown, unseen } from "./dom.js";
import { button, copy, hold, theirs, tile } from "./pieces.js";
import { isFresh } from "./state.js";

export function visit(question, count) {
  const asked = question.asked;
  const call = board.get(asked.call);
  const off = Boolean(offWhy());
  const why = offWhy();
  const fill = (action) => guarded(question, () => answer(question, { type: "filled", action }));
  const open = guarded(question, () => act("visit", { question: question.id }));
  const warnings = asked.warnings ?? [];
  const [before, host, after] = asked.pieces ?? [asked.url, "", ""];
  const server = board.server(question.server);
  return dialog(
    question.id,
    { close: () => putAside(question) },
    h(
      "header",
      { class: "dlg-h" },
      tile(question.server, true),
      h(
        "div",
        { class: "grow" },
        title(asked.is_opened ? "Finished there?" : [shown(question.server), " wants you to open a page"]),
        h(
          "p",
          { class: "s12 t3" },
          shown(question.server),
          " asks",
          asked.is_login ? ", to sign you in" : call ? [", during ", h("code", {}, shown(call.tool))] : "",
          " · it opens in your browser, not here",
        ),
      ),
      h("span", { class: "chip warn" }, icon("globe"), count > 1 ? `Question, 1 of ${count}` : "Question"),
    ),
    h(
      "div",
      { class: "dlg-b" },
      asked.message &&
        theirs(
          question.server,
          ["Written by ", shown(question.server)],
          h("p", { class: "s14 pre" }, shown(asked.message)),
        ),
      h(
        "div",
        { class: "col gap6" },
        h("p", { class: "s12 t3" }, "The whole address"),
        h(
          "p",
          { class: "url code line", dir: "ltr" },
          shown(before),
          host && h("span", { class: "host-strong" }, letters(host)),
          shown(after),
        ),
      ),
      warnings.length > 0 &&
        h(
          "div",
          { class: "col" },
          h("p", { class: "loud" }, icon("alert"), h("span", {}, shown(asked.loud || "This address may deceive."))),
          h(
            "ul",
            { class: "warnings" },
            warnings.map((each) => h("li", {}, letters(each[0].toUpperCase() + each.slice(1)), ".")),
          ),
        ),
      h(
        "dl",
        { class: "kv tight s12" },
        h("dt", {}, "Leads to"),
        h("dd", {}, h("code", { class: "b" }, shown(asked.host))),
        server?.runs && [
          h("dt", {}, "Server runs on"),
          h("dd", {}, h("code", {}, shown(server.runs)), asked.is_new && ", which has never sent you to this host"),
        ],
        asked.is_new &&
          !server?.runs && [h("dt", {}, "Seen before"), h("dd", {}, "no: it has never sent you to this host")],
        !asked.is_opened && [h("dt", {}, "Not loaded yet"), h("dd", {}, "nothing has been fetched from this address")],
      ),
    ),
    h(
      "footer",
      { class: "dlg-f", "data-fresh": isFresh(question) ? true : null },
      button(
        "Copy address",
        () => {
          copy(asked.url);
          toast("Copied");
        },
        { kind: "quiet", sign: "copy" },
      ),
      h("span", { class: "push" }),
      button("Cancel the call", fill("cancel"), { kind: "quiet", off, why, key: "cancel" }),
      asked.is_opened
        ? button("I finished", fill("accept"), { kind: "primary", off, why, key: "done" })
        : warnings.length
          ? [
              hold("Hold to open anyway", open, { off, why, key: question.id, verb: "open" }),
              button("Decline", fill("decline"), { kind: "primary", off, why, key: "decline" }),
            ]
          : [
              button("Decline", fill("decline"), { off, why, key: "decline" }),
              button("Open in browser", open, { kind: "primary", sign: "out", off, why, key: "open" }),
            ],
    ),
  );
}

/** Letters of a host that are not of the Latin alphabet stand with their code point; what cannot be seen is that alone. */
function letters(host) {
  return [...host].flatMap((each) =>
    each.codePointAt(0) < 128 || unseen(each)
      ? shown(each)
      : [h("span", { class: "esc" }, `${each} U+${each.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`)],
  );
}
