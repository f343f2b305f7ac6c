// A session row for tests.

import type { SessionRowView, SessionView } from "../api/schema.ts";

/** Make a row whose last activity was in some minute of an hour. */
export function createRow(id: string, minute: number, change: Partial<SessionView> = {}): SessionRowView {
  return {
    session: { ...session(id, minute), ...change },
    label: "",
    people: [],
    people_count: 0,
    last_words: null,
    last_speaker: null,
    held: null,
    queued: 0,
    project_name: null,
    is_unread: false,
    has_draft: false,
    has_failed_delivery: false,
    needs_you: false,
    is_read_only: false,
  };
}

function session(id: string, minute: number): SessionView {
  return {
    id,
    revision: 1,
    profile: "main",
    platform: "telegram",
    kind: "dm",
    origin: "person",
    title: id,
    titled_by: null,
    parent_id: null,
    root_id: null,
    base_id: null,
    base_seq: null,
    cause: "first",
    opened_at: "2026-01-31T10:00:00.000000Z",
    last_activity_at: `2026-01-31T10:${String(minute).padStart(2, "0")}:00.000000Z`,
    ended_at: null,
    end_reason: null,
    suspended_at: null,
    last_seq: 2,
    user_messages: 1,
    project: null,
    pinned_at: null,
    archived_at: null,
    model: null,
    personality: null,
    tools: null,
    workspace: null,
    worktree: null,
    taken_at: null,
    taken_by: null,
  };
}
