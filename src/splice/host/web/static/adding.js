// Servers are added in two steps: what was typed, or what another host has; then the exact command, one at a time.

import { act, give } from "./commands.js";
import { offWhy } from "./decisions.js";
import { dialog, title } from "./dialog.js";
import { h, icon, plain, shown } from "./dom.js";
import { button, check, empty, note, tile } from "./pieces.js";
import { change, go, isFresh, ui } from "./state.js";
import { heading, whatRuns } from "./trust.js";

const close = () => change({ dialog: null });
const set = (values) => change({ dialog: { ...ui.dialog, error: "", ...values } });

/** How long nothing is typed before a name is proposed. */
const PAUSE_MS = 150;

/** Longer text is read only once it is to be looked at. */
const MAX_WHILE_TYPING = 10_000;

let opened = 0;
let asked = 0;
let timer = 0;

/** Look at servers one after the other. */
const review = (looks, before) => change({ dialog: { kind: "review", looks, at: 0, before, opened: ++opened } });

export function add() {
  asking();
  change({ dialog: { kind: "add", name: "", source: "", error: "", read: [] } });
}

/** Take note that the host is asked about what is typed. Tells later whether nothing was typed since. */
function asking() {
  const mine = ++asked;
  clearTimeout(timer);
  return () => mine === asked && ui.dialog?.kind === "add";
}

/** Take what was typed, and read it soon: for the name that is proposed. */
function type(source) {
  const isLast = asking();
  const isAsked = source.trim() && source.length <= MAX_WHILE_TYPING;
  set({ source, read: isAsked ? ui.dialog.read : [] });
  if (!isAsked) return;
  timer = setTimeout(async () => {
    const read = await give("read_servers", { text: source }).catch(() => []); // it may not be whole yet
    if (isLast()) change({ dialog: { ...ui.dialog, read } });
  }, PAUSE_MS);
}

/** Look at what was typed. */
async function look() {
  const isLast = asking();
  const before = { ...ui.dialog, error: "" };
  try {
    const looks = [];
    for (const { name, entry } of await give("read_servers", { text: before.source, name: before.name })) {
      if (!name) throw new Error("Give it a name.");
      looks.push({ ...(await give("review_server", { name, entry })), key: name, entry });
    }
    if (isLast()) review(looks, before);
  } catch (failure) {
    if (isLast()) set({ error: failure.message });
  }
}

/** Look at what other hosts have: their files are read now, and not before. */
export async function takeOver() {
  change({ dialog: { kind: "import", looks: null, chosen: new Set() } });
  const looks = await act("importable");
  if (ui.dialog?.kind === "import") looks === undefined ? close() : set({ looks });
}

/** The first step: a command, an address, or JSON as other hosts have it. */
export function addDialog({ name, source, error, read }) {
  const isNamed = read.length > 0 && !read[0].is_proposed;
  return dialog(
    "add",
    { width: "w-560", close },
    h(
      "header",
      { class: "dlg-h" },
      h(
        "div",
        { class: "grow" },
        title("Add a server"),
        h("p", { class: "s12 t3" }, "Nothing is added or started before you have seen its exact command."),
      ),
    ),
    h(
      "div",
      { class: "dlg-b" },
      h(
        "div",
        { class: "field" },
        h("label", { class: "label", for: "add-source" }, "Command, address, or JSON"),
        h("textarea", {
          id: "add-source",
          class: "input code-in",
          rows: 6,
          "data-first": true,
          spellcheck: "false",
          placeholder: 'uvx travel-server\nhttps://mail.example.com/mcp\n{"mcpServers": {…}}',
          value: source,
          "aria-invalid": error ? true : null,
          "aria-describedby": "add-error",
          oninput: (event) => type(event.target.value),
          onkeydown: (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && look(),
        }),
        h(
          "p",
          { class: error ? "error" : "hint", id: "add-error", role: error ? "alert" : null },
          error
            ? [icon("alert"), h("span", { class: "wrap-any" }, shown(error))]
            : "JSON as other hosts have it is read as it is.",
        ),
      ),
      h(
        "div",
        { class: "field" },
        h(
          "label",
          { class: "label", for: "add-name" },
          "Name here",
          isNamed && h("span", { class: "t3" }, " · only if the JSON has none"),
        ),
        h(
          "div",
          { class: "input" },
          h("input", {
            id: "add-name",
            value: name,
            placeholder: (read.length === 1 && read[0].name) || "travel",
            oninput: (event) => set({ name: event.target.value }),
            onkeydown: (event) => event.key === "Enter" && source.trim() && look(),
          }),
        ),
      ),
    ),
    h(
      "footer",
      { class: "dlg-f" },
      button("From another host…", takeOver, { kind: "quiet", sign: "download" }),
      h("span", { class: "push" }),
      button("Cancel", close),
      button("Look at it", look, { kind: "primary", off: !source.trim() }),
    ),
  );
}

/** What other hosts have, to be ticked; each is looked at before it is taken. */
export function importDialog({ looks, chosen }) {
  const flip = (each) => {
    const now = new Set(chosen);
    now.has(each) ? now.delete(each) : now.add(each);
    set({ chosen: now });
  };
  const hosts = [...new Set((looks ?? []).map((each) => each.host))];
  const wanted = (looks ?? []).filter((each) => chosen.has(each));
  return dialog(
    "import",
    { width: "w-560", close },
    h(
      "header",
      { class: "dlg-h" },
      h(
        "div",
        { class: "grow" },
        title("Take servers over"),
        h(
          "p",
          { class: "s12 t3" },
          "From the files of other hosts on this computer. What they were allowed there is not taken.",
        ),
      ),
    ),
    h(
      "div",
      { class: "dlg-b flush" },
      looks === null
        ? h("p", { class: "pad t3 late" }, "Looking")
        : !looks.length
          ? empty(
              "search",
              "Nothing was found",
              "No file of Claude, Cursor, VS Code, Windsurf or Gemini CLI names a server here.",
            )
          : hosts.map((host) =>
              h(
                "section",
                { key: host },
                h("h3", { class: "list-h" }, shown(looks.find((each) => each.host === host).host_title)),
                h(
                  "div",
                  { class: "list" },
                  looks
                    .filter((each) => each.host === host)
                    .map((each) => offer(each, chosen.has(each), () => flip(each))),
                ),
              ),
            ),
    ),
    h(
      "footer",
      { class: "dlg-f" },
      h("span", { class: "push" }),
      button("Cancel", close),
      button(
        wanted.length > 1 ? `Look at ${wanted.length}` : "Look at it",
        () => review(wanted, { kind: "import", looks, chosen }),
        { kind: "primary", off: !wanted.length },
      ),
    ),
  );
}

function offer(look, isOn, flip) {
  const why = look.problem || (look.is_known ? "There is one of this name here already" : "");
  return h(
    "div",
    { class: "li tall", key: `${look.host}/${look.name}` },
    why ? h("span", { class: "check-gap" }) : check(plain(look.name), isOn, flip),
    h(
      "button",
      { type: "button", class: "grow col gap4 start-text", disabled: Boolean(why), onclick: flip },
      h("span", { class: "row gap6" }, h("span", { class: "m clip" }, shown(look.name))),
      h("code", { class: "s12 t3 wrap-any" }, shown(look.asked.runs || "no command")),
      why && h("span", { class: `s12 ${look.problem ? "bad" : "t3"}` }, shown(why)),
    ),
  );
}

/** The second step: what would run. Neither answer has the focus. */
export function reviewDialog(open) {
  const { looks, at, before } = open;
  const look = looks[at];
  const fresh = isFresh({ id: `review/${open.opened}/${at}` });
  const why =
    look.problem || (look.is_known ? "There is a server of this name here already. Give it another name." : "");
  const next = () => (at + 1 < looks.length ? change({ dialog: { ...open, at: at + 1, error: "" } }) : close());
  const start = async () => {
    if (fresh || offWhy()) return;
    try {
      await (look.host
        ? give("import_server", { host: look.host, name: look.name, fingerprint: look.asked.fingerprint })
        : give("add_server", { name: look.key, entry: look.entry }));
    } catch (failure) {
      return set({ error: failure.message });
    }
    next();
    act("start_server", { name: look.name }); // what comes of it stands on the board
    if (!document.querySelector(".welcome")) go("servers", look.name);
  };
  return dialog(
    "review",
    { width: "w-720", close },
    h(
      "div",
      { class: "dlg-b" },
      heading(
        look.name,
        look.asked,
        looks.length > 1 ? `${at + 1} of ${looks.length} · ` : "",
        look.host ? "from" : "goes into",
      ),
      (why || open.error) && note("bad", "alert", h("p", { class: "wrap-any" }, shown(why || open.error))),
      look.asked.words.length > 0 && whatRuns(look.name, look.asked, ""),
    ),
    h(
      "footer",
      { class: "dlg-f", "data-fresh": fresh ? true : null },
      before && button("Back", () => change({ dialog: before }), { kind: "quiet" }),
      h("span", { class: "push" }),
      button(looks.length > at + 1 ? "Skip it" : "Don’t add", () => !fresh && next(), { key: "deny" }),
      button(h("span", { class: "clip trust-name" }, "Trust and start “", shown(look.name), "”"), start, {
        kind: "primary",
        off: Boolean(why || offWhy()),
        why: why || offWhy(),
        key: "start",
      }),
    ),
  );
}

export function removeDialog({ name, source }) {
  return dialog(
    "remove",
    { width: "w-560", close },
    h(
      "header",
      { class: "dlg-h" },
      tile(name, true),
      h("div", { class: "grow" }, title("Remove “", shown(name), "”?")),
    ),
    h(
      "div",
      { class: "dlg-b" },
      h(
        "p",
        {},
        "It is taken out of your own file",
        source && [", or, if ", h("code", {}, shown(source)), " is not yours, left out until the host is opened again"],
        ". Rules about it are kept, and hold if it comes back unchanged.",
      ),
    ),
    h(
      "footer",
      { class: "dlg-f" },
      h("span", { class: "push" }),
      button("Keep it", close),
      button(
        "Remove the server",
        async () => {
          close();
          await act("remove_server", { name });
          if (!document.querySelector(".welcome")) go("servers");
        },
        { kind: "danger" },
      ),
    ),
  );
}
