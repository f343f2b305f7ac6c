// Colours for code. They come later than the code, and are found beside the page: see `colours.ts`.

import { COLOURED } from "./folding.ts";
import { leisure } from "./leisure.ts";
import type { Span } from "./spans.ts";

/** Which colours has this code? */
export interface Ask {
  key: number;
  language: string;
  pieces: readonly string[];
}

/** These are the colours of one of its pieces. */
export interface Answer {
  key: number;
  at: number;
  spans: readonly Span[];
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
export function known(language: string): string | null {
  const name = ALIASES[language] ?? language;
  return LANGUAGES.has(name) ? name : null;
}

const waiting = new Map<number, (answer: Answer) => void>();
let worker: Worker | null = null;
let next = 1;

/** Give code its colours, piece by piece, if its language is known and it is not too long. */
export function colour(code: HTMLElement, signal: AbortSignal): void {
  const language = known(code.dataset.lang ?? "");
  if (!language || code.textContent.length > COLOURED || signal.aborted) return;
  const pieces = [...code.querySelectorAll(".lines")];
  const key = next++;
  let left = pieces.length;
  waiting.set(key, ({ at, spans }) => {
    left -= 1;
    if (left === 0) waiting.delete(key);
    void paint(pieces[at], spans, signal);
  });
  signal.addEventListener("abort", () => waiting.delete(key));
  worker ??= begin();
  worker.postMessage({ key, language, pieces: pieces.map(({ textContent }) => textContent) } satisfies Ask);
}

function begin(): Worker {
  const made = new Worker(new URL("./colours.ts", import.meta.url), { type: "module" });
  made.addEventListener("message", ({ data }: MessageEvent<Answer>) => waiting.get(data.key)?.(data));
  return made;
}

async function paint(piece: Element | undefined, spans: readonly Span[], signal: AbortSignal): Promise<void> {
  await leisure();
  if (!signal.aborted) piece?.replaceChildren(...spans.map(nodeOf));
}

function nodeOf({ text, kind }: Span): Node {
  if (!kind) return document.createTextNode(text);
  const span = document.createElement("span");
  span.className = kind;
  span.textContent = text;
  return span;
}
