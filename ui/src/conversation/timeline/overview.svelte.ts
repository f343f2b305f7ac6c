// The minimap of a long conversation, and the search hits in it.

import type { BucketView } from "../../api/schema.ts";
import { type ConversationApi, MAX_PAGE } from "../conversation_api.ts";

/** From so many lines on a conversation has a minimap. */
export const MINIMAP_MIN_LINES = 200;

/** Ask the server soon, and never for the same thing twice at once. */
export type Enqueue = (name: string, request: (api: ConversationApi) => Promise<void>) => Promise<void>;

export class Overview {
  buckets = $state.raw<readonly BucketView[]>([]);
  /** The lines in which something was found. */
  hits = $state.raw<readonly number[]>([]);
  readonly #enqueue: Enqueue;

  constructor(enqueue: Enqueue) {
    this.#enqueue = enqueue;
  }

  /** Read what is where, if that is much. */
  read(lastSeq: number): void {
    if (lastSeq <= MINIMAP_MIN_LINES) return;
    void this.#enqueue("map", async ({ client, id }) => {
      this.buckets = (await client.call("read_minimap", { path: { id }, query: {} })).data.items;
    });
  }

  /** Read it again once enough was added that one would see it. */
  extend(lastSeq: number): void {
    if (lastSeq > (this.buckets.at(-1)?.last_seq ?? 0) * 1.02 + 10) this.read(lastSeq);
  }

  /** Find where something was said in here. */
  async find(text: string): Promise<void> {
    await this.#enqueue("hits", async ({ client, id, profile }) => {
      const query = { text, session: id, profile, most: MAX_PAGE };
      this.hits = text ? (await client.call("find_messages", { query })).data.items.map((hit) => hit.seq) : [];
    });
  }
}
