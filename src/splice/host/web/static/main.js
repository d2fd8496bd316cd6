// The page: what is drawn where, and the keys that hold everywhere.

import { activity } from "./activity.js";
import { alwaysDialog, inline, sheet } from "./approval.js";
import * as board from "./board.js";
import { chat } from "./chat.js";
import { forget, nameOf } from "./decisions.js";
import { settle } from "./dialog.js";
import { h, plain } from "./dom.js";
import { connect } from "./events.js";
import { form } from "./form.js";
import { announcer, speaker, toasts } from "./notices.js";
import { permissions } from "./permissions.js";
import { closeMenu } from "./pieces.js";
import { promptDialog, prompts } from "./prompts.js";
import { attachDialog, resources } from "./resources.js";
import { completion, sampling } from "./sampling.js";
import { addServer, servers } from "./servers.js";
import { settings } from "./settings.js";
import { banner, context, PAGES, sidebar } from "./shell.js";
import { deleteDialog, jumpDialog, renameDialog } from "./small.js";
import { afterwards, begin, change, flush, go, redraw, route, ui } from "./state.js";
import { acceptDialog, tools } from "./tools.js";
import { trust } from "./trust.js";
import { visit } from "./visit.js";

const VIEWS = { chat, servers, tools, resources, prompts, activity, permissions, settings };
const OWN = { attach: attachDialog, prompt: promptDialog, rename: renameDialog, delete: deleteDialog, always: alwaysDialog, accept: acceptDialog, add: addServer, jump: jumpDialog };

function draw() {
  const { page } = route();
  forget();
  const waiting = board.questions();
  const hasPanel = page === "chat" && ui.panel && (inline().length < 2 || innerWidth >= 1560); // two decisions need the room
  const chatTitle = board.chat()?.title;
  document.title = `${waiting.length ? `(${waiting.length}) ` : ""}${page === "chat" ? plain(chatTitle || "New chat").slice(0, 80) : (PAGES.find(([each]) => each === page)?.[1] ?? "Settings")} · Splice`;
  afterwards(settle);
  return [
    h("div", { class: `app ${hasPanel ? "with-panel" : ""}`, key: "app" },
      h("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); document.getElementById("main").focus(); } }, "Skip to content"),
      sidebar(), ui.drawer && h("div", { class: "drawer-scrim only-phone", key: "scrim", onclick: () => change({ drawer: false }) }),
      h("main", { class: "main", id: "main", key: `main-${page}`, tabindex: -1 }, banner(), (VIEWS[page] ?? chat)()),
      hasPanel && context()),
    over(waiting), toasts(), announcer((question) => plain(nameOf(question))), speaker(),
  ];
}

/** The one dialog that is open: the person's own first, then what waits and is not answered in the conversation. */
function over(waiting) {
  if (ui.dialog) return OWN[ui.dialog.kind]?.(ui.dialog) ?? null;
  const open = waiting.filter((each) => !ui.aside.has(each.id));
  const trusted = open.filter((each) => each.asked.type === "trust");
  if (trusted.length) return trust(trusted[0], trusted);
  const dialogs = open.filter((each) => ["form", "visit", "sampling", "completion"].includes(each.asked.type));
  if (dialogs.length) return { form, visit, sampling, completion }[dialogs[0].asked.type](dialogs[0], dialogs.length);
  return route().page === "chat" ? sheet() : null;
}

for (const kind of ["keydown", "click"]) addEventListener(kind, flush, true);
addEventListener("hashchange", redraw);
addEventListener("resize", redraw);
addEventListener("keydown", (event) => {
  const isField = event.target.closest?.("input, textarea, select");
  const command = event.ctrlKey || event.metaKey;
  if (event.key === "Escape" && ui.menu) closeMenu();
  else if (command && event.key.toLowerCase() === "k" && !document.querySelector("[data-dialog]")) { event.preventDefault(); change({ dialog: { kind: "jump", words: "", at: 0 } }); }
  else if (command && /^[1-7]$/.test(event.key)) { event.preventDefault(); go(PAGES[Number(event.key) - 1][0]); }
  else if (event.key === "[" && !isField && !command) change({ drawer: !ui.drawer });
  else if (event.key === "]" && !isField && !command) change({ panel: !ui.panel });
  else if (event.key === "F6") { event.preventDefault(); region(event.shiftKey ? -1 : 1); }
});

/** Go round the regions of the page. */
function region(step) {
  const all = [...document.querySelectorAll(".side, .main, .panel")].filter((node) => node.offsetParent !== null);
  const at = all.findIndex((node) => node.contains(document.activeElement));
  const next = all[(at + step + all.length) % all.length];
  (next.matches(".main") ? next : next.querySelector("a, button"))?.focus();
}

begin(draw);
connect();
