// Where the person writes: / offers prompts, @ resources, # tools. Above it stands what waits.

import * as board from "./board.js";
import { act, answer } from "./commands.js";
import { h, icon, plain, shown } from "./dom.js";
import { guarded, nameOf } from "./decisions.js";
import { button, iconButton, kbd, menu, tile, toggleMenu } from "./pieces.js";
import { afterwards, change, kept, openPrompt, redraw, typed, ui } from "./state.js";
import { count } from "./words.js";

let text = kept("composer") ?? "";
let forced = "";
let queued = kept("queued");
let at = 0;

const write = (value) => {
  text = value;
  kept("composer", value || null);
  redraw();
};

/** Put text where the person writes. */
export function insert(value) {
  write(text ? `${text}\n${value}` : value);
  afterwards(() => document.querySelector(".say")?.focus());
}

/** Let the next turn use a tool. */
export function force(tool) {
  forced = tool;
  redraw();
  afterwards(() => document.querySelector(".say")?.focus());
}

export function composer() {
  const chat = board.chat();
  const model = board.model();
  const isBusy = Boolean(chat?.is_busy);
  const offered = offers();
  const isOff = ui.link === "lost";
  const waiting = board.questions();
  const placeholder = waiting.length
    ? "Answer above, or say what should be different"
    : isBusy
      ? "Write on. It is sent when this turn is over."
      : "Reply, or type / for prompts, @ for resources, # for tools";
  const isStop = isBusy && !text.trim();
  if (queued && !isBusy && chat && ui.link === "open") afterwards(sendQueued);
  return [
    tray(waiting),
    h(
      "div",
      { class: "composer anchor", key: "composer" },
      popup(offered),
      queued &&
        h(
          "div",
          { class: "forced row" },
          icon("clock", "i-s"),
          h("span", { class: "clip grow s12 t2" }, "Waits for this turn: ", shown(queued.text)),
          button(
            "Take back",
            () => {
              write(queued.text);
              wait(null);
            },
            { kind: "quiet small" },
          ),
        ),
      forced &&
        h(
          "div",
          { class: "forced" },
          h(
            "span",
            { class: "chip acc" },
            icon("tool"),
            h("span", { class: "clip" }, shown(forced.replace(/^tool:/, ""))),
            h(
              "button",
              {
                type: "button",
                class: "chip-x",
                "aria-label": "Do not force this tool",
                onclick: () => {
                  forced = "";
                  redraw();
                },
              },
              icon("x"),
            ),
          ),
        ),
      along(),
      h("textarea", {
        class: "say",
        rows: 1,
        "aria-label": "Message",
        placeholder,
        value: text,
        key: "say",
        oninput: (event) => {
          typed();
          at = 0;
          open(event.target.value);
        },
        onkeydown: (event) => keys(event, offered),
        role: offered ? "combobox" : null,
        "aria-expanded": offered ? true : null,
        "aria-controls": offered ? "offers" : null,
        "aria-activedescendant": offered?.items.length ? `offer-${at}` : null,
        ref: grow,
      }),
      h(
        "div",
        { class: "tools" },
        iconButton("Prompts", "prompt", () => start("/")),
        iconButton("Resources", "at", () => change({ dialog: { kind: "attach" } })),
        iconButton("Tools", "hash", () => start("#")),
        h("span", { class: "push" }),
        chooser(model),
        isStop
          ? iconButton("Stop", "stop", () => act("stop"), "primary send")
          : iconButton("Send", "up", send, "primary send", {
              disabled: isOff || !text.trim(),
              title: isOff ? "Not connected" : "Send",
            }),
      ),
    ),
  ];
}

/** What goes along with the next message: seen where it is sent, also where the context is not. */
function along() {
  const attached = board.only("context").attached ?? [];
  if (!attached.length) return null;
  return h(
    "div",
    { class: "forced row wrap gap6", key: "along", role: "group", "aria-label": "Goes along" },
    attached.map((each) =>
      h(
        "span",
        { class: "chip", key: each.uri, title: plain(each.uri) },
        tile(each.server),
        h("span", { class: "clip" }, shown(each.name || each.uri)),
        h(
          "button",
          {
            type: "button",
            class: "chip-x",
            "aria-label": `Take ${plain(each.name || each.uri)} off`,
            onclick: () => act("detach", { uri: each.uri }),
          },
          icon("x"),
        ),
      ),
    ),
  );
}

function chooser(model) {
  const all = board.all("model");
  return h(
    "span",
    { class: "anchor model-at" },
    h(
      "button",
      {
        type: "button",
        class: "btn quiet small",
        "aria-haspopup": "menu",
        "aria-expanded": ui.menu === "model",
        onclick: (event) => toggleMenu("model", event),
      },
      icon("model"),
      h("span", { class: "clip" }, shown(model ? board.labelOf(model) : "No model")),
      model && model.is_ai === false && h("span", { class: "chip" }, "no AI"),
      icon("down", "i-s"),
    ),
    menu("model", [
      "The model of this chat",
      ...all.map((each) => [
        "model",
        `${board.labelOf(each)}${each.is_ai === false ? ", no AI" : each.where ? `, ${each.where}` : ""}`,
        () => act("choose_model", { id: each.id }),
        each.is_chosen ? "on" : "",
      ]),
      "-",
      ["search", "Look for models on this computer", () => act("find_models")],
    ]),
  );
}

function grow(node) {
  if (CSS.supports("field-sizing", "content")) return;
  node.style.blockSize = "auto";
  node.style.blockSize = `${Math.min(node.scrollHeight, 240)}px`;
}

function start(sign) {
  write(sign === "/" ? "/" : `${text}${text && !/\s$/.test(text) ? " " : ""}${sign}`);
  afterwards(() => document.querySelector(".say")?.focus());
}

function open(value) {
  if (/(^|\s)@$/.test(value) && value.length > text.length) {
    write(value.slice(0, -1));
    change({ dialog: { kind: "attach" } });
  } else write(value);
}

/** What the typed text may become. */
function offers() {
  const slash = /^\/([^\s]*)$/.exec(text);
  if (slash) {
    const words = slash[1].toLowerCase();
    const items = board
      .prompts()
      .filter((each) => `${each.name} ${each.title ?? ""}`.toLowerCase().includes(words))
      .slice(0, 8);
    return {
      title: words ? `Prompts that match “${slash[1]}”` : "Prompts",
      items: items.map((each) => ({
        server: each.server,
        name: `/${each.name}`,
        about: each.title || each.description,
        end: each.arguments?.length ? count(each.arguments.length, "field") : "",
        take: () => {
          write("");
          openPrompt(each);
        },
      })),
    };
  }
  const hash = /(?:^|\s)#([^\s]*)$/.exec(text);
  if (!hash) return null;
  const words = hash[1].toLowerCase();
  const items = board
    .tools()
    .filter(
      (each) =>
        each.is_on !== false &&
        !each.held &&
        `${each.server}/${each.name} ${each.title ?? ""}`.toLowerCase().includes(words),
    )
    .slice(0, 8);
  return {
    title: "Tools: the chosen one is used in this turn",
    items: items.map((each) => ({
      server: each.server,
      name: each.name,
      about: each.title || each.description,
      end: "",
      take: () => {
        forced = each.id;
        write(text.slice(0, text.length - hash[1].length - 1).trimEnd());
      },
    })),
  };
}

function popup(offered) {
  if (!offered) return null;
  return h(
    "div",
    { class: "pop up slash", key: "offers" },
    h("div", { class: "h" }, shown(offered.title)),
    offered.items.length
      ? h(
          "div",
          { role: "listbox", id: "offers", "aria-label": "Offers" },
          offered.items.map((each, place) =>
            h(
              "div",
              {
                class: `it ${place === at ? "on" : ""}`,
                role: "option",
                id: `offer-${place}`,
                "aria-selected": place === at,
                onclick: each.take,
                key: place,
              },
              tile(each.server),
              h("span", { class: "m nowrap clip offer-name" }, shown(each.name)),
              h("span", { class: "t3 clip grow" }, shown(each.about)),
              h("span", { class: "s12 t3 nowrap" }, each.end),
              place === at && kbd("↵"),
            ),
          ),
        )
      : h("p", { class: "h" }, "Nothing matches."),
  );
}

function keys(event, offered) {
  if (event.isComposing) return;
  const size = offered?.items.length ?? 0;
  if (size && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    at = (at + (event.key === "ArrowDown" ? 1 : -1) + size) % size;
    redraw();
  } else if (size && (event.key === "Enter" || event.key === "Tab")) {
    event.preventDefault();
    offered.items[Math.min(at, size - 1)].take();
    at = 0;
  } else if (event.key === "Escape" && offered) write("");
  else if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    send();
  }
}

async function send() {
  const said = text.trim();
  if (!said || ui.link === "lost") return;
  const tool = forced;
  write("");
  forced = "";
  if (board.chat()?.is_busy) return wait({ text: queued ? `${queued.text}\n${said}` : said, tool });
  const number = await act("say", { text: said, ...(tool ? { tool } : {}) });
  if (number === undefined) write(said);
  return undefined;
}

const wait = (value) => {
  queued = value;
  kept("queued", value);
  redraw();
};

/** What was written during a turn goes out when it is over. */
async function sendQueued() {
  if (!queued) return;
  const { text: said, tool } = queued;
  wait(null);
  if ((await act("say", { text: said, ...(tool ? { tool } : {}) })) === undefined) write(said);
}

function tray(waiting) {
  if (!waiting.length) return null;
  const denied = waiting.filter((each) => each.asked.type === "approval");
  const deny = () =>
    denied.forEach((each) => guarded(each, () => answer(each, { type: "decision", verdict: "deny" }))());
  return h(
    "div",
    { class: "tray", role: "group", "aria-label": "What waits for you", key: "tray" },
    icon("hand"),
    h("span", { class: "nowrap" }, `${waiting.length} waiting for you`),
    h(
      "div",
      { class: "items" },
      waiting.map((each) =>
        h(
          "button",
          { type: "button", class: "chip", key: each.id, onclick: () => show(each) },
          each.server ? tile(each.server) : icon("hand"),
          h("span", { class: "clip" }, shown(nameOf(each))),
        ),
      ),
    ),
    h(
      "span",
      { class: "only-phone push" },
      button("Answer", () => show(waiting[0]), { kind: "quiet small" }),
    ),
    denied.length > 1 &&
      button(denied.length === 2 ? "Deny both" : `Deny all ${denied.length}`, deny, { kind: "quiet small" }),
  );
}

function show(question) {
  ui.aside.delete(question.id);
  redraw();
  afterwards(() => {
    const card = document.querySelector(`[data-question="${CSS.escape(question.id)}"]`);
    card?.scrollIntoView({ block: "center" });
    card?.focus({ preventScroll: true });
  });
}
