/** What a piece of the line tells: who speaks, or what happened; `none` is thread alone. */
export type LineKind =
  | "person"
  | "agent"
  | "tool"
  | "knot"
  | "cut"
  | "gap"
  | "fork"
  | "hollow"
  | "running"
  | "waiting"
  | "none";
