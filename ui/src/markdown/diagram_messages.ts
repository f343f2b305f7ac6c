// The messages between the app and the frame of a diagram; both validate what they receive.

/** Draw this. */
export interface DrawRequest {
  source: string;
  isDark: boolean;
}

export type FrameMessage = { kind: "ready" } | { kind: "drawn"; height: number } | { kind: "failed" };

const LEAST = 40;
const MOST = 4000;
const LENGTH = 50_000;

/** Take what a frame said, if it is something that a frame may say. */
export function parseFrameMessage(data: unknown): FrameMessage | null {
  if (!isRecord(data)) return null;
  if (data.kind === "ready" || data.kind === "failed") return { kind: data.kind };
  if (data.kind !== "drawn" || typeof data.height !== "number" || !Number.isFinite(data.height)) return null;
  return { kind: "drawn", height: Math.min(Math.max(Math.ceil(data.height), LEAST), MOST) };
}

/** Tell whether a source is short enough to be drawn. */
export function isDrawable(source: string): boolean {
  return source.length <= LENGTH;
}

/** Take what a frame is to draw, if it is something that can be drawn. */
export function parseDrawRequest(data: unknown): DrawRequest | null {
  if (!isRecord(data) || typeof data.source !== "string" || !isDrawable(data.source)) return null;
  return { source: data.source, isDark: data.isDark === true };
}

function isRecord(data: unknown): data is Record<string, unknown> {
  return typeof data === "object" && data !== null;
}
