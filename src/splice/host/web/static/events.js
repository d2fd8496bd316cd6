// The stream of changes: it is opened again when it breaks, from the number that was seen last.

import { fold, number } from "./board.js";
import { parse, signed, SIGNED } from "./commands.js";
import { change, redraw, ui } from "./state.js";

const MANY = 4; // so many failures in a row, about ten seconds, mean that nobody is there

let stream = null;
let failures = 0;
let timer = 0;

/** Connect, now. */
export function connect() {
  clearTimeout(timer);
  stream?.close();
  stream = new EventSource(signed(`/events?since=${number}`));
  stream.onopen = () => {
    const wasLost = ui.link === "lost";
    failures = 0;
    change({ link: wasLost ? "back" : "open", ended: "" });
    if (wasLost) setTimeout(() => ui.link === "back" && change({ link: "open" }), 2000);
  };
  stream.onmessage = (event) => {
    fold(parse(event.data));
    redraw();
  };
  stream.onerror = () => {
    stream.close();
    failures += 1;
    const seconds = Math.min(2 ** (failures - 1), 15);
    change({ link: "lost", retryAt: Date.now() + seconds * 1000 });
    timer = setTimeout(connect, seconds * 1000);
    tick();
    find();
  };
}

/** Find out why: nobody is there, or another start of Splice, which does not know this page. */
async function find() {
  const isAnew = await fetch("/text", { headers: SIGNED }).then(
    (answer) => answer.status === 403,
    () => false,
  );
  if (ui.link === "lost") change({ ended: isAnew ? "anew" : failures >= MANY ? "gone" : "" });
}

function tick() {
  if (ui.link !== "lost") return;
  redraw();
  setTimeout(tick, 1000);
}

addEventListener("pagehide", () => stream?.close());
