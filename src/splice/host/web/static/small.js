// Small dialogs of the frame: rename and delete a chat, jump anywhere.

import * as board from "./board.js";
import { act } from "./commands.js";
import { dialog, title } from "./dialog.js";
import { h, icon, shown } from "./dom.js";
import { button, search, tile } from "./pieces.js";
import { PAGES } from "./shell.js";
import { change, go, ui } from "./state.js";

const close = () => change({ dialog: null });

export function renameDialog({ chat, title: text }) {
  const save = async () => {
    close();
    if (text.trim()) await act("rename_chat", { id: board.keyOf(chat.id), title: text.trim() });
  };
  return dialog(
    "rename",
    { width: "w-560", close },
    h("header", { class: "dlg-h" }, h("div", { class: "grow" }, title("Rename the chat"))),
    h(
      "div",
      { class: "dlg-b" },
      h(
        "div",
        { class: "field" },
        h("label", { class: "label", for: "chat-title" }, "Title"),
        h(
          "div",
          { class: "input" },
          h("input", {
            id: "chat-title",
            "data-first": true,
            value: text,
            maxlength: 200,
            oninput: (event) => change({ dialog: { ...ui.dialog, title: event.target.value } }),
            onkeydown: (event) => event.key === "Enter" && save(),
          }),
        ),
      ),
    ),
    h(
      "footer",
      { class: "dlg-f" },
      h("span", { class: "push" }),
      button("Cancel", close),
      button("Rename", save, { kind: "primary" }),
    ),
  );
}

export function deleteDialog({ chat }) {
  return dialog(
    "delete",
    { width: "w-560", close },
    h("header", { class: "dlg-h" }, h("div", { class: "grow" }, title("Delete this chat?"))),
    h(
      "div",
      { class: "dlg-b" },
      h("p", { class: "b" }, shown(chat.title || "New chat")),
      h("p", { class: "t2" }, "What was said in it is gone then. The activity log keeps what servers did."),
    ),
    h(
      "footer",
      { class: "dlg-f" },
      h("span", { class: "push" }),
      button("Keep it", close),
      button(
        "Delete the chat",
        async () => {
          close();
          await act("delete_chat", { id: board.keyOf(chat.id) });
        },
        { kind: "danger" },
      ),
    ),
  );
}

export function jumpDialog({ words, at }) {
  const all = [
    ...PAGES.map(([page, label, sign]) => ({ label, sub: "page", sign, go: () => go(page) })),
    { label: "Settings", sub: "page", sign: "sliders", go: () => go("settings") },
    ...board.chats().map((chat) => ({
      label: chat.title || "New chat",
      sub: "chat",
      sign: "chat",
      go: async () => {
        await act("open_chat", { id: board.keyOf(chat.id) });
        go("chat");
      },
    })),
    ...board
      .servers()
      .map((each) => ({ label: each.name, sub: "server", server: each.name, go: () => go("servers", each.name) })),
    ...board.prompts().map((each) => ({
      label: each.title || each.name,
      sub: `prompt of ${each.server}`,
      server: each.server,
      go: () => change({ dialog: { kind: "prompt", id: each.id, values: {} } }),
    })),
    ...board.tools().map((each) => ({
      label: each.title || each.name,
      sub: `tool of ${each.server}`,
      server: each.server,
      go: () => go("tools", each.id),
    })),
  ];
  const found = all
    .filter((each) => `${each.label} ${each.sub}`.toLowerCase().includes(words.toLowerCase()))
    .slice(0, 12);
  const place = Math.min(at, found.length - 1);
  const take = (each) => {
    close();
    each?.go();
  };
  const keys = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) {
      event.preventDefault();
      change({ dialog: { ...ui.dialog, at: (place + step + found.length) % found.length } });
    } else if (event.key === "Enter") {
      event.preventDefault();
      take(found[place]);
    }
  };
  return dialog(
    "jump",
    { width: "w-560", close, onkeydown: keys },
    h(
      "header",
      { class: "dlg-h" },
      h("h2", { class: "sr", id: "dlg-title" }, "Jump to"),
      search(
        "Jump to a page, chat, server, prompt or tool",
        words,
        (value) => change({ dialog: { ...ui.dialog, words: value, at: 0 } }),
        "grow",
        {
          "data-first": true,
          role: "combobox",
          "aria-expanded": true,
          "aria-controls": "jump",
          "aria-activedescendant": found.length ? `jump-${place}` : null,
        },
      ),
    ),
    h(
      "div",
      { class: "jump", role: "listbox", id: "jump", "aria-label": "Places" },
      found.length
        ? found.map((each, row) =>
            h(
              "div",
              {
                class: `li ${row === place ? "on" : ""}`,
                role: "option",
                id: `jump-${row}`,
                "aria-selected": row === place,
                key: row,
                onclick: () => take(each),
              },
              each.server ? tile(each.server) : icon(each.sign),
              h("span", { class: "clip" }, shown(each.label)),
              h("span", { class: "end" }, shown(each.sub)),
            ),
          )
        : h("p", { class: "empty" }, "Nothing has this name."),
    ),
  );
}
