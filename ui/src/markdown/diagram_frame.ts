// The sandboxed frame that draws a diagram. It receives the source from the app, and reports its height.

import { parseDrawRequest, type FrameMessage, type DrawRequest } from "./diagram_messages.ts";

/** What a source cannot change. */
const SECURE = [
  ...["secure", "securityLevel", "startOnLoad", "suppressErrorRendering"],
  ...["htmlLabels", "flowchart", "dompurifyConfig", "themeCSS"],
];
let count = 0;

function send(message: FrameMessage): void {
  // Nobody else can have put this frame into a page: the server allows it to the app alone.
  parent.postMessage(message, location.origin);
}

async function draw({ source, isDark }: DrawRequest): Promise<void> {
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
    if (hasImages(await mermaid.mermaidAPI.getDiagramFromText(source))) return send({ kind: "failed" });
    count += 1;
    const { svg } = await mermaid.render(`diagram-${count}`, source);
    document.body.innerHTML = svg;
    send({ kind: "drawn", height: document.body.getBoundingClientRect().height });
  } catch {
    send({ kind: "failed" });
  }
}

/** Return whether nodes are images. They are not drawn: loading one would tell its server who reads it. */
function hasImages({ db }: { db: object }): boolean {
  const data = "getData" in db && typeof db.getData === "function" ? (db.getData() as unknown) : null;
  const nodes = (data as { nodes?: readonly { img?: unknown }[] } | null)?.nodes ?? [];
  return nodes.some(({ img }) => Boolean(img));
}

addEventListener("message", (event) => {
  const request = event.source === parent && event.origin === location.origin ? parseDrawRequest(event.data) : null;
  if (request) void draw(request);
});
send({ kind: "ready" });
