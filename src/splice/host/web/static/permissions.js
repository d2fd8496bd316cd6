// Permissions: what was allowed or denied for good, when, how often it was used; and the way back.

import * as board from "./board.js";
import { act, toast } from "./commands.js";
import { h, icon, shown } from "./dom.js";
import { button, empty, note, tile, toggle } from "./pieces.js";
import { bar } from "./shell.js";
import { count, day } from "./words.js";

const EFFECTS = { deny: ["Deny", "bad", "x"], ask: ["Ask", "", "hand"], allow: ["Allow", "ok", "check"] };
const ORDER = { deny: 0, ask: 1, allow: 2 };

async function revoke(rule) {
  if ((await act("revoke", { rule: rule.id })) === undefined) return;
  toast(`Rule revoked: ${rule.what}`, "ok", { undo: () => act("restore", { rule: rule.id }) });
}

export function permissions() {
  const rules = board.all("rule").sort((one, other) => ORDER[one.effect] - ORDER[other.effect] || (one.scope === "chat" ? -1 : 1));
  const number = (effect, scope) => rules.filter((each) => each.effect === effect && (!scope || each.scope === scope)).length;
  const settings = board.only("settings").values ?? {};
  const flow = [["Blocked", "untrusted or changed"], ["Denied", count(number("deny"), "rule")], ["Always asked", `${count(number("ask"), "rule")}, or untrusted data in the turn`], ["This chat", count(number("allow", "chat"), "grant")], ["Allowed", count(number("allow", "always"), "rule")], ["Asked", "all else"]];
  return [bar("Permissions", "", rules.length > 1 && button("Revoke all", () => rules.filter((each) => each.effect === "allow").forEach(revoke), { kind: "quiet small" })),
    h("div", { class: "scroll", key: "scroll", tabindex: 0, role: "region", "aria-label": "Permissions" }, h("div", { class: "page" },
      h("section", { class: "col gap6" }, h("h2", { class: "s14 b" }, "How a call is decided"), h("p", { class: "t2" }, "From left to right, the first that matches. A deny wins over every allow."), h("ol", { class: "flow" }, flow.map(([name, words]) => h("li", {}, h("b", {}, name), h("span", {}, words))))),
      h("section", { class: "col gap6" }, h("div", { class: "row wrap" }, h("h2", { class: "s14 b" }, "Rules"), h("span", { class: "s12 t3" }, "kept in your own file, outside any project")),
        h("div", { class: "card bleed" }, rules.length ? table(rules) : empty("shield", "You have allowed nothing for good.", "Everything is asked."))),
      h("div", { class: "two" }, trusted(), caution(settings))))];
}

function table(rules) {
  return h("table", { class: "table roomy" }, h("thead", {}, h("tr", {}, h("th", { class: "c-eff" }, "Effect"), h("th", {}, "Server and tool"), h("th", { class: "c-wide" }, "Holds"), h("th", { class: "c-wide" }, "Given"), h("th", { class: "c-num r" }, "Used"), h("th", { class: "c-btn" }, h("span", { class: "sr" }, "Revoke")))),
    h("tbody", {}, rules.map((rule) => {
      const [word, tone, sign] = rule.void ? ["Void", "warn", "alert"] : EFFECTS[rule.effect];
      const [server, ...rest] = rule.what.split("/");
      const isTool = rest.length > 0;
      return h("tr", { key: rule.id }, h("td", {}, h("span", { class: `chip ${tone}` }, icon(sign), word)), h("td", {}, h("span", { class: "row" }, board.server(server) && tile(server), h("span", { class: "m clip" }, shown(server)), isTool && [h("span", { class: "t3" }, "/"), h("code", { class: "clip" }, shown(rest.join("/")))])), h("td", { class: "t2" }, rule.void ? shown(`void: ${rule.void}`) : rule.scope === "chat" ? "this chat" : rest.join("/") === "*" ? "always, every tool" : "always"), h("td", { class: "t2 num" }, rule.made ? day(rule.made) : ""), h("td", { class: "r t2" }, String(rule.uses ?? 0)), h("td", { class: "r" }, button("Revoke", () => revoke(rule), { kind: "small", "aria-label": `Revoke: ${word} ${rule.what}` })));
    })));
}

function trusted() {
  const all = board.servers().filter((each) => !["untrusted"].includes(each.state));
  return h("section", { class: "col gap6", key: "trusted" }, h("h2", { class: "s14 b" }, "Trusted to start"), h("div", { class: "card bleed" }, all.length ? h("div", { class: "list" }, all.map((each) => h("a", { class: "li plainlink", key: each.id, href: `#/servers/${encodeURIComponent(each.name)}` }, tile(each.name), h("span", { class: "m clip" }, shown(each.name)), h("code", { class: "t3 clip grow" }, shown(each.runs))))) : h("p", { class: "empty" }, "No server yet.")));
}

const CAUTION = [["asks_after_outside", "Ask again once text from outside came into the turn", true], ["holds_new_tools", "New tools of known servers wait until you accept them", false]];

function caution(settings) {
  return h("section", { class: "col gap6", key: "caution" }, h("h2", { class: "s14 b" }, "Caution"), h("div", { class: "card card-b col gap12" }, CAUTION.map(([name, words, usual]) => h("div", { class: "row gap12", key: name }, toggle(words, settings[name] ?? usual, (on) => act("set", { name, value: on })), h("span", { class: "grow" }, words)))), note("s12", "info", "What a server claims of its tools only ever lowers caution where you trust the server."));
}
