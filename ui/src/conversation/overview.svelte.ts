// A long conversation from afar: what is where in it, and where something was said.

import type { BucketView } from "../api/schema.ts";
import { MOST, type Reading } from "./reading.ts";

/** From so many lines on a conversation has a minimap. */
export const LONG = 200;

/** Ask the server soon, and never for the same thing twice at once. */
export type Want = (name: string, errand: (reading: Reading) => Promise<void>) => Promise<void>;

export class Overview {
  buckets = $state.raw<readonly BucketView[]>([]);
  /** The lines in which something was found. */
  hits = $state.raw<readonly number[]>([]);
  readonly #want: Want;

  constructor(want: Want) {
    this.#want = want;
  }

  /** Read what is where, if that is much. */
  read(lastSeq: number): void {
    if (lastSeq <= LONG) return;
    void this.#want("map", async ({ client, id }) => {
      this.buckets = (await client.call("read_minimap", { path: { id }, query: {} })).data.items;
    });
  }

  /** Read it again once enough was added that one would see it. */
  lengthen(lastSeq: number): void {
    if (lastSeq > (this.buckets.at(-1)?.last_seq ?? 0) * 1.02 + 10) this.read(lastSeq);
  }

  /** Find where something was said in here. */
  async find(text: string): Promise<void> {
    await this.#want("hits", async ({ client, id, profile }) => {
      const query = { text, session: id, profile, most: MOST };
      this.hits = text ? (await client.call("find_messages", { query })).data.items.map((hit) => hit.seq) : [];
    });
  }
}
