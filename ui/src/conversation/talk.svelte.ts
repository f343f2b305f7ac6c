// The conversation that is open: what is loaded of its transcript, and what goes on in it.
//
// It is a fold over the feed: it is read once, and from then on only what events name is read again.

import { Problem } from "../api/client.ts";
import type { Delta, FeedEvent } from "../api/feed.ts";
import type { CutView, DeliveryShape, MessageView, SessionRowView, TurnView } from "../api/schema.ts";
import { hub } from "../state/hub.svelte.ts";
import { notices } from "../state/notices.svelte.ts";
import { addressOf, place } from "../state/place.svelte.ts";
import { Errands } from "./errands.ts";
import { handOn } from "./handing.ts";
import { isRefused, Outbox, type Pending, type Said } from "./outbox.svelte.ts";
import { Overview } from "./overview.svelte.ts";
import { Passage, type Aim } from "./passage.svelte.ts";
import { Reading, type Kin } from "./reading.ts";
import { resultsOf } from "./rows.ts";
import { heard, settled, silent, type Speaking, type Speech } from "./speech.ts";
import type { TalkState } from "./state.ts";

export type { Pending, Said, Speaking, TalkState };

/** Other sessions begin all the time; whether one of them began from here is asked at most so often. */
const KIN_MS = 1000;

/** The one that is heard word by word: the next one is open before the last one is closed. */
let listening: Talk | null = null;

export class Talk implements TalkState {
  row = $state.raw<SessionRowView | null>(null);
  turns = $state.raw<ReadonlyMap<number, TurnView>>(new Map());
  kin = $state.raw<Kin | null>(null);
  queue = $state.raw<readonly MessageView[]>([]);
  /** What never arrived where it should. */
  lost = $state.raw<readonly DeliveryShape[]>([]);
  isLoading = $state(false);
  isForgotten = $state(false);
  error = $state.raw<unknown>(null);
  #reading = $state.raw<Reading | null>(null);
  #passage = $state.raw<Passage | null>(null);
  #speech = $state.raw<Speech | null>(null);
  /** The last line that the reader saw at the end. */
  #seen = $state(0);

  readonly id = $derived(this.#reading?.id ?? null);
  readonly etag = $derived(this.row ? `"${this.row.session.revision}"` : null);
  readonly lineage = $derived(this.kin?.lineage ?? null);
  readonly held = $derived([...this.turns.values()].find(isUnderWay) ?? null);
  readonly lines = $derived(this.#passage?.lines ?? []);
  readonly results = $derived(resultsOf(this.lines));
  readonly newBelow = $derived(this.#seen > 0 ? Math.max(0, this.lastSeq - this.#seen) : 0);

  readonly overview = new Overview((name, errand) => this.#want(name, errand));
  readonly #errands = new Errands(fail);
  readonly #outbox = new Outbox((said, key) => this.#carry(said, key));
  /** What is heard before everything is read; it counts once that is done. */
  #early: FeedEvent[] | null = null;
  #hush: (() => void) | null = null;
  #marked = 0;
  #kinTimer: ReturnType<typeof setTimeout> | null = null;

  constructor(id: string | null) {
    if (id !== null) this.#become(id);
  }

  get hasEarlier(): boolean {
    return this.#passage?.hasEarlier ?? false;
  }

  get hasLater(): boolean {
    return this.#passage?.hasLater ?? false;
  }

  get lastSeq(): number {
    return this.#passage?.lastSeq ?? 0;
  }

  get cuts(): readonly CutView[] {
    return this.#passage?.cuts ?? [];
  }

  get aim(): Aim | null {
    return this.#passage?.aim ?? null;
  }

  /** The stretch that a summary stands for. */
  get compaction(): CutView | null {
    return this.#passage?.compaction ?? null;
  }

  get isCutOpen(): boolean {
    return this.#passage?.isCutOpen ?? false;
  }

  get pending(): readonly Pending[] {
    return this.#outbox.pending;
  }

  get speaking(): Speaking | null {
    return this.#speech;
  }

  get isHiddenShown(): boolean {
    return this.#passage?.isHiddenShown ?? false;
  }

  /** Show what was undone or retried, or hide it again. */
  set isHiddenShown(isShown: boolean) {
    if (!this.#passage) return;
    this.#passage.isHiddenShown = isShown;
    void this.#want("passage", () => this.#readAnew());
  }

  /** Read everything, at the end or around a line, and follow it from then on. */
  async open(seq: number | null = null): Promise<void> {
    const [reading, passage] = [this.#reading, this.#passage];
    if (!reading || !passage) return;
    this.isLoading = true;
    this.error = null;
    this.#early = [];
    this.#hush ??= hub.hear({
      onEvent: (event) => this.#hear(event),
      onDelta: (delta) => this.#listen(delta),
      onReload: () => void this.#want("all", () => this.#reload()),
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

  close(): void {
    this.#hush?.();
    this.#hush = null;
    this.#errands.close();
    clearTimeout(this.#kinTimer ?? undefined);
    if (listening === this) hub.listenTo([]);
  }

  earlier = (): Promise<void> => this.#try((passage) => passage.earlier());
  later = (): Promise<void> => this.#try((passage) => passage.later());
  begin = (): Promise<void> => this.#try((passage) => passage.begin());
  end = (): Promise<void> => this.#try((passage) => passage.end());
  jump = (seq: number): Promise<void> => this.#try((passage) => passage.jump(seq));
  /** Unfold what was compacted, or fold it again. */
  unfold = (isOpen: boolean): Promise<void> => this.#try((passage) => passage.unfold(isOpen));

  /** Say something; it is shown at once, and kept if it cannot be sent. */
  async send(said: Said): Promise<void> {
    void this.end();
    const known = [...this.lines, ...this.queue].map(({ key }) => key);
    await this.#outbox.send(said, Math.max(0, ...known));
  }

  async resend(key: string): Promise<void> {
    await this.#outbox.resend(key);
  }

  /** Throw away what could not be sent; answers its text. */
  discard(key: string): string {
    return this.#outbox.discard(key);
  }

  /** The server is back: read and send what could not be read and sent without it. */
  async comeBack(): Promise<void> {
    this.#errands.again();
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
    this.#passage?.look(isAtEnd ? Number.POSITIVE_INFINITY : seq);
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

  #become(id: string): void {
    this.#reading = new Reading(hub.client, id, hub.profile);
    this.#passage = new Passage(this.#reading);
  }

  /** Ask the server soon, and never for the same thing twice at once. */
  #want(name: string, errand: (reading: Reading) => Promise<void>): Promise<void> {
    const reading = this.#reading;
    return reading ? this.#errands.want(name, () => errand(reading)) : Promise.resolve();
  }

  async #try(move: (passage: Passage) => Promise<void>): Promise<void> {
    const passage = this.#passage;
    if (passage) await move(passage).catch(fail);
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
    else if (kind === "transcript.changed") void this.#want("passage", () => this.#readAnew());
    else if (kind === "session.forgotten") this.isForgotten = true;
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
    const passage = this.#passage;
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
    if (delta.session_id === this.id) this.#speech = heard(this.#speech, delta);
  }

  /** Something was missed: read all that is shown anew, and keep it until then. */
  async #reload(): Promise<void> {
    await this.#readHead();
    await this.#readAnew();
    this.#readRest();
  }

  async #readHead(): Promise<void> {
    const [row, turns] = await Promise.all([this.#reading?.row(), this.#reading?.turns()]);
    if (!row || !turns || !this.#passage) throw new Problem(404, "NotFound", "");
    this.row = row;
    this.turns = turns;
    this.#passage.lastSeq = Math.max(this.#passage.lastSeq, row.session.last_seq);
    this.#marked = row.is_unread ? 0 : row.session.last_seq;
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
      const fresh = (await this.#passage?.readNew()) ?? [];
      this.#speech = settled(this.#speech, fresh);
    });
  }

  #readLine(seq: number): Promise<void> {
    return this.#want(`line ${seq}`, async () => this.#passage?.readLine(seq));
  }

  async #readAnew(): Promise<void> {
    await this.#passage?.readAnew();
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
    // What it said is a line by now, or was taken back.
    await this.#readNew();
    if (this.#speech?.turn === id) this.#speech = null;
  }

  /** Another process may run the turn: then nothing of it is heard, but what it said is kept every second. */
  async #readStreaming(): Promise<void> {
    const { id } = this;
    if (id === null) return;
    const { data } = await hub.client.call("read_streaming", { path: { id } });
    if (data.turn_id !== null && data.text && !this.#speech) this.#speech = silent(data.turn_id, data.text);
  }

  /** Carry words to the server, and come back once they are among the lines or in the queue. */
  async #carry({ text, tickets, speech, busy, first }: Said, key: string): Promise<void> {
    const header = { "Idempotency-Key": key };
    const words = { text, attachments: [...tickets] };
    if (this.id === null) {
      const body = { ...words, ...first, profile: hub.profile };
      const { data } = await hub.client.call("begin_session", { header, body });
      if (data.session_id) await this.#arrive(data.session_id);
      return;
    }
    const body = { ...words, speech, busy_mode: busy ?? null };
    await hub.client.call("send_message", { path: { id: this.id }, header, body });
    await Promise.all([this.#readNew(), this.#readQueue()]);
  }

  /** The first words have made a conversation: it is read, and whoever shows it next goes on with it. */
  async #arrive(id: string): Promise<void> {
    this.#become(id);
    await this.open();
    // Whoever went elsewhere meanwhile is not brought back.
    if (place.view.name !== "new") return this.close();
    handOn(id, this);
    place.go(addressOf(id), { isReplaced: true });
  }
}

/** What cannot be reached is read once the connection is back; what is gone needs no notice. */
function fail(error: unknown): boolean {
  if (!isRefused(error)) return true;
  if (error.status !== 404) notices.fail(error);
  return false;
}

function isUnderWay({ state }: TurnView): boolean {
  return state === "running" || state === "waiting";
}
