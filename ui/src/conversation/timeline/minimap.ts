// The line from afar: where each stretch is drawn, and which line a place on it means.

import type { BucketView } from "../../api/schema.ts";

/** A stretch as it is drawn, in parts of a thousand from the top. */
export interface MinimapBar {
  y: number;
  height: number;
  kind: "person" | "agent" | "tool" | "gap" | "hidden";
  /** How much of the width it takes. */
  width: number;
}

export const MINIMAP_HEIGHT = 1000;

/** Tell how high a line stands. */
export function getLineTop(seq: number, last: number): number {
  return last <= 1 ? 0 : (Math.min(Math.max(seq, 1), last + 1) - 1) * (MINIMAP_HEIGHT / last);
}

/** Tell which line a place means; `share` is from 0 at the top to 1. */
export function getSeqAt(share: number, last: number): number {
  return Math.min(last, Math.max(1, Math.floor(Math.min(Math.max(share, 0), 1) * last) + 1));
}

/** Draw each stretch by who speaks most in it, and the wider the more people do. */
export function layOutBuckets(buckets: readonly BucketView[], last: number): readonly MinimapBar[] {
  return buckets.map((bucket) => {
    const y = getLineTop(bucket.first_seq, last);
    const lines = bucket.last_seq - bucket.first_seq + 1;
    const width = bucket.markers > 0 ? 1 : 0.35 + 0.65 * Math.min(1, bucket.user / lines);
    return { y, height: getLineTop(bucket.last_seq + 1, last) - y, kind: kindOf(bucket, lines), width };
  });
}

function kindOf({ markers, hidden, user, assistant, tool }: BucketView, lines: number): MinimapBar["kind"] {
  if (markers > 0) return "gap";
  if (hidden * 2 > lines) return "hidden";
  if (user > assistant + tool) return "person";
  return assistant >= tool ? "agent" : "tool";
}
