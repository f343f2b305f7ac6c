// Ranking of palette entries by how well they match what was typed.

export type ItemKind = "conversation" | "message" | "command" | "page" | "setting";

/** Something that can be chosen in the palette. */
export interface RankedItem {
  key: string;
  kind: ItemKind;
  label: string;
  /** Other words by which it is found. */
  also?: string;
}

// Between things that fit equally well, what is wanted more often comes first.
const KIND_BONUS: Readonly<Record<ItemKind, number>> = {
  conversation: 0.04,
  page: 0.03,
  command: 0.02,
  message: 0,
  setting: -0.1,
};

/** Write words so that they compare whatever their case and their accents are. */
export function normalizeText(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().trim();
}

/** Tell how well words fit what was typed: 0 if not at all, 1 if they are the same. */
export function getMatchScore(typed: string, words: string): number {
  const [query, candidate] = [normalizeText(typed), normalizeText(words)];
  if (query === "" || candidate === "") return 0;
  if (query === candidate) return 1;
  const parts = query.split(/\s+/).map((part) => getWordScore(part, candidate));
  if (parts.includes(0)) return 0;
  const whole = candidate.startsWith(query) ? 0.1 : 0;
  const covered = (0.05 * query.length) / Math.max(query.length, candidate.length);
  return Math.min(0.99, parts.reduce((sum, part) => sum + part, 0) / parts.length + whole + covered);
}

/**
 * Put everything that fits into one list, the best first.
 *
 * What the server found fits already, in the order in which it answers; what stands in `found` is
 * never left out, and of two with the same key the first one stays.
 */
export function rank<One extends RankedItem>(typed: string, known: readonly One[], found: readonly One[]): readonly One[] {
  const scored = new Map<string, { one: One; score: number }>();
  const add = (one: One, score: number): void => {
    if (score > 0 && !scored.has(one.key)) scored.set(one.key, { one, score: score + KIND_BONUS[one.kind] });
  };
  for (const one of known) add(one, Math.max(getMatchScore(typed, one.label), 0.6 * getMatchScore(typed, one.also ?? "")));
  for (const [at, one] of found.entries()) {
    add(one, one.kind === "message" ? 0.3 - at / 1000 : Math.max(0.35, getMatchScore(typed, one.label)));
  }
  return [...scored.values()].sort((one, other) => other.score - one.score).map(({ one }) => one);
}

function getWordScore(part: string, candidate: string): number {
  if (candidate.startsWith(part)) return 0.8;
  const at = candidate.indexOf(part);
  if (at < 0) return 0;
  return isWordStart(candidate, part) ? 0.7 : 0.4;
}

function isWordStart(candidate: string, part: string): boolean {
  for (let at = candidate.indexOf(part); at >= 0; at = candidate.indexOf(part, at + 1)) {
    if (at === 0 || /[^\p{L}\p{N}]/u.test(candidate.charAt(at - 1))) return true;
  }
  return false;
}
