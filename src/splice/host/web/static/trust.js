// May this program of the project start? Its whole command stands here, one server at a time; there is no "trust all".

import { answer } from "./commands.js";
import { guarded, offWhy, putAside } from "./decisions.js";
import { dialog } from "./dialog.js";
import { h, icon, shown } from "./dom.js";
import { button, hue, kbd, note, tile } from "./pieces.js";
import { isFresh, redraw, ui } from "./state.js";

export function trust(first, all) {
  const question = all.find((each) => each.id === ui.tabs.get("trust")) ?? first;
  const asked = question.asked;
  const off = Boolean(offWhy());
  const choose = (each) => { ui.tabs.set("trust", each.id); redraw(); };
  const decide = (verdict) => guarded(question, () => answer(question, { type: "decision", verdict }));
  const isURL = asked.words.length === 1 && /^https?:/.test(asked.words[0]);
  const place = all.indexOf(question);
  const keys = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.target.matches("input, textarea, [tabindex='0']")) return;
    event.preventDefault();
    choose(all[(place + step + all.length) % all.length]);
  };
  return dialog("trust", { width: "w-920", onkeydown: keys, close: () => all.forEach(putAside) },
    h("div", { class: `cols ${all.length > 1 ? "l" : "single-col"}` }, all.length > 1 && h("div", { class: "pane sunk", key: "list" }, h("div", { class: "col gap4" }, h("h2", { class: "ask-t" }, `${all.length} servers want to start`), h("p", { class: "t2" }, "Each is a program that acts for you, so nothing starts until you have read its command.")),
      h("div", { class: "col gap4" }, all.map((each) => h("button", { type: "button", class: `li tall ${each === question ? "on" : ""}`, key: each.id, "aria-current": each === question ? "step" : "false", onclick: () => choose(each) }, tile(each.server), h("span", { class: "grow col gap4" }, h("span", { class: "m clip" }, shown(each.server)), h("span", { class: "s12 t3 clip" }, shown(each.asked.runs))))))),
    h("div", { class: "pane rule", key: "detail", tabindex: 0, role: "region", "aria-label": "What would start" }, h("div", { class: "row gap12" }, tile(question.server, true), h("div", { class: "grow" }, h("h2", { id: "dlg-title", class: "ask-t dlg-title", tabindex: -1 }, "Start “", shown(question.server), "”?"), h("p", { class: "t3 s12" }, all.length > 1 ? `${place + 1} of ${all.length} · ` : "", isURL ? "a server elsewhere" : "local program", " · from ", h("code", {}, shown(asked.source))))),
      asked.before && note("bad", "diff", h("p", { class: "b" }, "This is not what you trusted."), h("p", { class: "t2" }, "The command changed since. It does not run until you trust the new one.")),
      h("div", { class: "col gap6" }, h("h3", {}, isURL ? "It connects to exactly this" : "It runs exactly this"), asked.before ? diff(question) : h("pre", { class: "code line", tabindex: 0, role: "region", "aria-label": "Command" }, command(asked.words)), h("p", { class: "s12 t3" }, "Complete: nothing is cut or wrapped by an alias. No shell reads it.")),
      h("dl", { class: "kv lined" }, !isURL && [h("dt", {}, "Runs in"), h("dd", {}, h("code", {}, shown(asked.folder))), h("dt", {}, "Runs as"), h("dd", {}, "you. It can read and write what you can.")],
        h("dt", {}, isURL ? "Is sent" : "Is given"), h("dd", {}, asked.variables?.length ? h("span", { class: "row wrap gap6" }, asked.variables.map((name) => h("span", { class: "chip" }, /KEY|TOKEN|SECRET|PASS|AUTH/i.test(name) && icon("lock"), h("span", { class: "clip" }, shown(name))))) : h("span", { class: "t3" }, "nothing")),
        asked.ignored?.length > 0 && [h("dt", {}, "Suggests"), h("dd", {}, shown(asked.ignored.join("; ")), ". ", h("span", { class: "t3" }, "Ignored: a folder cannot grant permissions."))],
        asked.fingerprint && [h("dt", {}, "Fingerprint"), h("dd", {}, h("code", {}, shown(asked.fingerprint)), h("span", { class: "t3 s12" }, " Asked again if any of this changes."))]))),
    h("footer", { class: "dlg-f", "data-fresh": isFresh(question) ? true : null }, all.length > 1 && h("span", { class: "s12 t3 row gap6" }, kbd("↑"), kbd("↓"), "other servers"), h("span", { class: "push" }), button("Don’t start", decide("deny"), { off, why: offWhy(), key: "deny" }), button(h("span", { class: "clip trust-name" }, "Trust and start “", shown(question.server), "”"), decide("once"), { kind: "primary", off, why: offWhy(), key: "start" })));
}

/** The words of a command, so that it is seen where each begins: those with spaces stand in quotes. */
function command(words) {
  const quoted = words.map((word) => (/[\s"'\\]|^$/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : word));
  const lines = [];
  for (const word of quoted) {
    const last = lines.at(-1);
    if (last && last.join(" ").length + word.length < 56 && !(word.startsWith("-") && last.length > 1 && lines.length > 0 && last.join(" ").length > 24)) last.push(word);
    else lines.push([word]);
  }
  return lines.map((line, at) => [at ? "    " : "", line.map((word, place) => [place ? " " : "", at === 0 && place === 0 ? h("span", { class: "b" }, shown(word)) : shown(word)]), at < lines.length - 1 ? " \\\n" : ""]);
}

function diff(question) {
  return h("div", { class: `diff seam ${hue(question.server)}`, role: "figure", "aria-label": "Changes of the command" }, question.asked.before.map(([sign, word], at) => h("div", { class: { "+": "add", "-": "del" }[sign] ?? "" }, h("span", { class: "ln" }, String(at + 1)), h("span", { class: "sg" }, { "+": "+", "-": "−" }[sign] ?? ""), h("span", {}, sign === "+" ? h("ins", {}, shown(word)) : sign === "-" ? h("del", {}, shown(word)) : shown(word)))));
}

