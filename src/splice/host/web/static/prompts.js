// Prompts of servers: a form for the arguments, and what will be sent, before it is sent.

import * as board from "./board.js";
import { act, give } from "./commands.js";
import { insert } from "./composer.js";
import { dialog, title } from "./dialog.js";
import { h, icon, shown } from "./dom.js";
import * as json from "./json.js";
import { button, empty, iconButton, kbd, search, theirs, tile } from "./pieces.js";
import { bar } from "./shell.js";
import { suggested } from "./suggest.js";
import { change, go, openPrompt, redraw, ui } from "./state.js";
import { count, estimated } from "./words.js";

let previewed = { key: "", messages: null, problem: "" };
let timer = 0;

/** Ask for the messages once the arguments are whole, after a pause. */
function look(prompt, values, isWhole) {
  const key = JSON.stringify([prompt.id, values]);
  if (!isWhole || previewed.key === key) return;
  previewed = { ...previewed, key, isLoading: true };
  clearTimeout(timer);
  timer = setTimeout(async () => {
    let made;
    try {
      made = {
        key,
        messages: await give("preview", { server: prompt.server, prompt: prompt.name, arguments: values }),
        problem: "",
      };
    } catch (error) {
      made = { key, messages: null, problem: error.message };
    }
    if (previewed.key === key) {
      previewed = made;
      redraw();
    }
  }, 250);
}

const given = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));

export function promptDialog({ id, values }) {
  const prompt = board.get(id);
  const close = () => change({ dialog: null });
  if (!prompt)
    return dialog(
      "prompt",
      { width: "w-560", close },
      h("header", { class: "dlg-h" }, h("div", { class: "grow" }, title("This prompt is gone"))),
      h("div", { class: "dlg-b" }, h("p", {}, "Its server offers it no more.")),
      h("footer", { class: "dlg-f" }, button("Close", close)),
    );
  const fields = prompt.arguments ?? [];
  const missing = fields.filter((field) => field.is_required && !values[field.name]);
  const isWhole = missing.length === 0;
  look(prompt, given(values), isWhole);
  const set = (name, value) => change({ dialog: { ...ui.dialog, values: { ...ui.dialog.values, [name]: value } } });
  const send = async () => {
    if (!isWhole) return document.getElementById(`arg-${missing[0].name}`)?.focus();
    close();
    go("chat");
    return act("say", { prompt: `${prompt.server}/${prompt.name}`, arguments: given(values) });
  };
  const put = () => {
    close();
    go("chat");
    insert((previewed.messages ?? []).map(textOf).filter(Boolean).join("\n\n"));
  };
  const left = (previewed.messages ?? []).filter((message) => !textOf(message)).length;
  return dialog(
    "prompt",
    {
      width: "w-920",
      extra: "roomy",
      close,
      onkeydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          send();
        }
      },
    },
    h(
      "header",
      { class: "dlg-h" },
      tile(prompt.server, true),
      h(
        "div",
        { class: "grow" },
        title(shown(prompt.title || prompt.name)),
        h(
          "p",
          { class: "s12 t3" },
          h("code", {}, "/", shown(prompt.name)),
          " · prompt of ",
          shown(prompt.server),
          prompt.description && [" · ", shown(prompt.description)],
        ),
      ),
      iconButton("Close", "x", close, "quiet"),
    ),
    h(
      "div",
      { class: "cols" },
      h(
        "div",
        { class: "pane", key: "form" },
        fields.length
          ? h(
              "div",
              { class: "two" },
              fields.map((field, at) =>
                h(
                  "div",
                  { class: `field ${at === 0 && fields.length % 2 ? "all" : ""}`, key: field.name },
                  h(
                    "label",
                    { class: "label", for: `arg-${field.name}` },
                    h("span", {}, shown(field.title || field.name)),
                    field.is_required && h("span", { class: "req" }, "required"),
                  ),
                  suggested({
                    id: `arg-${field.name}`,
                    server: prompt.server,
                    ref: { type: "ref/prompt", name: prompt.name },
                    name: field.name,
                    value: values[field.name] ?? "",
                    known: values,
                    set: (value) => set(field.name, value),
                    about: field.description,
                    rest: {
                      "aria-required": field.is_required ? true : null,
                      "aria-describedby": field.description ? `arg-${field.name}-d` : null,
                      "data-first": at === 0 ? true : null,
                    },
                  }),
                  field.description && h("p", { class: "hint", id: `arg-${field.name}-d` }, shown(field.description)),
                ),
              ),
            )
          : h("p", { class: "t2" }, "It needs nothing from you."),
      ),
      h(
        "div",
        { class: "pane rule sunk", key: "preview", tabindex: 0, role: "region", "aria-label": "What will be sent" },
        h(
          "div",
          { class: "row" },
          h("h3", {}, "What will be sent"),
          h(
            "span",
            { class: "s12 t3 push num" },
            isWhole && previewed.messages
              ? `${count(previewed.messages.length, "message")}, about ${count(estimated(previewed.messages.map((message) => textOf(message) ?? json.text(message.content)).join("")), "token")}`
              : "",
          ),
        ),
        preview(prompt, values, isWhole, missing),
      ),
    ),
    h(
      "footer",
      { class: "dlg-f" },
      isWhole && left > 0
        ? h(
            "span",
            { class: "s12 t3" },
            `Insert takes text only: ${left === 1 ? "one message stays" : `${left} messages stay`} out`,
          )
        : h("span", { class: "s12 t3 row gap6" }, kbd("Tab"), "next field"),
      h("span", { class: "push" }),
      button("Insert into the message", put, {
        off: !isWhole || !previewed.messages || left === previewed.messages.length,
        why: left ? "There is no text in it" : "Fill it in first",
        key: "insert",
      }),
      button(["Send", kbd("Ctrl ↵")], send, { kind: "primary", key: "send", off: ui.link === "lost" }),
    ),
  );
}

const textOf = (message) => (message.content?.type === "text" ? message.content.text : undefined);

function preview(prompt, values, isWhole, missing) {
  if (!isWhole)
    return h(
      "p",
      { class: "s12 t3" },
      "Still needed: ",
      shown(missing.map((field) => field.title || field.name).join(", ")),
      ".",
    );
  if (previewed.problem) return h("p", { class: "s12 bad" }, shown(previewed.problem));
  if (!previewed.messages)
    return h("div", { class: "col late" }, h("div", { class: "skel w80" }), h("div", { class: "skel w60" }));
  return [
    previewed.messages.map((message, at) =>
      theirs(
        prompt.server,
        [`As ${message.role === "assistant" ? "the model" : "you"}, written by `, shown(prompt.server)],
        message.content?.type === "text"
          ? h("p", { class: "pre", key: at }, marked(message.content.text, Object.values(values)))
          : other(message.content),
      ),
    ),
    h("p", { class: "hint" }, "Updates as you type. Marked words are yours, the rest is theirs."),
  ];
}

/** What is no text: a resource stands with its address, anything else as JSON. */
function other(content) {
  if (content?.type === "resource_link")
    return h(
      "p",
      { class: "row top" },
      icon("resource", "i-s"),
      h(
        "span",
        { class: "col gap4" },
        h("span", {}, "Link to ", shown(content.title || content.name)),
        h("code", { class: "s12 t3 wrap-any" }, shown(content.uri)),
      ),
    );
  if (content?.type === "image" && /^image\/(png|jpeg|gif|webp)$/.test(content.mimeType ?? ""))
    return h("img", {
      class: "shot",
      alt: "Image in the prompt",
      src: `data:${content.mimeType};base64,${content.data}`,
    });
  const resource = content?.resource;
  if (!resource?.text) return h("pre", { class: "mono" }, shown(json.text(content)));
  return h(
    "div",
    { class: "col gap4" },
    h("code", { class: "s12 t3 wrap-any" }, shown(resource.uri)),
    h("pre", { class: "wrap-text" }, shown(resource.text.slice(0, 4000))),
    resource.text.length > 4000 && h("p", { class: "s12 t3" }, "The rest goes along, and is not shown here."),
  );
}

/** Mark the person's own words in a text. */
function marked(text, values) {
  const words = values.filter((value) => value && value.length > 1).sort((one, other) => other.length - one.length);
  if (!words.length) return shown(text);
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "g");
  return text.split(pattern).map((part) => (words.includes(part) ? h("mark", {}, shown(part)) : shown(part)));
}

let words = "";

export function prompts() {
  const all = board
    .prompts()
    .filter((each) =>
      `${each.server} ${each.name} ${each.title ?? ""} ${each.description ?? ""}`
        .toLowerCase()
        .includes(words.toLowerCase()),
    );
  return [
    bar("Prompts", count(board.prompts().length, "prompt")),
    h(
      "div",
      { class: "filters", key: "filters" },
      search(
        "Search prompts",
        words,
        (value) => {
          words = value;
          redraw();
        },
        "w-find",
      ),
    ),
    h(
      "div",
      { class: "scroll", key: "scroll", tabindex: 0, role: "region", "aria-label": "Prompts" },
      all.length
        ? h(
            "div",
            { class: "page" },
            h(
              "div",
              { class: "starts" },
              all.map((each) =>
                h(
                  "button",
                  { type: "button", class: "start", key: each.id, onclick: () => openPrompt(each) },
                  tile(each.server),
                  h(
                    "span",
                    { class: "col gap4" },
                    h("span", { class: "m wrap-any" }, shown(each.title || each.name)),
                    each.description && h("span", { class: "t2 wrap-any" }, shown(each.description)),
                    h(
                      "span",
                      { class: "s12 t3" },
                      "/",
                      shown(each.name),
                      " · ",
                      shown(each.server),
                      each.arguments?.length ? ` · ${count(each.arguments.length, "field")}` : "",
                    ),
                  ),
                ),
              ),
            ),
          )
        : empty(
            "prompt",
            board.prompts().length ? "Nothing matches" : "No prompts yet",
            "Servers that offer prompts appear here, and after / in a message.",
          ),
    ),
  ];
}
