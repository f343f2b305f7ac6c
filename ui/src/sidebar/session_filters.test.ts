import { describe, expect, it } from "vitest";
import type { SessionRowView } from "../api/schema.ts";
import { compareRows, matchesFilter, mergeRows, NO_FILTER, parseFilter } from "./session_filters.ts";
import { createRow as row } from "./session_row_fixture.ts";

const names = (rows: readonly SessionRowView[]): string[] => rows.map(({ session: { id } }) => id);
const put = (known: readonly SessionRowView[], fresh: readonly SessionRowView[], hasMore = false): string[] =>
  names(mergeRows(known, new Set(names(fresh)), fresh, NO_FILTER, hasMore));

describe("the order of rows", () => {
  it("has pinned ones first, then the latest activity, then the later id", () => {
    const pinned = row("old", 1, { pinned_at: "2026-01-31T10:00:00.000000Z" });
    const rows = [row("a", 5), row("c", 7), pinned, row("b", 5)];
    expect(names(rows.toSorted(compareRows))).toEqual(["old", "c", "b", "a"]);
  });
});

describe("merging rows that were read anew", () => {
  const known = [row("c", 30), row("b", 20), row("a", 10)];

  it("moves a row that became active to the top", () => {
    expect(put(known, [row("a", 40)])).toEqual(["a", "c", "b"]);
  });

  it("adds one that is new, at its place", () => {
    expect(put(known, [row("n", 25)])).toEqual(["c", "n", "b", "a"]);
  });

  it("takes away what is gone, and what no longer belongs here", () => {
    expect(names(mergeRows(known, new Set(["b"]), [], NO_FILTER, false))).toEqual(["c", "a"]);
    expect(put(known, [row("b", 20, { archived_at: "2026-01-31T11:00:00.000000Z" })])).toEqual(["c", "a"]);
  });

  it("leaves to the next page what stands behind the last row", () => {
    expect(put(known, [row("n", 5)], true)).toEqual(["c", "b", "a"]);
    expect(put(known, [row("n", 5)], false)).toEqual(["c", "b", "a", "n"]);
  });

  it("answers the same list if nothing in it was meant", () => {
    expect(mergeRows(known, new Set(["x"]), [], NO_FILTER, false)).toBe(known);
  });

  it("shows only the latest of several continuations, whichever is heard of last", () => {
    const next = row("n", 40, { cause: "continued", parent_id: "b" });
    expect(put(known, [next])).toEqual(["n", "c", "a"]);
    expect(put([next, row("c", 30)], [row("b", 50)])).toEqual(["n", "c"]);
  });

  it("keeps many rows in order", () => {
    const many = Array.from({ length: 50 }, (_, at) => row(`s${at}`, 59 - at));
    const fresh = [row("s40", 58), row("s10", 1), row("s20", 39)];
    const merged = mergeRows(many, new Set(names(fresh)), fresh, NO_FILTER, false);
    expect(names(merged)).toEqual(names(merged.toSorted(compareRows)));
    expect(merged).toHaveLength(50);
  });
});

describe("a filter", () => {
  const archived = row("z", 1, { archived_at: "2026-01-31T11:00:00.000000Z" });
  const job = row("j", 1, { origin: "job" });
  const empty = row("e", 1, { title: null, last_seq: 0 });

  it("hides what is archived, scheduled or empty, unless it is asked for", () => {
    const shown = [archived, job, empty, row("a", 1)].map((one) => matchesFilter(NO_FILTER, one));
    expect(shown).toEqual([false, false, false, true]);
    expect(matchesFilter({ ...NO_FILTER, shelf: "archived" }, archived)).toBe(true);
    expect(matchesFilter({ ...NO_FILTER, shelf: "scheduled" }, job)).toBe(true);
    expect(matchesFilter(NO_FILTER, { ...empty, queued: 1 })).toBe(true);
  });

  it("asks for a platform, a project, and what is unread", () => {
    const one = { ...row("a", 1, { project: 3 }), is_unread: true };
    expect(matchesFilter({ ...NO_FILTER, platform: "slack" }, one)).toBe(false);
    expect(matchesFilter({ ...NO_FILTER, platform: "telegram", project: 3, isUnread: true }, one)).toBe(true);
    expect(matchesFilter({ ...NO_FILTER, isUnread: true }, { ...one, is_unread: false })).toBe(false);
  });
});

describe("an address that leads to a part of the list", () => {
  const part = (query: string): unknown => parseFilter(new URLSearchParams(query));

  it("names a project or a person", () => {
    expect(part("project=7")).toEqual({ project: 7, person: null, shelf: "sidebar" });
    expect(part("person=3")).toEqual({ project: null, person: 3, shelf: "sidebar" });
    expect(part("project=1&shelf=scheduled")).toEqual({ project: 1, person: null, shelf: "scheduled" });
  });

  it("is none otherwise", () => {
    expect(["", "new", "project=x", "shelf=all"].map(part)).toEqual([null, null, null, null]);
  });
});
