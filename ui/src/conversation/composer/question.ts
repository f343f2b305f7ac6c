// A question of an agent, taken apart: words, and what it wants to do, which is shown as it is.

export interface Piece {
  kind: "words" | "code";
  text: string;
}

const FENCE = /^(`{3,}|~{3,})/;

/** Part a text at its fences; nothing in them is styled, so that nothing can be hidden. */
export function pieces(text: string): readonly Piece[] {
  const found: Piece[] = [];
  let fence: string | null = null;
  let lines: string[] = [];
  const end = (kind: Piece["kind"]): void => {
    const said = lines.join("\n").replace(/^\n+|\n+$/g, "");
    if (said) found.push({ kind, text: said });
    lines = [];
  };
  for (const line of text.split("\n")) {
    const mark: string | undefined = FENCE.exec(line)?.[1];
    if (fence === null && mark) {
      end("words");
      fence = mark;
    } else if (fence !== null && mark?.startsWith(fence) && line.trim() === mark) {
      end("code");
      fence = null;
    } else lines.push(line);
  }
  end(fence === null ? "words" : "code");
  return found;
}
