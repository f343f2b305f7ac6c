// What a screen reader announces of a streamed reply: whole sentences, and not too often.

/** At least so long apart, in ms. */
export const PAUSE_MS = 3000;
const LENGTH = 600;

/** Find the end of the last whole sentence or line after `from`; `from` itself if there is none. */
export function findSentenceEnd(text: string, from: number): number {
  const rest = text.slice(from);
  let end = 0;
  for (const found of rest.matchAll(/[.!?…。！？؟](?=\s)|\n/gu)) end = found.index + found[0].length;
  return from + end;
}

/** Read a piece of Markdown as somebody would say it: without signs, code or addresses. */
export function toSpokenText(text: string): string {
  const plain = text
    .replace(/```[\s\S]*?(?:```|$)/g, " ")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*_~#>|]+/g, "")
    .replace(/\s+/g, " ")
    .trim();
  return plain.length > LENGTH ? `${plain.slice(0, LENGTH)}…` : plain;
}

/** Answer the last line of a text that says something. */
export function getLastLine(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.slice(trimmed.lastIndexOf("\n") + 1).trim();
}
