// A question of an agent, split into text and code, which is shown as it is.

export interface QuestionPart {
  kind: "words" | "code";
  text: string;
}

const FENCE = /^(`{3,}|~{3,})/;

/** Part a text at its fences; nothing in them is styled, so that nothing can be hidden. */
export function splitQuestion(text: string): readonly QuestionPart[] {
  const found: QuestionPart[] = [];
  let fence: string | null = null;
  let lines: string[] = [];
  const end = (kind: QuestionPart["kind"]): void => {
    const text = lines.join("\n");
    const said = kind === "code" ? text : text.replace(/^\n+|\n+$/g, "");
    if (said) found.push({ kind, text: said });
    lines = [];
  };
  for (const line of text.split("\n")) {
    const mark: string | undefined = FENCE.exec(line)?.[1];
    if (fence === null && mark) {
      end("words");
      fence = mark;
      // What stands behind the fence would be hidden as the name of a language.
      const rest = line.slice(mark.length);
      if (rest.trim()) lines.push(rest);
    } else if (fence !== null && mark?.startsWith(fence) && line.trim() === mark) {
      end("code");
      fence = null;
    } else lines.push(line);
  }
  end(fence === null ? "words" : "code");
  return found;
}
