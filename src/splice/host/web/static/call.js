// Calls of tools: a line each, which opens to the whole truth.

import * as board from "./board.js";
import * as args from "./arguments.js";
import { act, parse, SIGNED, toast } from "./commands.js";
import { h, icon, lazy, shown } from "./dom.js";
import * as json from "./json.js";
import { button, copy, hue, iconButton, note, tabs, tile } from "./pieces.js";
import { redraw, ui } from "./state.js";
import { bytes, clock, seconds, tokens } from "./words.js";

const SIGNS = {
  waiting: ["hand", "i-s warn"],
  done: ["check", "ok i-s"],
  failed: ["x", "bad i-s"],
  crashed: ["x", "bad i-s"],
  timeout: ["clock", "bad i-s"],
  denied: ["x", "i-s"],
  cancelled: ["stop", "i-s"],
  queued: ["clock", "i-s"],
};
const WORDS = {
  waiting: "waiting for you",
  queued: "waits",
  failed: "failed",
  crashed: "crashed",
  timeout: "timed out",
  denied: "denied",
  cancelled: "cancelled",
  running: "running",
};
const OVER = new Set(["done", "failed", "denied", "cancelled", "crashed", "timeout"]);
const FOLD = 6;

/** Describe calls that follow each other; many that are over fold to one line. */
export function steps(calls) {
  const id = `group-${calls[0].id}`;
  const over = calls.filter((call) => call.state === "done");
  const isFolded = over.length > FOLD && !ui.open.get(id);
  const rest = isFolded ? calls.filter((call) => call.state !== "done") : calls;
  const sum = over.reduce((all, call) => all + (call.seconds ?? 0), 0);
  return h(
    "div",
    { class: "steps", role: "group", "aria-label": "Tool calls", key: id },
    over.length > FOLD &&
      h(
        "div",
        { class: "step", key: "fold" },
        h(
          "button",
          {
            type: "button",
            class: "step-h",
            "aria-expanded": !isFolded,
            onclick: () => {
              ui.open.set(id, isFolded);
              redraw();
            },
          },
          icon(isFolded ? "right" : "down", "i-s"),
          h("span", { class: "name" }, `${over.length} calls`),
          h("span", { class: "args" }),
          h("span", { class: "s12 t3 num" }, seconds(sum)),
          icon("check", "ok i-s"),
        ),
      ),
    rest.map((call) => step(call)),
  );
}

export const isOpen = (call) => ui.open.get(call.id) ?? call.state === "running";

function step(call) {
  const open = isOpen(call);
  const tool = board.get(`tool:${call.server}/${call.tool}`);
  return lazy(
    call.id,
    [
      call,
      open,
      ui.tabs.get(`tab-${call.id}`),
      ui.open.get(`long-${call.id}`),
      ui.open.get(`all-${call.id}`),
      board.server(call.server),
      tool,
    ],
    () => {
      const [sign, tone] = SIGNS[call.state] ?? ["info", "i-s"];
      const isOver = OVER.has(call.state);
      const word =
        call.state === "done"
          ? seconds(call.seconds)
          : call.state === "queued"
            ? call.word || "waits"
            : WORDS[call.state];
      return h(
        "div",
        {
          class: `step ${call.state === "running" ? "live" : ""}`,
          "data-call": call.id,
          onkeydown: (event) => {
            if (event.key === "." && !isOver && !event.target.closest("input, textarea"))
              act("cancel", { call: call.id });
          },
        },
        h(
          "button",
          {
            type: "button",
            class: "step-h",
            "aria-expanded": open,
            onclick: () => {
              ui.open.set(call.id, !open);
              redraw();
            },
          },
          icon(open ? "down" : "right", "i-s"),
          tile(call.server),
          h("span", { class: "name" }, shown(call.title || tool?.title || call.tool)),
          h("span", { class: "args clip" }, open ? "" : shown(args.short(call.arguments))),
          h(
            "span",
            { class: `s12 num nowrap state-word ${call.state === "done" ? "t3 no-phone" : "t3"}` },
            shown(word),
          ),
          call.state === "running" ? h("span", { class: "spin" }) : icon(sign, tone),
        ),
        open && body(call, tool),
      );
    },
  );
}

function body(call, tool) {
  const isLive = call.state === "running" || call.state === "queued";
  return h(
    "div",
    { class: "step-b" },
    isLive && status(call),
    !isLive && call.word && call.state !== "done" && sentence(call),
    (isLive || !hasResult(call)) && args.list(call.arguments, { flow: isShort(call.arguments), schema: tool?.schema }),
    call.mismatch && note("warn s12", "alert", "The result is not as the tool declared: ", shown(call.mismatch)),
    hasResult(call) && result(call),
    trail(call),
  );
}

const isShort = (values) =>
  Object.values(values ?? {}).every(
    (each) => (typeof each !== "string" || each.length < 48) && (each === null || typeof each !== "object"),
  );

function status(call) {
  const progress = call.progress;
  const has = progress && progress.total;
  const words = [has ? `${progress.done} of ${progress.total}` : "", elapsed(call)].filter(Boolean).join(" · ");
  return h(
    "div",
    { class: "col" },
    h(
      "div",
      { class: "row" },
      h(
        "span",
        { class: "grow", dir: "auto" },
        shown(progress?.message || call.word || (call.state === "queued" ? "Waits for another call" : "Running")),
      ),
      h("span", { class: "num s12 t3", "data-elapsed": call.state === "running" ? String(call.began) : null }, words),
      button("Cancel", () => act("cancel", { call: call.id }), { kind: "small" }),
    ),
    call.state === "running" &&
      h("progress", {
        max: has ? progress.total : null,
        value: undefined,
        "aria-label": `${call.tool}, ${words || "running"}`,
        ref: (node) => {
          if (has) node.value = progress.done;
          else node.removeAttribute("value");
        },
      }),
  );
}

const elapsed = (call) =>
  call.state === "running" && call.began ? seconds(Math.max(0, Date.now() / 1000 - call.began)) : "";

function sentence(call) {
  const isBad = ["failed", "crashed", "timeout"].includes(call.state);
  return note(isBad ? "bad" : "", isBad ? "alert" : "info", h("p", { class: isBad ? "b" : "" }, shown(call.word)));
}

const hasResult = (call) => (call.result?.length ?? 0) > 0 || call.structured !== undefined;

function result(call) {
  const labels = [
    call.result?.length && ["rendered", "Rendered"],
    call.structured !== undefined && ["structured", "Structured"],
    ["raw", "Raw"],
    ["arguments", "Arguments"],
  ].filter(Boolean);
  const [chosen, list] = tabs(`tab-${call.id}`, "Result", labels);
  return h(
    "div",
    { class: "col" },
    h(
      "div",
      { class: "tabrow" },
      list,
      h(
        "span",
        { class: "row gap4 tabtool" },
        iconButton("Copy the result", "copy", () => {
          copy(plainText(call));
          toast("Copied");
        }),
      ),
    ),
    chosen === "rendered" &&
      h(
        "div",
        { class: `theirs ${hue(call.server)}`, dir: "auto" },
        call.result.map((block, at) => rendered(call, block, at)),
      ),
    chosen === "structured" && code(call.structured, call.structured_left),
    chosen === "raw" && code(json.text(call.result?.map(bare) ?? []), 0),
    chosen === "arguments" && args.list(call.arguments, {}),
  );
}

const code = (source, left) => [
  json.code(source, "Result"),
  left > 0 && h("p", { class: "s12 t3" }, `${left.toLocaleString("en")} more characters are not shown here.`),
];
const bare = ({ html, rest, left, ...block }) => block;
const plainText = (call) => (call.result ?? []).map((block) => block.text ?? "").join("\n") || call.structured || "";

function rendered(call, block, at) {
  if (block.type === "image" && block.data && /^image\/(png|jpeg|gif|webp)$/.test(block.mime_type ?? ""))
    return h("img", {
      key: at,
      class: "shot",
      alt: "Image in the result",
      src: `data:${block.mime_type};base64,${block.data}`,
    });
  if (block.type === "audio" && block.data && /^audio\/[\w.+-]+$/.test(block.mime_type ?? ""))
    return h("audio", { key: at, controls: true, src: `data:${block.mime_type};base64,${block.data}` });
  if (block.type === "link")
    return h(
      "p",
      { key: at, class: "row wrap" },
      icon("resource", "i-s"),
      h("code", {}, shown(block.text)),
      button("Attach", () => act("attach", { server: call.server, uri: block.text }), {
        kind: "quiet small",
        sign: "at",
      }),
    );
  if (block.type !== "text" && !block.text)
    return h("p", { key: at, class: "t2" }, shown(block.mime_type || "Binary data"), `, ${bytes(block.bytes)}`);
  return h(
    "div",
    { key: at, class: "col" },
    h("div", { class: "prose small", html: block.html ?? [] }),
    block.rest && h("pre", { class: "mono" }, shown(block.rest)),
    block.left > 0 && more(call, block, at),
    block.cut > 0 &&
      h("p", { class: "s12 t3" }, `${block.cut.toLocaleString("en")} more characters came, which are not kept here.`),
  );
}

/** The rest of a long text is fetched page by page, and a page takes the place of the one before. */
function more(call, block, at) {
  const id = `long-${call.id}`;
  const page = ui.open.get(id);
  const fetchPage = async (from) => {
    const answer = await fetch(`/text?call=${encodeURIComponent(call.id)}&block=${at}&from=${from}`, {
      headers: SIGNED,
    });
    if (answer.ok) {
      ui.open.set(id, { from, ...parse(await answer.text()) });
      redraw();
    } else toast("The result could not be read.", "bad");
  };
  const size = block.size;
  return h(
    "div",
    { class: "col" },
    page && h("pre", { class: "code line page-text", tabindex: 0 }, shown(page.text)),
    h(
      "p",
      { class: "s12 t3 row wrap" },
      `${bytes(size)} of text. ${page ? `Characters ${page.from.toLocaleString("en")} to ${Math.min(page.next, size).toLocaleString("en")} are shown. ` : "The beginning is shown. "}`,
      button("Read the end", () => fetchPage(Math.max(size - 65_536, 0)), { kind: "quiet small" }),
      (!page || page.next < size) &&
        button("Read on", () => fetchPage(page ? page.next : size - block.left), { kind: "quiet small" }),
    ),
  );
}

function trail(call) {
  const parts = (call.trail ?? []).map((one) =>
    h(
      "span",
      {},
      icon(one.who.startsWith("you") ? "hand" : "shield"),
      shown(`${one.what}${one.who ? ` by ${one.who}` : ""}${one.at ? `, ${clock(one.at, true)}` : ""}`),
    ),
  );
  const size = call.bytes
    ? h(
        "span",
        {},
        icon("file"),
        `${bytes(call.bytes)}${call.tokens ? `, ${tokens(call.tokens)} tokens` : ""}`,
        call.given_tokens && call.given_tokens < call.tokens
          ? `: the model got ${tokens(call.given_tokens)} and can page on`
          : "",
      )
    : null;
  const why =
    parts.length > 0 &&
    h(
      "a",
      { href: "#/permissions", key: "why" },
      call.trail.some((one) => one.who.startsWith("you")) ? "Why was I asked?" : "See the rules",
    );
  const untrusted = call.is_untrusted && h("span", {}, icon("globe"), "text from outside came into the turn");
  const edited =
    call.asked_arguments !== undefined &&
    call.asked_arguments !== null &&
    h("details", { class: "full" }, h("summary", {}, "What the model wanted"), args.list(call.asked_arguments));
  return parts.length || size || untrusted || edited
    ? h(
        "div",
        { class: "trail" },
        parts,
        why,
        call.state === "done" && call.seconds !== undefined && h("span", {}, icon("clock"), seconds(call.seconds)),
        size,
        untrusted,
        edited,
      )
    : null;
}

setInterval(() => {
  for (const node of document.querySelectorAll("[data-elapsed]")) {
    const took = seconds(Math.max(0, Date.now() / 1000 - Number(node.dataset.elapsed)));
    const text = node.textContent.replace(/[\d.]+ (s|min \d+ s)$/, took);
    if (Number(node.dataset.elapsed) && node.textContent !== text) node.firstChild.data = text;
  }
}, 500);
