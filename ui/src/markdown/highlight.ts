// Syntax highlighting. It follows the code and runs in a worker: see `highlight_worker.ts`.

import type { CodeSpan } from "./highlight_spans.ts";
import { waitForTurn } from "./scheduler.ts";
import { MAX_HIGHLIGHTED } from "./truncation.ts";

/** Which colours has this code? */
export interface HighlightRequest {
  key: number;
  language: string;
  pieces: readonly string[];
}

/** These are the colours of one of its pieces. */
export interface HighlightResponse {
  key: number;
  at: number;
  spans: readonly CodeSpan[];
}

export const LANGUAGES = new Set([
  ..."bash c cpp csharp css diff dockerfile elixir go graphql haskell ini java javascript json kotlin".split(" "),
  ..."latex lua makefile markdown nginx nix perl php powershell protobuf python r ruby rust scala scss".split(" "),
  ..."sql swift typescript xml yaml".split(" "),
]);

export const ALIASES: Readonly<Record<string, string>> = {
  "c++": "cpp",
  cc: "cpp",
  console: "bash",
  cs: "csharp",
  docker: "dockerfile",
  ex: "elixir",
  golang: "go",
  h: "c",
  hpp: "cpp",
  hs: "haskell",
  html: "xml",
  js: "javascript",
  json5: "json",
  jsonc: "json",
  jsx: "javascript",
  kt: "kotlin",
  make: "makefile",
  md: "markdown",
  mjs: "javascript",
  patch: "diff",
  pl: "perl",
  proto: "protobuf",
  ps1: "powershell",
  py: "python",
  python3: "python",
  rb: "ruby",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  svelte: "xml",
  svg: "xml",
  tex: "latex",
  toml: "ini",
  ts: "typescript",
  tsx: "typescript",
  vue: "xml",
  yml: "yaml",
  zsh: "bash",
};

/** Call a language by the one name under which its colours are known; null: they are not. */
export function getLanguage(language: string): string | null {
  const name = ALIASES[language] ?? language;
  return LANGUAGES.has(name) ? name : null;
}

const waiting = new Map<number, (answer: HighlightResponse) => void>();
let worker: Worker | null = null;
let next = 1;

/** Give code its colours, piece by piece, if its language is known and it is not too long. */
export function highlight(code: HTMLElement, signal: AbortSignal): void {
  const language = getLanguage(code.dataset.lang ?? "");
  if (!language || code.textContent.length > MAX_HIGHLIGHTED || signal.aborted) return;
  const pieces = [...code.querySelectorAll(".lines")];
  const key = next++;
  let left = pieces.length;
  waiting.set(key, ({ at, spans }) => {
    left -= 1;
    if (left === 0) waiting.delete(key);
    void applySpans(pieces[at], spans, signal);
  });
  signal.addEventListener("abort", () => waiting.delete(key));
  worker ??= startWorker();
  worker.postMessage({ key, language, pieces: pieces.map(({ textContent }) => textContent) } satisfies HighlightRequest);
}

function startWorker(): Worker {
  const made = new Worker(new URL("./highlight_worker.ts", import.meta.url), { type: "module" });
  made.addEventListener("message", ({ data }: MessageEvent<HighlightResponse>) => waiting.get(data.key)?.(data));
  return made;
}

async function applySpans(piece: Element | undefined, spans: readonly CodeSpan[], signal: AbortSignal): Promise<void> {
  await waitForTurn();
  if (!signal.aborted) piece?.replaceChildren(...spans.map(createNode));
}

function createNode({ text, kind }: CodeSpan): Node {
  if (!kind) return document.createTextNode(text);
  const span = document.createElement("span");
  span.className = kind;
  span.textContent = text;
  return span;
}
