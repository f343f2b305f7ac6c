// The conversation that is open: what is loaded of its transcript, and what goes on in it.
//
// It is a fold over the feed: it is read once, and from then on only what events name is read again.

import { Problem } from "../api/client.ts";
import type { Delta, FeedEvent } from "../api/feed.ts";
import type { DeliveryShape, QueuedView, SessionRowView, Speech as Whom, TurnView } from "../api/schema.ts";
import { Errands } from "../state/errands.ts";
import { hub } from "../state/hub.svelte.ts";
import { notices } from "../state/notices.svelte.ts";
import { begin, say, speechOn } from "./carrying.ts";
import { clearDesk, shelfOf } from "./composer/desk.ts";
import { Writing } from "./composer/writing.svelte.ts";
import { isRefused, outboxAt, type Outbox, type Pending, type Said } from "./outbox.svelte.ts";
import { Overview } from "./overview.svelte.ts";
import { Passage } from "./passage.svelte.ts";
import { fail, Reader } from "./reader.svelte.ts";
import { Reading, type Kin } from "./reading.ts";
import { resultsOf } from "./rows.ts";
import { heard, settled, silent, type Speaking, type Speech } from "./speech.ts";
import type { TalkState } from "./state.ts";

export type { Pending, Said, Speaking, TalkState };

/** Other sessions begin all the time; whether one of them began from here is asked at most so often. */
const KIN_MS = 1000;
/** Only who has missed so many lines is told what happened in them. */
const MANY = 20;

/** The one that is heard word by word: the next one is open before the last one is closed. */
let listening: Talk | null = null;

export class Talk extends Reader implements TalkState {
  row = $state.raw<SessionRowView | null>(null);
  turns = $state.raw<ReadonlyMap<number, TurnView>>(new Map());
  kin = $state.raw<Kin | null>(null);
  queue = $state.raw<readonly QueuedView[]>([]);
  /** What never arrived where it should. */
  lost = $state.raw<readonly DeliveryShape[]>([]);
  isLoading = $state(false);
  isForgotten = $state(false);
  error = $state.raw<unknown>(null);
  /** The line up to which all had been read when somebody came; null: not much has happened since. */
  readBefore = $state<number | null>(null);
  #reading = $state.raw<Reading | null>(null);
  #speech = $state.raw<Speech | null>(null);
  /** The last line that the reader saw at the end. */
  #seen = $state(0);

  readonly id = $derived(this.#reading?.id ?? null);
  readonly lineage = $derived(this.kin?.lineage ?? null);
  readonly held = $derived([...this.turns.values()].find(isUnderWay) ?? null);
  readonly results = $derived(resultsOf(this.lines));
  /** For whom words usually are; null: that is not known before the conversation is. */
  readonly whom = $derived<Whom | null>(
    this.id === null ? "ask" : this.row && speechOn(this.row.session.platform, this.held?.state === "waiting"),
  );
  readonly newBelow = $derived(this.#seen > 0 ? Math.max(0, this.lastSeq - this.#seen) : 0);

  readonly overview = new Overview((name, errand) => this.#want(name, errand));
  readonly writing: Writing;
  readonly #errands = new Errands(fail);
  readonly #outbox: Outbox;
  readonly #profile = hub.profile;
  readonly #onBegun: (id: string) => void;
  /** What is heard before everything is read; it counts once that is done. */
  #early: FeedEvent[] | null = null;
  #hush: (() => void) | null = null;
  #isClosed = false;
  /** The turn of which nothing more will be said. */
  #over: number | null = null;
  #marked = 0;
  /** Nobody has looked at this window since. */
  #isAway = false;
  #kinTimer: ReturnType<typeof setTimeout> | null = null;

  /** `onBegun` gets the id of the conversation that took the words, if they began it or it succeeds a suspended one. */
  constructor(id: string | null, onBegun: (id: string) => void = () => undefined) {
    super();
    this.#onBegun = onBegun;
    this.writing = new Writing(id);
    this.#outbox = outboxAt(shelfOf(id), (said, key) => this.#carry(said, key));
    if (id !== null) this.#become(id);
  }

  get pending(): readonly Pending[] {
    return this.#outbox.pending;
  }

  get speaking(): Speaking | null {
    return this.#speech;
  }

  /** Read everything, at the end or around a line, and follow it from then on. */
  async open(seq = this.wanted): Promise<void> {
    const [reading, passage] = [this.#reading, this.passage];
    if (!reading || !passage) return;
    this.wanted = seq;
    this.isLoading = true;
    this.error = null;
    this.#early = [];
    this.#hush ??= hub.hear({
      onEvent: (event) => this.#hear(event),
      onDelta: (delta) => this.#listen(delta),
      onReload: () => void this.#want("all", () => this.#reload()),
      onBack: () => void this.comeBack(),
    });
    listening = this;
    hub.listenTo([reading.id]);
    try {
      await Promise.all([this.#readHead(), passage.open(seq), this.#readQueue()]);
      this.#readRest();
    } catch (error) {
      this.error = error;
    }
    this.isLoading = false;
    const early = this.#early;
    this.#early = null;
    for (const event of early) this.#hear(event);
  }

  /** Nobody looks at it any more; what is under way still arrives. */
  close(): void {
    this.#isClosed = true;
    this.#hush?.();
    this.#hush = null;
    this.#errands.close();
    this.#outbox.leave();
    this.writing.close();
    clearTimeout(this.#kinTimer ?? undefined);
    if (listening === this) hub.listenTo([]);
  }

  /** Say something; it is shown at once, and kept if it cannot be sent. */
  async send(said: Said): Promise<void> {
    void this.follow();
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
    if (said) this.writing.takeBack(said);
  }

  /** The server is back: read and send what could not be read and sent without it. */
  async comeBack(): Promise<void> {
    this.#errands.again();
    void this.writing.flush();
    if (this.error !== null && !isRefused(this.error)) await this.open();
    await this.#outbox.resendLost();
  }

  async stop(): Promise<void> {
    await this.#attempt((path) => hub.client.call("stop_session", { path }));
  }

  /** Let the model read again what was compacted. */
  async restore(): Promise<void> {
    await this.#attempt((path) => hub.client.call("undo_compaction", { path }));
  }

  /** Remember what is before the reader's eyes; at the end everything is read. */
  look(seq: number, isAtEnd: boolean): void {
    // Before anything is there to be seen, nothing was.
    if (!this.passage?.aim) return;
    this.#noteNews();
    this.passage.look(isAtEnd ? Number.POSITIVE_INFINITY : seq);
    if (!isAtEnd) {
      this.#seen ||= this.lastSeq;
      return;
    }
    this.#seen = this.lastSeq;
    if (document.visibilityState !== "visible" || this.lastSeq <= this.#marked) return;
    this.#marked = this.lastSeq;
    const body = { seq: this.#marked };
    void this.#want("mark", async ({ id }) => void (await hub.client.call("mark_read", { path: { id }, body })));
  }

  /** Whoever comes back to the window may have missed much: from where on, before that counts as read. */
  #noteNews(): void {
    const isLooking = document.visibilityState === "visible";
    const isMuch = this.#marked > 0 && this.lastSeq - this.#marked >= MANY;
    if (isLooking && this.#isAway && isMuch) this.readBefore = this.#marked;
    this.#isAway = !isLooking;
  }

  #become(id: string): void {
    this.#reading = new Reading(hub.client, id, this.#profile);
    this.passage = new Passage(this.#reading);
  }

  /** Ask the server soon, and never for the same thing twice at once. */
  #want(name: string, errand: (reading: Reading) => Promise<void>): Promise<void> {
    const reading = this.#reading;
    return reading ? this.#errands.want(name, () => errand(reading)) : Promise.resolve();
  }

  async #attempt(act: (path: { id: string }) => Promise<unknown>): Promise<void> {
    const { id } = this;
    if (id !== null) await notices.attempt(() => act({ id }));
  }

  #hear(event: FeedEvent): void {
    if (this.#early) this.#early.push(event);
    else if (event.session_id === this.id) this.#follow(event);
    else if (event.kind === "session.opened") this.#readKinSoon();
  }

  #follow({ kind, subject }: FeedEvent): void {
    const [noun, state] = kind.split(".");
    if (kind === "message.added") this.#lengthen(subject ?? 0);
    else if (kind === "transcript.changed") void this.readAnew();
    else if (kind === "session.forgotten") this.#drop();
    else if (noun === "session") this.#change(state);
    else if (noun === "delivery" && state !== "sending") void this.#readLost();
    else if (subject === null) void this.#readQueue();
    else if (kind === "message.changed") void this.#readLine(subject);
    else if (noun === "turn") {
      void this.#want(`turn ${subject}`, (reading) => this.#readTurn(reading, subject, state === "moved"));
      void this.#readQueue();
    }
  }

  #lengthen(seq: number): void {
    const passage = this.passage;
    if (!passage) return;
    passage.lastSeq = Math.max(passage.lastSeq, seq);
    if (!passage.hasLater) void this.#readNew();
    this.overview.lengthen(this.lastSeq);
  }

  #change(state: string | undefined): void {
    void this.#want("row", async (reading) => void (this.row = (await reading.row()) ?? this.row));
    if (state !== "changed") this.#readKinSoon();
  }

  #listen(delta: Delta): void {
    if (delta.session_id !== this.id) return;
    if (delta.turn_id === this.#over) this.#over = null;
    this.#speech = heard(this.#speech, delta);
  }

  /** Something was missed: read all that is shown anew, and keep it until then. */
  async #reload(): Promise<void> {
    try {
      await this.#readHead();
      await this.#readPassage();
    } catch (error) {
      if (!isRefused(error) || error.status !== 404) throw error;
      return this.#drop(error);
    }
    this.#readRest();
  }

  /** It is gone, or not for whoever looks at it: nothing of it stays here. */
  #drop(error: unknown = null): void {
    const { id } = this;
    if (id === null) return;
    clearDesk(id);
    this.#become(id);
    [this.isForgotten, this.error] = [error === null, error];
    [this.row, this.turns, this.kin, this.queue, this.lost] = [null, new Map(), null, [], []];
    this.#speech = null;
  }

  async #readHead(): Promise<void> {
    const [reading, passage] = [this.#reading, this.passage];
    if (!reading || !passage) return;
    const [row, turns] = await Promise.all([reading.row(), reading.turns()]);
    if (!row) throw new Problem(404, "NotFound", "");
    const { last_seq } = row.session;
    // Before anything is shown: from then on it is read.
    if (row.is_unread && last_seq >= MANY) this.readBefore ??= await reading.mark().catch(() => null);
    [this.row, this.turns] = [row, turns];
    passage.lastSeq = Math.max(passage.lastSeq, last_seq);
    this.#marked = row.is_unread ? 0 : last_seq;
  }

  /** Read what the transcript can be shown without. */
  #readRest(): void {
    this.#readKin();
    void this.#readLost();
    this.overview.read(this.lastSeq);
    if (this.held) void this.#want("streaming", () => this.#readStreaming());
  }

  #readNew(): Promise<void> {
    return this.#want("lines", async () => {
      const fresh = (await this.passage?.readNew()) ?? [];
      const speech = settled(this.#speech, fresh);
      // What it said is a line by now, or was taken back.
      this.#speech = speech?.turn === this.#over ? null : speech;
    });
  }

  #readLine(seq: number): Promise<void> {
    return this.#want(`line ${seq}`, async () => this.passage?.readLine(seq));
  }

  protected override readAnew(): Promise<void> {
    return this.#want("passage", () => this.#readPassage());
  }

  async #readPassage(): Promise<void> {
    await this.passage?.readAnew();
    this.overview.read(this.lastSeq);
  }

  #readQueue(): Promise<void> {
    return this.#want("queue", async (reading) => void (this.queue = await reading.queue()));
  }

  #readLost(): Promise<void> {
    return this.#want("lost", async (reading) => void (this.lost = await reading.lost()));
  }

  #readKin(): void {
    this.#kinTimer = null;
    void this.#want("kin", async (reading) => void (this.kin = await reading.kin()));
  }

  #readKinSoon(): void {
    this.#kinTimer ??= setTimeout(() => this.#readKin(), KIN_MS);
  }

  async #readTurn(reading: Reading, id: number, isMoved: boolean): Promise<void> {
    const turn = isMoved ? null : await reading.turn(id);
    const turns = new Map(this.turns);
    if (turn) turns.set(id, turn);
    else turns.delete(id);
    this.turns = turns;
    if (this.#speech?.turn !== id || this.held?.id === id) return;
    this.#over = id;
    await this.#readNew();
  }

  /** Another process may run the turn: then nothing of it is heard, but what it said is kept every second. */
  async #readStreaming(): Promise<void> {
    const { id } = this;
    if (id === null) return;
    const { data } = await hub.client.call("read_streaming", { path: { id } });
    if (data.turn_id !== null && data.text && !this.#speech) this.#speech = silent(data.turn_id, data.text);
  }

  /** Carry words to the server, and come back once they are among the lines or in the queue. */
  async #carry(said: Said, key: string): Promise<void> {
    if (this.id === null) {
      const { home } = this.#outbox;
      // They may have waited behind words that made the conversation while somebody else was here.
      if (home === null) return await this.#begin(said, key);
      await this.#arrive(home);
    }
    if (this.id !== null) {
      const to = await say(this.id, said, key, said.speech ?? (await this.#usually()));
      if (to !== this.id && !this.#isClosed) this.#onBegun(to);
    }
    await Promise.all([this.#readNew(), this.#readQueue()]);
  }

  async #begin(said: Said, key: string): Promise<void> {
    const id = await begin(said, key, this.#profile);
    if (id === null) return;
    this.#outbox.arrive(key, id);
    await this.#arrive(id);
  }

  /** Ask for whom words are before they are said: on a platform others would read the answer. */
  async #usually(): Promise<Whom> {
    if (this.whom === null) await this.#readHead();
    return this.whom ?? "ask";
  }

  /** The first words have made a conversation: it is read, and whoever shows it next goes on with it. */
  async #arrive(id: string): Promise<void> {
    this.#become(id);
    this.#outbox.move(shelfOf(id, this.#profile));
    // Whoever went elsewhere meanwhile is not brought back.
    if (this.#isClosed) return;
    this.writing.move(id);
    await this.open();
    if (!this.#isClosed) this.#onBegun(id);
  }
}

function isUnderWay({ state }: TurnView): boolean {
  return state === "running" || state === "waiting";
}
