// The frame in which a diagram is drawn. It hears its source from the app, and tells how high it came out.

import { wished, type Said, type Wish } from "./markdown/frame.ts";

/** What a source cannot change. */
const SECURE = [
  ...["secure", "securityLevel", "startOnLoad", "suppressErrorRendering"],
  ...["htmlLabels", "flowchart", "dompurifyConfig", "themeCSS"],
];
let count = 0;

function say(said: Said): void {
  // Nobody else can have put this frame into a page: the server allows it to the app alone.
  parent.postMessage(said, location.origin);
}

async function draw({ source, isDark }: Wish): Promise<void> {
  const { default: mermaid } = await import("mermaid");
  document.documentElement.style.setProperty("color-scheme", isDark ? "dark" : "light");
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    suppressErrorRendering: true,
    theme: isDark ? "dark" : "neutral",
    // Labels are text: a picture in one would ask somebody for it. A source cannot change any of this.
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    dompurifyConfig: { FORBID_TAGS: ["audio", "image", "img", "picture", "source", "video"] },
    secure: SECURE,
    fontFamily: "system-ui, sans-serif",
  });
  try {
    count += 1;
    const { svg } = await mermaid.render(`diagram-${count}`, source);
    document.body.innerHTML = svg;
    say({ kind: "drawn", height: document.body.getBoundingClientRect().height });
  } catch {
    say({ kind: "failed" });
  }
}

addEventListener("message", (event) => {
  const wish = event.source === parent && event.origin === location.origin ? wished(event.data) : null;
  if (wish) void draw(wish);
});
say({ kind: "ready" });
