// What a record of the activity log says, in the words of a person: its name, what was decided, how it ended.

import { server } from "./board.js";
import { count, face } from "./words.js";

/** The kinds of records, as a filter names them. */
export const KINDS = {
  call: "Calls",
  question: "Questions",
  answer: "Answers",
  sampling: "Uses of your model",
  elicitation: "Forms and pages",
  prompt: "Prompts",
  attach: "Attachments",
  turn: "Turns",
  model: "Answers of the model",
  rule: "Rules",
  tool: "Tools",
  trust: "Trust",
  setting: "Settings",
  start: "Starts",
  stop: "Stops",
  crash: "Crashes",
  fail: "Failures",
  login: "Logins",
  list: "Lists",
  updated: "Changed resources",
  host: "The host",
  fault: "Faults",
};

/** How something was decided or ended, as a filter names it. */
export const DECISIONS = { you: "Decided by you", rule: "Allowed by a rule", denied: "Denied", failed: "Failed" };

const ANSWERS = {
  once: "Allowed once",
  chat: "Allowed for this chat",
  tool: "Always allowed",
  server: "Always allowed, all of the server",
  deny: "Denied",
  cancel: "Cancelled",
  again: "Regenerated",
  accept: "Accepted",
  decline: "Declined",
};
const FAILED = new Set(["failed", "crashed", "timeout"]);

const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) : "");
const where = (by) => (by === "policy" ? " by a rule" : by ? ` in the ${face(by)}` : "");

/** A step of how a call was decided: "you, in the terminal: Allowed once" reads "Allowed once by you, in the terminal". */
function step(line) {
  const [who, what] = [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)];
  if (!what || !who) return line;
  if (who.startsWith("the rule "))
    return what === "Allowed" ? `Rule: ${who.slice(9)}` : `${what}, rule: ${who.slice(9)}`;
  return `${what} by ${who}`;
}

const OF_KINDS = {
  start: (facts) => ["started", facts.protocol ? `Speaks ${facts.protocol}` : ""],
  stop: () => ["stopped", ""],
  crash: (facts) => ["crashed", facts.why],
  fail: (facts) => ["not started", facts.why],
  login: () => ["logged in", ""],
  list: (facts) => [
    "lists read",
    [
      facts.tools !== undefined && count(facts.tools, "tool"),
      facts.prompts !== undefined && count(facts.prompts, "prompt"),
    ]
      .filter(Boolean)
      .join(", "),
  ],
  trust: (facts) => ["trust", facts.given === false ? "Not trusted by you" : "Trusted by you"],
  turn: (facts) => ["turn", facts.state === "ends" ? `Ended, ${count(facts.calls ?? 0, "call")}` : "Began"],
  model: (facts) => [
    facts.model ?? "model",
    facts.failure ? sentence(facts.why) : facts.calls ? `Wants ${count(facts.calls, "call")}` : "Answered",
  ],
  prompt: (facts) => [facts.name, "Sent by you"],
  attach: (facts) => [facts.uri, "Attached by you"],
  updated: (facts) => [facts.uri, "Changed on the server"],
  rule: (facts) => [
    facts.what || facts.rule,
    facts.revoked ? "Revoked by you" : facts.restored ? "Restored by you" : `${sentence(facts.effect)}, set by you`,
  ],
  tool: (facts) => [
    (facts.tool ?? "").replace(/^tool:/, ""),
    facts.accepted ? "Accepted by you" : facts.is_on ? "Switched on by you" : "Switched off by you",
  ],
  setting: (facts) => [facts.name, "Set by you"],
  elicitation: (facts) => [facts.mode === "url" ? "page to open" : "form", ANSWERS[facts.action] ?? facts.action],
  sampling: (facts) => ["use of your model", sentence(facts.decision)],
  question: (facts) => [facts.tool ?? facts.asks, "Asked you"],
  answer: (facts) => [facts.tool ?? facts.asks, `${ANSWERS[facts.answer] ?? facts.answer}${where(facts.by)}`],
  added: () => ["added", "Added by you"],
  removed: () => ["removed", "Removed by you"],
  host: (facts) => [facts.state === "closed" ? "Splice closed" : "Splice opened", ""],
};

/** What a record says in the columns. */
export function told(each) {
  const facts = each.facts ?? {};
  const steps = Array.isArray(facts.trail) ? facts.trail.map(step) : [];
  const outcome = facts.state ?? facts.outcome ?? "";
  const hasFailed = FAILED.has(outcome) || ["crash", "fail", "fault"].includes(each.kind) || Boolean(facts.failure);
  const [name, words] = OF_KINDS[each.kind]?.(facts) ?? [
    facts.tool ?? facts.name ?? each.kind,
    steps.at(-1) ?? sentence(facts.why ?? facts.says ?? ""),
  ];
  const decision = String(words ?? "");
  const isDenied = /^(den|block|refus|declin|cancel|not trusted|limited)/i.test(decision) || outcome === "denied";
  return { name: String(name ?? each.kind), decision, outcome, hasFailed, isDenied, steps, took: facts.seconds };
}

/** Tell whether a record is one of those that a filter of `DECISIONS` names. */
export function isDecided(each, how) {
  const { decision, hasFailed, isDenied, steps } = told(each);
  if (how === "denied") return isDenied;
  if (how === "failed") return hasFailed;
  const all = `${steps.join(" ")} ${decision}`;
  return how === "you"
    ? /by you|in the (browser|terminal)/.test(all) && each.kind !== "question"
    : /rule:|by a rule/i.test(all) && !isDenied;
}

/** Why a tool was called or not, step by step. */
export const steps = (each) => told(each).steps;

const HIDDEN = "[hidden]";

/** The names of what was taken out of a record before it was written. */
export function hidden(value, name = "") {
  if (typeof value === "string") return value.includes(HIDDEN) ? [name] : [];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, each]) =>
    hidden(each, Array.isArray(value) ? name : name ? `${name}.${key}` : key),
  );
}

const quoted = (text) => (/^[\w@%+=:,./#~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The command line that makes a call again, of a server that is still configured. */
export function commandOf(each) {
  const { tool, arguments: given } = each.facts ?? {};
  const of = server(each.server);
  if (each.kind !== "call" || !tool || !of) return "";
  const target = of.transport === "http" || of.transport === "sse" ? of.runs : `${of.source}#${of.name}`;
  return `splice call ${quoted(target)} ${quoted(tool)} ${quoted(JSON.stringify(given ?? {}))}`;
}
