// Coloured code comes as HTML with nothing but spans; it is read as such, so that nothing else can come of it.

const PART = /<span class="([\w -]*)">|<\/span>|([^<]+)/g;
const SIGNS: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

/** A stretch of code of one colour. */
export interface CodeSpan {
  text: string;
  kind: string;
}

/** Read coloured code as stretches, the innermost colour of each. */
export function parseSpans(html: string): CodeSpan[] {
  const spans: CodeSpan[] = [];
  const open: string[] = [];
  for (const [part, kind, text] of html.matchAll(PART)) {
    if (text !== undefined) spans.push({ text: unescaped(text), kind: open.at(-1) ?? "" });
    else if (part === "</span>") open.pop();
    else open.push(kind ?? "");
  }
  return spans;
}

/** Share stretches out among pieces of these lengths. */
export function distributeSpans(spans: readonly CodeSpan[], lengths: readonly number[]): CodeSpan[][] {
  const pieces: CodeSpan[][] = [];
  let at = 0;
  let rest: CodeSpan | undefined = spans[0];
  for (const length of lengths) {
    const piece: CodeSpan[] = [];
    for (let room = length; room > 0 && rest; ) {
      piece.push({ ...rest, text: rest.text.slice(0, room) });
      const over: string = rest.text.slice(room);
      room -= rest.text.length - over.length;
      rest = over ? { ...rest, text: over } : spans[(at += 1)];
    }
    pieces.push(piece);
  }
  return pieces;
}

function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#x27);/g, (sign) => SIGNS[sign] ?? sign);
}
