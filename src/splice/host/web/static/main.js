// The page: what is drawn where, and the keys that hold everywhere.

import { activity } from "./activity.js";
import { addDialog, importDialog, removeDialog, reviewDialog } from "./adding.js";
import { alwaysDialog, inline, sheet } from "./approval.js";
import * as board from "./board.js";
import { chat } from "./chat.js";
import { forget, nameOf } from "./decisions.js";
import { settle } from "./dialog.js";
import { h, plain } from "./dom.js";
import { connect } from "./events.js";
import { firstRun, isFirst } from "./first.js";
import { follow, form, withdrawn } from "./form.js";
import { announcer, banner, speaker, toasts } from "./notices.js";
import { permissions, ruleDialog } from "./permissions.js";
import { closeMenu } from "./pieces.js";
import { promptDialog, prompts } from "./prompts.js";
import { attachDialog, resources } from "./resources.js";
import { completion, sampling } from "./sampling.js";
import { servers } from "./servers.js";
import { settings, wipeDialog } from "./settings.js";
import { closeSides, context, PAGES, sidebar, toggleSidebar } from "./shell.js";
import { deleteDialog, jumpDialog, renameDialog } from "./small.js";
import { afterwards, begin, change, flush, go, redraw, route, ui } from "./state.js";
import { acceptDialog, tools } from "./tools.js";
import { trust } from "./trust.js";
import { visit } from "./visit.js";

const VIEWS = { chat, servers, tools, resources, prompts, activity, permissions, settings };
const OWN = {
  attach: attachDialog,
  prompt: promptDialog,
  rename: renameDialog,
  delete: deleteDialog,
  always: alwaysDialog,
  accept: acceptDialog,
  add: addDialog,
  import: importDialog,
  review: reviewDialog,
  remove: removeDialog,
  wipe: wipeDialog,
  jump: jumpDialog,
  rule: ruleDialog,
  withdrawn,
};

function draw() {
  const { page } = route();
  forget();
  const waiting = board.questions();
  const hasPanel = page === "chat" && ui.panel && (inline().length < 2 || innerWidth >= 1560); // two decisions need the room
  const chatTitle = board.chat()?.title;
  document.title = `${waiting.length ? `(${waiting.length}) ` : ""}${page === "chat" ? plain(chatTitle || "New chat").slice(0, 80) : (PAGES.find(([each]) => each === page)?.[1] ?? "Settings")} · Splice`;
  afterwards(settle);
  if (isFirst())
    return [banner(), firstRun(), over(waiting), toasts(), announcer((question) => plain(nameOf(question)))];
  return [
    h(
      "div",
      { class: `app ${hasPanel ? "with-panel" : ""} ${ui.isFolded ? "folded" : ""}`, key: "app" },
      h(
        "a",
        {
          class: "skip",
          href: "#main",
          onclick: (event) => {
            event.preventDefault();
            document.getElementById("main").focus();
          },
        },
        "Skip to content",
      ),
      sidebar(),
      (ui.drawer || hasPanel) &&
        h("div", { class: `drawer-scrim ${ui.drawer ? "of-side" : "of-panel"}`, key: "scrim", onclick: closeSides }),
      h("main", { class: "main", id: "main", key: `main-${page}`, tabindex: -1 }, banner(), (VIEWS[page] ?? chat)()),
      hasPanel && context(),
    ),
    over(waiting),
    toasts(),
    announcer((question) => plain(nameOf(question))),
    speaker(),
  ];
}

/** The one dialog that is open: the person's own first, then what waits and is not answered in the conversation. */
function over(waiting) {
  const open = waiting.filter((each) => !ui.aside.has(each.id));
  const trusted = open.filter((each) => each.asked.type === "trust");
  const dialogs = open.filter((each) => ["form", "visit", "sampling", "completion"].includes(each.asked.type));
  follow(trusted.length ? null : dialogs[0]);
  if (ui.dialog) return OWN[ui.dialog.kind]?.(ui.dialog) ?? null;
  if (trusted.length) return trust(trusted[0], trusted);
  if (dialogs.length) return { form, visit, sampling, completion }[dialogs[0].asked.type](dialogs[0], dialogs.length);
  return route().page === "chat" ? sheet() : null;
}

for (const kind of ["keydown", "click"]) addEventListener(kind, flush, true);
addEventListener("hashchange", redraw);
addEventListener("resize", redraw);
addEventListener("keydown", (event) => {
  const isField = event.target.closest?.("input, textarea, select");
  const command = event.ctrlKey || event.metaKey;
  const isOver = document.querySelector("[data-dialog]");
  if (event.key === "Escape" && ui.menu) closeMenu();
  else if (event.key === "Escape" && !isOver && !event.defaultPrevented && closeSides()) event.preventDefault();
  else if (command && event.key.toLowerCase() === "k" && !isOver) {
    event.preventDefault();
    change({ dialog: { kind: "jump", words: "", at: 0 } });
  } else if (command && /^[1-7]$/.test(event.key)) {
    event.preventDefault();
    go(PAGES[Number(event.key) - 1][0]);
  } else if (event.key === "[" && !isField && !command && !isOver) toggleSidebar();
  else if (event.key === "]" && !isField && !command && !isOver && route().page === "chat")
    change({ panel: !ui.panel });
  else if (event.key === "F6" && !isOver) {
    event.preventDefault();
    region(event.shiftKey ? -1 : 1);
  }
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
