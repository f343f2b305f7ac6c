// What is read of a conversation, each with one request.

import { Problem, type Client } from "../api/client.ts";
import type {
  ChildView,
  CutView,
  DeliveryShape,
  DeliveryState,
  LineageView,
  MessagePage,
  MessageView,
  QueuedView,
  SessionRowView,
  SessionView,
  TurnView,
} from "../api/schema.ts";
import { hub } from "../state/hub.svelte.ts";
import { seqOf } from "./stretch.ts";

/** The greatest page that the server answers. */
export const MOST = 200;
/** So many lines are read at a stretch; more than that nobody looks at. */
const FAR = 1000;
const TURNS = 60;

/** How it stands with what never arrived. */
export const LOST: readonly DeliveryState[] = ["failed", "abandoned"];

/** A branch that leaves the line. */
export interface Fork {
  /** The last line that it shares; 0: it shares nothing, its first words are said differently. */
  seq: number;
  id: string;
  title: string | null;
}

/** Where a conversation comes from, and what leaves it. */
export interface Kin {
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
  page: MessagePage;
  hasLater: boolean;
}

export class Reading {
  constructor(
    readonly client: Client,
    readonly id: string,
    readonly profile: string,
  ) {}

  async row(): Promise<SessionRowView | null> {
    const { data } = await this.client.call("list_sessions", { query: { ids: [this.id], profile: this.profile } });
    if (data.items.length === 0) await hub.lookFor(this.id).catch(ignoreMissing);
    return data.items[0] ?? null;
  }

  /** Tell up to which line whoever is here has read: a mark never goes back. */
  async mark(): Promise<number> {
    return (await this.client.call("mark_read", { path: { id: this.id }, body: { seq: 0 } })).data.seq;
  }

  async page(query: Where): Promise<MessagePage> {
    return (await this.client.call("list_messages", { path: { id: this.id }, query })).data;
  }

  /** Read the lines between two places, page by page, but not without end; null: up to the last one. */
  async between(first: number, last: number | null, hidden: boolean): Promise<Between> {
    const items: MessageView[] = [];
    let after = Math.max(0, first - 1);
    for (;;) {
      const { items: some } = await this.page({ after, most: MOST, hidden });
      items.push(...some);
      after = seqOf(some.at(-1));
      const isFull = some.length === MOST;
      if (!isFull || items.length >= FAR || (last !== null && after >= last)) {
        return { page: { items, before: first > 1 ? first : null, after }, hasLater: isFull };
      }
    }
  }

  async line(seq: number): Promise<MessageView> {
    return (await this.client.call("read_message", { path: { id: this.id, seq } })).data;
  }

  async cuts(): Promise<readonly CutView[]> {
    return (await this.client.call("list_cuts", { path: { id: this.id } })).data.items;
  }

  /** Read the newest turns, at least as far back as the one that the others wait for. */
  async turns(): Promise<ReadonlyMap<number, TurnView>> {
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

  async turn(turn_id: number): Promise<TurnView> {
    return (await this.client.call("read_turn", { path: { turn_id } })).data;
  }

  async queue(): Promise<readonly QueuedView[]> {
    return (await this.client.call("list_queue", { path: { id: this.id } })).data.items;
  }

  /** Read what never arrived where it should. */
  async lost(): Promise<readonly DeliveryShape[]> {
    const query = { session: this.id, state: [...LOST], most: MOST };
    return (await this.client.call("list_deliveries", { query })).data.items;
  }

  async kin(): Promise<Kin> {
    const { data: lineage } = await this.client.call("read_lineage", { path: { id: this.id } });
    return { lineage, parent: await this.#parent(lineage.parent_id), forks: forksOf(lineage.children) };
  }

  async #parent(id: string | null): Promise<SessionView | null> {
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
export function forksOf(children: readonly ChildView[]): readonly Fork[] {
  const branches = children.filter(({ cause }) => cause === "branch");
  return branches.map(({ id, title, base_seq }) => ({ seq: base_seq ?? 0, id, title }));
}
