// The settings of the server: what holds, what somebody is about to change, and what came of it.

import { Problem } from "../../api/client.ts";
import type { ChangedSettings, Failure, JsonValue, SettingsShape } from "../../api/schema.ts";
import { hub } from "../../state/hub.svelte.ts";
import { notices } from "../../state/notices.svelte.ts";
import { words } from "../../words/index.ts";
import { Reading } from "../reading.svelte.ts";
import { blamed } from "./values.ts";

const STALE = 412;

export class Settings extends Reading<SettingsShape> {
  /** What was changed here and is not saved yet; `null` takes a setting out. */
  drafts = $state.raw<ReadonlyMap<string, JsonValue>>(new Map());
  /** What is wrong with a draft, by its name. */
  wrong = $state.raw<ReadonlyMap<string, string>>(new Map());
  /** What is wrong with all of them together. */
  refusal = $state.raw<unknown>(null);
  failures = $state.raw<readonly Failure[]>([]);
  restart = $state.raw<readonly string[]>([]);
  isSaving = $state(false);
  #etag: string | null = null;

  constructor() {
    super(async () => {
      const { data, etag } = await hub.client.call("list_all_settings");
      this.#etag = etag;
      return data;
    }, ["settings.changed"]);
  }

  /** Note down a change; `undefined` is no value that the setting could have. */
  draft(key: string, value: JsonValue): void {
    this.#judge(key, value === undefined ? words.settings.noValue : null);
    // A table that goes takes along what was to be changed within it.
    const others = [...this.drafts].filter(([other]) => !other.startsWith(`${key}.`));
    this.drafts = new Map(others).set(key, value);
  }

  /** Leave a setting as it was. */
  discard(...keys: string[]): void {
    this.drafts = new Map([...this.drafts].filter(([key]) => !keys.includes(key)));
    for (const key of keys) this.#judge(key, null);
    if (this.drafts.size === 0) this.refusal = null;
  }

  /** Write all drafts, or none; tells whether they were. */
  async save(): Promise<boolean> {
    const drafts = [...this.drafts];
    const set = Object.fromEntries(drafts.filter(([, value]) => value !== null));
    const unset = drafts.filter(([, value]) => value === null).map(([key]) => key);
    return this.change({ set, unset });
  }

  /** Write settings into the file; what is wrong is told where it stands. */
  async change(body: { set?: Record<string, JsonValue>; unset?: string[] }): Promise<boolean> {
    const keys = [...Object.keys(body.set ?? {}), ...(body.unset ?? [])];
    [this.isSaving, this.refusal] = [true, null];
    try {
      const header = { "If-Match": this.#etag ?? "*" };
      const { data, etag } = await hub.client.call("change_settings", { header, body });
      this.#take(data, etag);
      this.discard(...keys);
      notices.tell(words.settings.saved);
      return true;
    } catch (error) {
      await this.#refuse(error, keys);
      return false;
    } finally {
      this.isSaving = false;
    }
  }

  /** Go by the file as it is now, after somebody changed it by hand. */
  async reload(): Promise<void> {
    await notices.attempt(async () => {
      const { data } = await hub.client.call("reload_settings");
      await this.read();
      this.#take(data, this.#etag);
      notices.tell(words.settings.reloaded);
    });
  }

  #take(changed: ChangedSettings, etag: string | null): void {
    [this.data, this.#etag] = [changed, etag];
    [this.failures, this.restart] = [changed.failures, changed.restart];
  }

  async #refuse(error: unknown, keys: readonly string[]): Promise<void> {
    const key = error instanceof Problem ? blamed(keys, error) : null;
    if (key && error instanceof Problem) this.#judge(key, [error.message, error.hint].filter(Boolean).join(". "));
    else this.refusal = error;
    // Somebody else was quicker: what they wrote is shown, and the drafts stay.
    if (error instanceof Problem && error.status === STALE) await this.read();
  }

  #judge(key: string, what: string | null): void {
    const wrong = new Map(this.wrong);
    if (what) wrong.set(key, what);
    else wrong.delete(key);
    this.wrong = wrong;
  }
}
