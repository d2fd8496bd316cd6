// The stream of changes: it is opened again when it breaks, from the number that was seen last.

import { fold, number } from "./board.js";
import { parse, signed } from "./commands.js";
import { change, redraw, ui } from "./state.js";

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
    change({ link: wasLost ? "back" : "open" });
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
  };
}

function tick() {
  if (ui.link !== "lost") return;
  redraw();
  setTimeout(tick, 1000);
}

addEventListener("pagehide", () => stream?.close());
