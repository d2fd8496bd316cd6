// Numbers and times as people read them.

export const tokens = (count = 0) =>
  count < 1000
    ? String(count)
    : count >= 1_000_000
      ? `${(count / 1_000_000).toFixed(1).replace(/\.0$/, "")}M`
      : `${(count / 1000).toFixed(count < 100_000 ? 1 : 0).replace(/\.0$/, "")}k`;

/** How many tokens a text takes, about: a quarter of its characters, as everywhere in the host. */
export const estimated = (text) => Math.ceil(text.length / 4);

export const bytes = (count = 0) =>
  count < 1024
    ? `${count} B`
    : count < 1024 * 1024
      ? `${(count / 1024).toFixed(1)} kB`
      : `${(count / 1024 / 1024).toFixed(1)} MB`;

export const seconds = (count) =>
  typeof count !== "number"
    ? ""
    : count < 60
      ? `${count.toFixed(1)} s`
      : `${Math.floor(count / 60)} min ${Math.round(count % 60)} s`;

export const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

const two = (number) => String(number).padStart(2, "0");

/** Where an answer was given, in the words of the page. */
export const face = (by) => (by === "web" ? "browser" : by);

export function clock(at, exact = false) {
  const time = new Date(at * 1000);
  return `${two(time.getHours())}:${two(time.getMinutes())}${exact ? `:${two(time.getSeconds())}` : ""}`;
}

export function day(at) {
  const time = new Date(at * 1000);
  const isToday = time.toDateString() === new Date().toDateString();
  return isToday
    ? `today, ${clock(at)}`
    : `${time.getDate()} ${time.toLocaleString("en", { month: "short" })} ${time.getFullYear()}, ${clock(at)}`;
}

/** The weekday of a date that was written as one; empty for any other text. */
export function weekday(text) {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return "";
  const date = new Date(`${text}T12:00:00`);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleString("en", { weekday: "long" });
}
