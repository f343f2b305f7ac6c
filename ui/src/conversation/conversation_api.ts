// The requests of one conversation.

import { type Client, Problem } from "../api/client.ts";
import type {
  ChildView,
  HiddenRangeView,
  DeliveryView,
  DeliveryState,
  LineageView,
  MessagePageView,
  MessageView,
  QueuedView,
  SessionRowView,
  SessionView,
  Speech,
  TurnView,
} from "../api/schema.ts";
import { app } from "../state/app.svelte.ts";
import type { OutgoingMessage } from "./outbox.svelte.ts";
import { getSeq } from "./transcript/messages.ts";

/** The greatest page that the server answers. */
export const MAX_PAGE = 200;
/** So many lines are read at a stretch; more than that nobody looks at. */
const FAR = 1000;
const TURNS = 60;

/** How it stands with what never arrived. */
export const FAILED_STATES: readonly DeliveryState[] = ["failed", "abandoned"];

/** A branch that leaves the line. */
export interface Fork {
  /** The last line that it shares; 0: it shares nothing, its first words are said differently. */
  seq: number;
  id: string;
  title: string | null;
}

/** Where a conversation comes from, and what leaves it. */
export interface Relatives {
  lineage: LineageView;
  parent: SessionView | null;
  forks: readonly Fork[];
}

/** Which page of the transcript is meant; without a place it is its end. */
interface Where {
  before?: number;
  after?: number;
  around?: number;
  most: number;
  hidden: boolean;
}

interface Between {
  page: MessagePageView;
  hasLater: boolean;
}

export class ConversationApi {
  constructor(
    readonly client: Client,
    readonly id: string,
    readonly profile: string,
  ) {}

  async getRow(): Promise<SessionRowView | null> {
    const { data } = await this.client.call("list_sessions", { query: { ids: [this.id], profile: this.profile } });
    if (data.items.length === 0) await app.openProfileOf(this.id).catch(ignoreMissing);
    return data.items[0] ?? null;
  }

  /** Tell up to which line whoever is here has read: a mark never goes back. */
  async getReadMark(): Promise<number> {
    return (await this.client.call("mark_read", { path: { id: this.id }, body: { seq: 0 } })).data.seq;
  }

  async getPage(query: Where): Promise<MessagePageView> {
    return (await this.client.call("list_messages", { path: { id: this.id }, query })).data;
  }

  /** Read the lines between two places, page by page, but not without end; null: up to the last one. */
  async getRange(first: number, last: number | null, hidden: boolean): Promise<Between> {
    const items: MessageView[] = [];
    let after = Math.max(0, first - 1);
    for (;;) {
      const { items: some } = await this.getPage({ after, most: MAX_PAGE, hidden });
      items.push(...some);
      after = getSeq(some.at(-1));
      const isFull = some.length === MAX_PAGE;
      if (!isFull || items.length >= FAR || (last !== null && after >= last)) {
        return { page: { items, before: first > 1 ? first : null, after }, hasLater: isFull };
      }
    }
  }

  async getMessage(seq: number): Promise<MessageView> {
    return (await this.client.call("read_message", { path: { id: this.id, seq } })).data;
  }

  async listCuts(): Promise<readonly HiddenRangeView[]> {
    return (await this.client.call("list_cuts", { path: { id: this.id } })).data.items;
  }

  /** Read the newest turns, at least as far back as the one that the others wait for. */
  async listTurns(): Promise<ReadonlyMap<number, TurnView>> {
    const turns: TurnView[] = [];
    let after: string | null = null;
    do {
      const query: { after: string | null; most: number } = { after, most: TURNS };
      const { data } = await this.client.call("list_turns", { path: { id: this.id }, query });
      turns.push(...data.items);
      after = data.next ?? null;
    } while (after !== null && turns.every(({ state }) => state === "queued"));
    return new Map(turns.map((turn) => [turn.id, turn]));
  }

  async getTurn(turn_id: number): Promise<TurnView> {
    return (await this.client.call("read_turn", { path: { turn_id } })).data;
  }

  async listQueue(): Promise<readonly QueuedView[]> {
    return (await this.client.call("list_queue", { path: { id: this.id } })).data.items;
  }

  /** Read what never arrived where it should. */
  async listFailedDeliveries(): Promise<readonly DeliveryView[]> {
    const query = { session: this.id, state: [...FAILED_STATES], most: MAX_PAGE };
    return (await this.client.call("list_deliveries", { query })).data.items;
  }

  async getRelatives(): Promise<Relatives> {
    const { data: lineage } = await this.client.call("read_lineage", { path: { id: this.id } });
    return { lineage, parent: await this.#getParent(lineage.parent_id), forks: listForks(lineage.children) };
  }

  async #getParent(id: string | null): Promise<SessionView | null> {
    if (id === null) return null;
    const { data } = await this.client.call("list_sessions", { query: { ids: [id], profile: this.profile } });
    return data.items[0]?.session ?? null;
  }
}

/** What is nowhere, or not for whoever asks, is not there: that is no failure. */
function ignoreMissing(error: unknown): void {
  if (!(error instanceof Problem) || ![403, 404].includes(error.status)) throw error;
}

/** Choose the branches among what came of a session, and tell where each leaves it. */
export function listForks(children: readonly ChildView[]): readonly Fork[] {
  const branches = children.filter(({ cause }) => cause === "branch");
  return branches.map(({ id, title, base_seq }) => ({ seq: base_seq ?? 0, id, title }));
}

/** Begin a conversation; answers its id. */
export async function createSession({ text, tickets, first }: OutgoingMessage, key: string, profile: string): Promise<string | null> {
  const header = { "Idempotency-Key": key };
  const body = { text, attachments: [...tickets], ...first, profile };
  return (await app.client.call("begin_session", { header, body })).data.session_id;
}

/** Say something in a session. Returns the session it went to: a suspended one has a successor. */
export async function sendMessage(id: string, { text, tickets, busy }: OutgoingMessage, key: string, speech: Speech): Promise<string> {
  const header = { "Idempotency-Key": key };
  const body = { text, attachments: [...tickets], speech, busy_mode: busy ?? null };
  const { data } = await app.client.call("send_message", { path: { id }, header, body });
  return data.session_id ?? id;
}

/** Tell for whom words usually are: an owner answers those who write on a platform, or the agent if it asks. */
export function getDefaultSpeech(platform: string, isAsked = false): Speech {
  return platform !== "local" && app.isOwner && !isAsked ? "answer" : "ask";
}
