// How much of a long text is shown at first.

/** So many lines of code, or of what a tool answered, are shown before somebody asks for more. */
export const FOLDED_LINES = 40;
const ROWS = 100;
const CELLS = 400;
/** A longer text is shown in parts. */
export const LONG_TEXT = 200_000;
/** So much of it is shown at first, and twice as much each time. */
export const FIRST_PIECE = 50_000;
/** Code that is longer is shown in one colour: so many colours would take the page too long. */
export const MAX_HIGHLIGHTED = 100_000;

/** Count the lines of a text; an empty last one is none. */
export function countLines(text: string): number {
  let lines = text === "" || text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** Answer the first lines of a text. */
export function getFirstLines(text: string, lines: number): string {
  let end = -1;
  for (let n = 0; n < lines; n += 1) {
    end = text.indexOf("\n", end + 1);
    if (end < 0) return text;
  }
  return text.slice(0, end);
}

/** Say how many rows of a table are shown at first: not more cells than are drawn quickly. */
export function countFirstRows(columns: number): number {
  return Math.max(10, Math.min(ROWS, Math.floor(CELLS / columns)));
}

/** Tell whether so many lines are folded at first; a few more than fit are not worth a click. */
export function isFolded(lines: number): boolean {
  return lines > FOLDED_LINES;
}

/** Cut a text into pieces of about this length, between lines if there are any. */
export function splitText(text: string, length: number): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const line = text.lastIndexOf("\n", from + length);
    const whole = from + length >= text.length ? text.length : line > from ? line + 1 : 0;
    const end = whole || from + truncateText(text.slice(from, from + length + 1), length).length;
    pieces.push(text.slice(from, end));
    from = end;
  }
  return pieces;
}

/** Answer the beginning of a text, cut where it hurts least: between paragraphs, lines or words. */
export function truncateText(text: string, length: number): string {
  if (text.length <= length) return text;
  for (const gap of ["\n\n", "\n", " "]) {
    const at = text.lastIndexOf(gap, length);
    if (at >= length / 2) return text.slice(0, at);
  }
  // Not between the halves of one sign.
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(length - 1));
  return text.slice(0, isHalf ? length - 1 : length);
}
