// The parts of a line, as they are shown: files stand together, and what is empty is left out.

import type {
  AttachmentPart,
  MarkerPart,
  MessageView,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
} from "../../api/schema.ts";

export type Piece =
  | { kind: "text"; text: string }
  | { kind: "files"; files: readonly AttachmentPart[] }
  | { kind: "thought"; part: ReasoningPart }
  | { kind: "call"; part: ToolCallPart }
  | { kind: "result"; part: ToolResultPart }
  | { kind: "marker"; part: MarkerPart };

/** Arrange the parts of a line. */
export function arranged(parts: MessageView["parts"]): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const part of parts) {
    const piece = pieceOf(part);
    const last = pieces.at(-1);
    if (piece.kind === "files" && last?.kind === "files") last.files = [...last.files, ...piece.files];
    else if (!isEmpty(piece)) pieces.push(piece);
  }
  return pieces;
}

function pieceOf(part: MessageView["parts"][number]): Piece {
  switch (part.type) {
    case "attachment":
      return { kind: "files", files: [part] };
    case "reasoning":
      return { kind: "thought", part };
    case "tool_call":
      return { kind: "call", part };
    case "tool_result":
      return { kind: "result", part };
    case "marker":
      return { kind: "marker", part };
    default:
      return { kind: "text", text: "text" in part ? part.text : "" };
  }
}

function isEmpty(piece: Piece): boolean {
  if (piece.kind === "text") return piece.text.trim() === "";
  return piece.kind === "thought" && piece.part.text.trim() === "";
}
