// The parts of a message as blocks: files stand together, and empty parts are left out.

import type {
  AttachmentPart,
  MarkerPart,
  MessageView,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
} from "../../api/schema.ts";

export type MessageBlock =
  | { kind: "text"; text: string }
  | { kind: "files"; files: readonly AttachmentPart[] }
  | { kind: "thought"; part: ReasoningPart }
  | { kind: "call"; part: ToolCallPart }
  | { kind: "result"; part: ToolResultPart }
  | { kind: "marker"; part: MarkerPart };

/** Arrange the parts of a line. */
export function groupParts(parts: MessageView["parts"]): readonly MessageBlock[] {
  const blocks: MessageBlock[] = [];
  for (const part of parts) {
    const block = toBlock(part);
    const last = blocks.at(-1);
    if (block.kind === "files" && last?.kind === "files") last.files = [...last.files, ...block.files];
    else if (!isEmpty(block)) blocks.push(block);
  }
  return blocks;
}

function toBlock(part: MessageView["parts"][number]): MessageBlock {
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
    case "note":
      return { kind: "text", text: part.text };
    default:
      return { kind: "text", text: "text" in part ? part.text : "" };
  }
}

function isEmpty(block: MessageBlock): boolean {
  if (block.kind === "text") return block.text.trim() === "";
  return block.kind === "thought" && block.part.text.trim() === "";
}
