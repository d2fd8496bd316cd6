// The board: the fold of the numbered changes that the host sends. The last one of an id counts.

const items = new Map();
export let number = 0;
export let isLoaded = false;

/** Take in what changed. */
export function fold(batch) {
  if (batch.everything) items.clear();
  for (const event of batch.events) {
    items.delete(event.id);
    if (event.item) items.set(event.id, whole(event.item));
  }
  number = batch.number;
  isLoaded = true;
}

/** Fields that have their defaults are not sent; these are asked for everywhere. */
const whole = (item) => (item.kind === "call" && !item.state ? { ...item, state: "queued" } : item);

export const get = (id) => items.get(id);
export const all = (kind) => [...items.values()].filter((item) => item.kind === kind);
export const only = (kind) => items.get(`${kind}:now`) ?? {};

/** What commands call a chat. */
export const keyOf = (id) => id.replace(/^chat:/, "");
export const place = (id) => Number(id.slice(id.lastIndexOf(":") + 1)) || 0;
const byName = (one, other) => one.name.localeCompare(other.name);

export const servers = () =>
  all("server").sort((one, other) => (one.hue ?? 1) - (other.hue ?? 1) || byName(one, other));
export const server = (name) => items.get(`server:${name}`);
export const tools = (name) =>
  all("tool")
    .filter((tool) => !name || tool.server === name)
    .sort(byName);
export const prompts = () => all("prompt").sort(byName);
export const chats = () => all("chat").sort((one, other) => (other.changed ?? 0) - (one.changed ?? 0));
export const chat = () => all("chat").find((each) => each.is_open);
export const model = () => all("model").find((each) => each.is_chosen);
/** The label of a model; that it is no AI stands beside it. */
export const labelOf = (each) => bare(each.label);
export const bare = (label) => (label ?? "").replace(/ (\(no AI\)|· no AI)$/, "");
export const questions = () =>
  all("question").sort((one, other) => (one.number ?? 0) - (other.number ?? 0) || place(one.id) - place(other.id));

/** Messages and calls of the open chat, in their order. */
export function thread() {
  const open = keyOf(chat()?.id ?? "");
  return [...all("message"), ...all("call")]
    .filter((each) => !open || keyOf(each.chat) === open)
    .sort((one, other) => place(one.id) - place(other.id));
}
