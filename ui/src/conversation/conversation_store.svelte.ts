// The state of the open conversation: what is loaded of its transcript, its turns and its queue.

import { Problem } from "../api/client.ts";
import type { Delta, FeedEvent } from "../api/feed.ts";
import type {
  HiddenRangeView,
  DeliveryView,
  LineageView,
  MessageView,
  QueuedView,
  SessionRowView,
  Speech,
  TurnView,
} from "../api/schema.ts";
import { app } from "../state/app.svelte.ts";
import { isRejected } from "../state/errors.ts";
import { notices } from "../state/notices.svelte.ts";
import { RequestQueue } from "../state/request_queue.ts";
import { ComposerState } from "./composer/composer_state.svelte.ts";
import { clearLocalDrafts, openOutboxStorage } from "./composer/local_drafts.ts";
import { ConversationApi, createSession, getDefaultSpeech, type Relatives, sendMessage } from "./conversation_api.ts";
import { openOutbox, type Outbox, type OutgoingMessage, type Pending } from "./outbox.svelte.ts";
import { Overview } from "./timeline/overview.svelte.ts";
import { MessagePager } from "./transcript/message_pager.svelte.ts";
import { handleReadError, TranscriptNavigation } from "./transcript/navigation.svelte.ts";
import { collectToolResults } from "./transcript/rows.ts";
import {
  applyDelta,
  createReply,
  type ReplyText,
  settleReply,
  type StreamedReply,
} from "./transcript/streamed_reply.ts";

export type { Pending, OutgoingMessage, ReplyText };

/** Other sessions begin all the time; whether one of them began from here is asked at most so often. */
const RELATIVES_MS = 1000;
/** Only who has missed so many lines is told what happened in them. */
const MANY_UNREAD = 20;

/** The one that is heard word by word: the next one is open before the last one is closed. */
let streaming: ConversationStore | null = null;

export class ConversationStore extends TranscriptNavigation implements ConversationState {
  row = $state.raw<SessionRowView | null>(null);
  turns = $state.raw<ReadonlyMap<number, TurnView>>(new Map());
  relatives = $state.raw<Relatives | null>(null);
  queue = $state.raw<readonly QueuedView[]>([]);
  /** What never arrived where it should. */
  failedDeliveries = $state.raw<readonly DeliveryView[]>([]);
  isLoading = $state(false);
  isForgotten = $state(false);
  error = $state.raw<unknown>(null);
  /** The line up to which all had been read when somebody came; null: not much has happened since. */
  readBefore = $state<number | null>(null);
  #api = $state.raw<ConversationApi | null>(null);
  #reply = $state.raw<StreamedReply | null>(null);
  /** The last line that the reader saw at the end. */
  #seenSeq = $state(0);

  readonly id = $derived(this.#api?.id ?? null);
  readonly lineage = $derived(this.relatives?.lineage ?? null);
  readonly held = $derived([...this.turns.values()].find(isActive) ?? null);
  readonly results = $derived(collectToolResults(this.lines));
  /** For whom words usually are; null: that is not known before the conversation is. */
  readonly defaultSpeech = $derived<Speech | null>(
    this.id === null ? "ask" : this.row && getDefaultSpeech(this.row.session.platform, this.held?.state === "waiting"),
  );
  readonly newBelow = $derived(this.#seenSeq > 0 ? Math.max(0, this.lastSeq - this.#seenSeq) : 0);

  readonly overview = new Overview((name, request) => this.#enqueue(name, request));
  readonly composer: ComposerState;
  readonly #requests = new RequestQueue(handleReadError);
  readonly #outbox: Outbox;
  readonly #profile = app.profile;
  readonly #onCreated: (id: string) => void;
  /** What is heard before everything is read; it counts once that is done. */
  #earlyEvents: FeedEvent[] | null = null;
  #unsubscribe: (() => void) | null = null;
  #isClosed = false;
  /** The turn of which nothing more will be said. */
  #finishedTurn: number | null = null;
  #markedSeq = 0;
  /** Nobody has looked at this window since. */
  #isHidden = false;
  #relativesTimer: ReturnType<typeof setTimeout> | null = null;

  /** `onCreated` gets the id of the conversation that took the words, if they began it or it succeeds a suspended one. */
  constructor(id: string | null, onCreated: (id: string) => void = () => undefined) {
    super();
    this.#onCreated = onCreated;
    this.composer = new ComposerState(id);
    this.#outbox = openOutbox(openOutboxStorage(id), (said, key) => this.#send(said, key));
    if (id !== null) this.#setSession(id);
  }

  get pending(): readonly Pending[] {
    return this.#outbox.pending;
  }

  get streamedReply(): ReplyText | null {
    return this.#reply;
  }

  /** Read everything, at the end or around a line, and follow it from then on. */
  async open(seq = this.targetSeq): Promise<void> {
    const [api, pager] = [this.#api, this.pager];
    if (!api || !pager) return;
    this.targetSeq = seq;
    this.isLoading = true;
    this.error = null;
    this.#earlyEvents = [];
    this.#unsubscribe ??= app.subscribe({
      onEvent: (event) => this.#handleEvent(event),
      onDelta: (delta) => this.#handleDelta(delta),
      onReload: () => void this.#enqueue("all", () => this.#reloadAll()),
      onReconnect: () => void this.handleReconnect(),
    });
    streaming = this;
    app.streamSessions([api.id]);
    try {
      await Promise.all([this.#loadHead(), pager.open(seq), this.#loadQueue()]);
      this.#loadRest();
    } catch (error) {
      this.error = error;
    }
    this.isLoading = false;
    const events = this.#earlyEvents;
    this.#earlyEvents = null;
    for (const event of events) this.#handleEvent(event);
  }

  /** Nobody looks at it any more; what is under way still arrives. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#requests.close();
    this.#outbox.detach();
    this.composer.close();
    clearTimeout(this.#relativesTimer ?? undefined);
    if (streaming === this) app.streamSessions([]);
  }

  /** Say something; it is shown at once, and kept if it cannot be sent. */
  async send(said: OutgoingMessage): Promise<void> {
    void this.followEnd();
    const known = [...this.lines, ...this.queue].map(({ key }) => key);
    // Before the row is read nobody knows what the last line is.
    await this.#outbox.send(said, Math.max(0, ...known), this.id === null || this.row ? this.lastSeq : null);
  }

  async resend(key: string): Promise<void> {
    await this.#outbox.resend(key);
  }

  /** Do not send what could not be sent: it is where one writes again. */
  discard(key: string): void {
    const said = this.#outbox.discard(key);
    if (said) this.composer.restore(said);
  }

  /** The server is back: read and send what could not be read and sent without it. */
  async handleReconnect(): Promise<void> {
    this.#requests.retryFailed();
    void this.composer.flush();
    if (this.error !== null && !isRejected(this.error)) await this.open();
    await this.#outbox.resendFailed();
  }

  async stop(): Promise<void> {
    await this.#attempt((path) => app.client.call("stop_session", { path }));
  }

  /** Let the model read again what was compacted. */
  async restore(): Promise<void> {
    await this.#attempt((path) => app.client.call("undo_compaction", { path }));
  }

  /** Remember what is before the reader's eyes; at the end everything is read. */
  setVisible(seq: number, isAtEnd: boolean): void {
    // Before anything is there to be seen, nothing was.
    if (!this.pager?.scrollTarget) return;
    this.#noteUnread();
    this.pager.setVisible(isAtEnd ? Number.POSITIVE_INFINITY : seq);
    if (!isAtEnd) {
      this.#seenSeq ||= this.lastSeq;
      return;
    }
    this.#seenSeq = this.lastSeq;
    if (document.visibilityState !== "visible" || this.lastSeq <= this.#markedSeq) return;
    this.#markedSeq = this.lastSeq;
    const body = { seq: this.#markedSeq };
    void this.#enqueue("mark", async ({ id }) => void (await app.client.call("mark_read", { path: { id }, body })));
  }

  /** Whoever comes back to the window may have missed much: from where on, before that counts as read. */
  #noteUnread(): void {
    const isLooking = document.visibilityState === "visible";
    const isMuch = this.#markedSeq > 0 && this.lastSeq - this.#markedSeq >= MANY_UNREAD;
    if (isLooking && this.#isHidden && isMuch) this.readBefore = this.#markedSeq;
    this.#isHidden = !isLooking;
  }

  #setSession(id: string): void {
    this.#api = new ConversationApi(app.client, id, this.#profile);
    this.pager = new MessagePager(this.#api);
  }

  /** Ask the server soon, and never for the same thing twice at once. */
  #enqueue(name: string, request: (api: ConversationApi) => Promise<void>): Promise<void> {
    const api = this.#api;
    return api ? this.#requests.run(name, () => request(api)) : Promise.resolve();
  }

  async #attempt(act: (path: { id: string }) => Promise<unknown>): Promise<void> {
    const { id } = this;
    if (id !== null) await notices.attempt(() => act({ id }));
  }

  #handleEvent(event: FeedEvent): void {
    if (this.#earlyEvents) this.#earlyEvents.push(event);
    else if (event.session_id === this.id) this.#applyEvent(event);
    else if (event.kind === "session.opened") this.#loadRelativesSoon();
  }

  #applyEvent({ kind, subject }: FeedEvent): void {
    const [noun, state] = kind.split(".");
    if (kind === "message.added") this.#extend(subject ?? 0);
    else if (kind === "transcript.changed") void this.reload();
    else if (kind === "session.forgotten") this.#clear();
    else if (noun === "session") this.#reloadRow(state);
    else if (noun === "delivery" && state !== "sending") void this.#loadFailedDeliveries();
    else if (subject === null) void this.#loadQueue();
    else if (kind === "message.changed") void this.#reloadMessage(subject);
    else if (noun === "turn") {
      void this.#enqueue(`turn ${subject}`, (api) => this.#loadTurn(api, subject, state === "moved"));
      void this.#loadQueue();
    }
  }

  #extend(seq: number): void {
    const pager = this.pager;
    if (!pager) return;
    pager.lastSeq = Math.max(pager.lastSeq, seq);
    if (!pager.hasLater) void this.#loadNew();
    this.overview.extend(this.lastSeq);
  }

  #reloadRow(state: string | undefined): void {
    void this.#enqueue("row", async (api) => void (this.row = (await api.getRow()) ?? this.row));
    if (state !== "changed") this.#loadRelativesSoon();
  }

  #handleDelta(delta: Delta): void {
    if (delta.session_id !== this.id) return;
    if (delta.turn_id === this.#finishedTurn) this.#finishedTurn = null;
    this.#reply = applyDelta(this.#reply, delta);
  }

  /** Something was missed: read all that is shown anew, and keep it until then. */
  async #reloadAll(): Promise<void> {
    try {
      await this.#loadHead();
      await this.#reloadMessages();
    } catch (error) {
      if (!isRejected(error) || error.status !== 404) throw error;
      return this.#clear(error);
    }
    this.#loadRest();
  }

  /** It is gone, or not for whoever looks at it: nothing of it stays here. */
  #clear(error: unknown = null): void {
    const { id } = this;
    if (id === null) return;
    clearLocalDrafts(id);
    this.#setSession(id);
    [this.isForgotten, this.error] = [error === null, error];
    [this.row, this.turns, this.relatives, this.queue, this.failedDeliveries] = [null, new Map(), null, [], []];
    this.#reply = null;
  }

  async #loadHead(): Promise<void> {
    const [api, pager] = [this.#api, this.pager];
    if (!api || !pager) return;
    const [row, turns] = await Promise.all([api.getRow(), api.listTurns()]);
    if (!row) throw new Problem(404, "NotFound", "");
    const { last_seq } = row.session;
    // Before anything is shown: from then on it is read.
    if (row.is_unread && last_seq >= MANY_UNREAD) this.readBefore ??= await api.getReadMark().catch(() => null);
    [this.row, this.turns] = [row, turns];
    pager.lastSeq = Math.max(pager.lastSeq, last_seq);
    this.#markedSeq = row.is_unread ? 0 : last_seq;
  }

  /** Read what the transcript can be shown without. */
  #loadRest(): void {
    this.#loadRelatives();
    void this.#loadFailedDeliveries();
    this.overview.read(this.lastSeq);
    if (this.held) void this.#enqueue("streaming", () => this.#loadStreaming());
  }

  #loadNew(): Promise<void> {
    return this.#enqueue("lines", async () => {
      const fresh = (await this.pager?.loadNew()) ?? [];
      const reply = settleReply(this.#reply, fresh);
      // What it said is a line by now, or was taken back.
      this.#reply = reply?.turn === this.#finishedTurn ? null : reply;
    });
  }

  #reloadMessage(seq: number): Promise<void> {
    return this.#enqueue(`line ${seq}`, async () => this.pager?.reloadMessage(seq));
  }

  protected override reload(): Promise<void> {
    return this.#enqueue("passage", () => this.#reloadMessages());
  }

  async #reloadMessages(): Promise<void> {
    await this.pager?.reload();
    this.overview.read(this.lastSeq);
  }

  #loadQueue(): Promise<void> {
    return this.#enqueue("queue", async (api) => void (this.queue = await api.listQueue()));
  }

  #loadFailedDeliveries(): Promise<void> {
    return this.#enqueue("lost", async (api) => void (this.failedDeliveries = await api.listFailedDeliveries()));
  }

  #loadRelatives(): void {
    this.#relativesTimer = null;
    void this.#enqueue("kin", async (api) => void (this.relatives = await api.getRelatives()));
  }

  #loadRelativesSoon(): void {
    this.#relativesTimer ??= setTimeout(() => this.#loadRelatives(), RELATIVES_MS);
  }

  async #loadTurn(api: ConversationApi, id: number, isMoved: boolean): Promise<void> {
    const turn = isMoved ? null : await api.getTurn(id);
    const turns = new Map(this.turns);
    if (turn) turns.set(id, turn);
    else turns.delete(id);
    this.turns = turns;
    if (this.#reply?.turn !== id || this.held?.id === id) return;
    this.#finishedTurn = id;
    await this.#loadNew();
  }

  /** Another process may run the turn: then nothing of it is heard, but what it said is kept every second. */
  async #loadStreaming(): Promise<void> {
    const { id } = this;
    if (id === null) return;
    const { data } = await app.client.call("read_streaming", { path: { id } });
    if (data.turn_id !== null && data.text && !this.#reply) this.#reply = createReply(data.turn_id, data.text);
  }

  /** Carry words to the server, and come back once they are among the lines or in the queue. */
  async #send(said: OutgoingMessage, key: string): Promise<void> {
    if (this.id === null) {
      const { sessionId } = this.#outbox;
      // They may have waited behind words that made the conversation while somebody else was here.
      if (sessionId === null) return await this.#createSession(said, key);
      await this.#openCreated(sessionId);
    }
    if (this.id !== null) {
      const to = await sendMessage(this.id, said, key, said.speech ?? (await this.#getSpeech()));
      if (to !== this.id && !this.#isClosed) this.#onCreated(to);
    }
    await Promise.all([this.#loadNew(), this.#loadQueue()]);
  }

  async #createSession(said: OutgoingMessage, key: string): Promise<void> {
    const id = await createSession(said, key, this.#profile);
    if (id === null) return;
    this.#outbox.setSession(key, id);
    await this.#openCreated(id);
  }

  /** Ask for whom words are before they are said: on a platform others would read the answer. */
  async #getSpeech(): Promise<Speech> {
    if (this.defaultSpeech === null) await this.#loadHead();
    return this.defaultSpeech ?? "ask";
  }

  /** The first words have made a conversation: it is read, and whoever shows it next goes on with it. */
  async #openCreated(id: string): Promise<void> {
    this.#setSession(id);
    this.#outbox.move(openOutboxStorage(id, this.#profile));
    // Whoever went elsewhere meanwhile is not brought back.
    if (this.#isClosed) return;
    this.composer.move(id);
    await this.open();
    if (!this.#isClosed) this.#onCreated(id);
  }
}

function isActive({ state }: TurnView): boolean {
  return state === "running" || state === "waiting";
}

export interface ConversationState {
  /** Null: a conversation that begins with its first words. */
  readonly id: string | null;
  readonly row: SessionRowView | null;
  /** The loaded lines in order; what was undone or retried only if `isHiddenShown`. */
  readonly lines: readonly MessageView[];
  readonly hasEarlier: boolean;
  readonly hasLater: boolean;
  readonly lastSeq: number;
  readonly cuts: readonly HiddenRangeView[];
  readonly turns: ReadonlyMap<number, TurnView>;
  readonly lineage: LineageView | null;
  readonly queue: readonly QueuedView[];
  readonly pending: readonly Pending[];
  readonly streamedReply: ReplyText | null;
  /** The turn under way: it runs, or waits for an answer (`state`). */
  readonly held: TurnView | null;
  readonly isLoading: boolean;
  readonly error: unknown;
}
