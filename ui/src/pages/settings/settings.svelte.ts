// The settings of the server: what holds, what somebody is about to change, and what came of it.

import { Problem } from "../../api/client.ts";
import type { ChangedSettingsView, FailureView, SettingsView } from "../../api/schema.ts";
import { app } from "../../state/app.svelte.ts";
import { getErrorSummary } from "../../state/errors.ts";
import { notices } from "../../state/notices.svelte.ts";
import { strings } from "../../strings/index.ts";
import { Resource } from "../resource.svelte.ts";
import { findFaultyKey } from "./values.ts";

const STALE = 412;

/** Settings to be written into the file, and to be taken out of it. */
export interface SettingsChange {
  set?: Record<string, unknown>;
  unset?: string[];
}

/** Why settings were not written. */
export interface SaveError {
  error: unknown;
  /** The one that is to blame; null: it cannot be told. */
  key: string | null;
}

/** What was changed and is not saved yet. */
export interface SettingDraft {
  /** `null` takes a setting out; `undefined` is no value that it could have. */
  value: unknown;
  /** What was typed, letter by letter: it makes no sense yet, or is written in another way than it is kept. */
  text: string | undefined;
}

export class Settings extends Resource<SettingsView> {
  drafts = $state.raw<ReadonlyMap<string, SettingDraft>>(new Map());
  /** What is wrong with a draft, by its name. */
  wrong = $state.raw<ReadonlyMap<string, string>>(new Map());
  /** What is wrong with all of them together. */
  refusal = $state.raw<unknown>(null);
  failures = $state.raw<readonly FailureView[]>([]);
  restart = $state.raw<readonly string[]>([]);
  isSaving = $state(false);
  #etag: string | null = null;

  constructor() {
    super(async () => {
      const { data, etag } = await app.client.call("list_all_settings");
      this.#etag = etag;
      return data;
    }, ["settings.changed"]);
  }

  /** Note down a change. */
  draft(key: string, value: unknown, text?: string): void {
    this.#setError(key, value === undefined ? strings.settings.noValue : null);
    // A table that goes takes along what was to be changed within it.
    const others = [...this.drafts].filter(([other]) => !other.startsWith(`${key}.`));
    this.#setDrafts(new Map(others).set(key, { value, text }));
  }

  /** Leave a setting as it was. */
  discard(...keys: string[]): void {
    this.#setDrafts(new Map([...this.drafts].filter(([key]) => !keys.includes(key))));
    for (const key of keys) this.#setError(key, null);
    if (this.drafts.size === 0) this.refusal = null;
  }

  /** Write all drafts, or none; tells whether they were. */
  async save(): Promise<boolean> {
    const sent = [...this.drafts];
    const isOut = ([, { value }]: [string, SettingDraft]): boolean => value === null;
    const set = Object.fromEntries(sent.filter((one) => !isOut(one)).map(([key, { value }]) => [key, value]));
    const unset = sent.filter(isOut).map(([key]) => key);
    this.refusal = null;
    const fault = await this.change({ set, unset });
    if (fault?.key) this.#setError(fault.key, getErrorSummary(fault.error));
    else if (fault) this.refusal = fault.error;
    // Somebody may have gone on writing meanwhile: that is a draft still.
    else this.discard(...sent.filter(([key, draft]) => this.drafts.get(key) === draft).map(([key]) => key));
    return fault === null;
  }

  /** Write settings into the file, all of them or none; tells why they were not. Drafts stay as they are. */
  async change(body: SettingsChange): Promise<SaveError | null> {
    this.isSaving = true;
    try {
      const header = { "If-Match": this.#etag ?? "*" };
      const { data, etag } = await app.client.call("change_settings", { header, body });
      this.#setData(data, etag);
      notices.show(strings.settings.saved);
      return null;
    } catch (error) {
      const keys = [...Object.keys(body.set ?? {}), ...(body.unset ?? [])];
      // Somebody else was quicker: what they wrote is shown.
      if (error instanceof Problem && error.status === STALE) await this.read();
      return { error, key: error instanceof Problem ? findFaultyKey(keys, error) : null };
    } finally {
      this.isSaving = false;
    }
  }

  /** Go by the file as it is now, after somebody changed it by hand. */
  async reload(): Promise<void> {
    await notices.attempt(async () => {
      const { data } = await app.client.call("reload_settings");
      await this.read();
      this.#setData(data, this.#etag);
      notices.show(strings.settings.reloaded);
    });
  }

  #setData(changed: ChangedSettingsView, etag: string | null): void {
    [this.data, this.#etag] = [changed, etag];
    [this.failures, this.restart] = [changed.failures, changed.restart];
  }

  #setDrafts(drafts: ReadonlyMap<string, SettingDraft>): void {
    this.drafts = drafts;
    // Only while there is something to lose: a browser asks whoever leaves a page that listens.
    if (drafts.size > 0) addEventListener("beforeunload", warn);
    else removeEventListener("beforeunload", warn);
  }

  #setError(key: string, what: string | null): void {
    const wrong = new Map(this.wrong);
    if (what) wrong.set(key, what);
    else wrong.delete(key);
    this.wrong = wrong;
  }
}

function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** The settings, and what was written and not saved: it stays while somebody looks elsewhere. */
export const settings = new Settings();
