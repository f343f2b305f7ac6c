// The live feed: the types of its messages, the connection, and how events change the known state of a session.

import type { DeltaKind, EventKind } from "./schema.ts";

/** Something became true. It carries ids and states, never text. */
export interface FeedEvent {
  kind: EventKind;
  /** Null: it is about something that belongs to no session. */
  session_id: string | null;
  /** Grows by one with each event of a session. */
  revision: number;
  /** The id of a turn, delivery or job, or the number of a line, by the kind. */
  subject: number | null;
  at: string;
}

/** What a running turn says, for the sessions that are followed word by word. */
export interface Delta {
  session_id: string;
  turn_id: number;
  kind: DeltaKind;
  /** How many characters (code points) of this line came before. */
  offset: number;
  text: string;
}

/** What a snapshot tells of one session. */
export interface Snapshot {
  revision: number;
  last_seq: number;
  /** `session`, `turn 7`, `delivery 3` → its state. */
  states: Readonly<Record<string, string>>;
}

/** What a screen knows of one session: the newest state of each thing in it. */
export interface SessionState {
  /** The revision of the snapshot that it began with. */
  since: number;
  revision: number;
  last_seq: number;
  /** For each thing its state, and the revision that told of it. */
  states: Readonly<Record<string, readonly [state: string, revision: number]>>;
}

/** What a screen does with what it is told. */
export interface FeedHandlers {
  /** The place up to which everything was heard, to go on from there some other time. */
  onCursor?: (cursor: string) => void;
  /** The stream begins or goes on. */
  onOpen?: (data: unknown) => void;
  onEvent?: (event: FeedEvent) => void;
  onDelta?: (delta: Delta) => void;
  /** Something is missing: load everything anew. */
  onReload?: () => void;
  /** The server ends the stream: `shutdown`, `logged out`, `out of sight` or `broken`. */
  onEnd?: (why: string) => void;
  /** The connection is away. It is tried again by itself, unless the server refused to answer. */
  onDisconnect?: (isRefused: boolean) => void;
}

/** Follow a feed until the answer is called; a browser comes back by itself, without a gap. */
export function openFeed(address: string, listener: FeedHandlers): () => void {
  const source = new EventSource(address);
  const listen = <Data>(name: string, handle: ((data: Data) => void) | undefined): void => {
    source.addEventListener(name, (message: MessageEvent<string>) => {
      handle?.(JSON.parse(message.data) as Data);
      if (message.lastEventId) listener.onCursor?.(message.lastEventId);
    });
  };
  listen("hello", listener.onOpen);
  listen("snapshot", listener.onOpen);
  listen("event", listener.onEvent);
  listen("delta", listener.onDelta);
  listen("reload", () => listener.onReload?.());
  listen<{ why: string }>("bye", ({ why }) => listener.onEnd?.(why));
  source.addEventListener("error", () =>
    listener.onDisconnect?.(source.readyState === EventSource.CLOSED),
  );
  return () => source.close();
}

const NOTHING: Snapshot = { revision: 0, last_seq: 0, states: {} };
const WITHOUT_STATE: readonly EventKind[] = [
  "message.added",
  "message.changed",
  "session.changed",
  "share.changed",
  "transcript.changed",
];

/** Begin with what a snapshot tells, or with a session that is new. */
export function createState({ revision, last_seq, states }: Snapshot = NOTHING): SessionState {
  const known = Object.entries(states).map(([thing, state]) => [thing, [state, revision]] as const);
  return { since: revision, revision, last_seq, states: Object.fromEntries(known) };
}

/** Apply an event to what a screen knows of its session; old and repeated news change nothing. */
export function applyEvent(state: SessionState, event: FeedEvent): SessionState {
  const isLine = event.kind === "message.added";
  return {
    since: state.since,
    revision: Math.max(state.revision, event.revision),
    last_seq: isLine ? Math.max(state.last_seq, event.subject ?? 0) : state.last_seq,
    states: WITHOUT_STATE.includes(event.kind) ? state.states : updateStates(state, event),
  };
}

/** Show what a new snapshot would tell. */
export function toSnapshot({ revision, last_seq, states }: SessionState): Snapshot {
  const here = Object.entries(states).filter(([, [state]]) => state !== "moved");
  const told = here.map(([thing, [state]]) => [thing, state] as const);
  return { revision, last_seq, states: Object.fromEntries(told) };
}

function updateStates({ since, states }: SessionState, event: FeedEvent): SessionState["states"] {
  const [noun = "", state = ""] = event.kind.split(".");
  const thing = event.subject === null ? noun : `${noun} ${event.subject}`;
  const known = states[thing]?.[1] ?? since;
  return known < event.revision ? { ...states, [thing]: [state, event.revision] } : states;
}
