import { beforeEach, describe, expect, it, vi } from "vitest";

const heard = new Map<string, unknown>();
let answer: (body: unknown) => Response | Promise<Response> = () => Response.json({});

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined }));
vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => undefined });
vi.stubGlobal("document", { documentElement: { dataset: {} }, addEventListener: () => undefined });
vi.stubGlobal("addEventListener", (name: string, what: unknown) => heard.set(name, what));
vi.stubGlobal("removeEventListener", (name: string) => heard.delete(name));
vi.stubGlobal("fetch", (_: string, { body }: { body?: string }) =>
  Promise.resolve(answer(body === undefined ? null : JSON.parse(body))),
);
const { Settings } = await import("./settings.svelte.ts");

const saved = (): Response => Response.json({ items: [], failures: [], restart: [] }, { headers: { ETag: '"2"' } });
const refused = (status: number, detail: string): Response => Response.json({ detail }, { status });

beforeEach(() => {
  heard.clear();
  answer = saved;
});

describe("drafts", () => {
  it("are written together, and are none any more", async () => {
    const settings = new Settings();
    settings.draft("spend.day", 5);
    settings.draft("agent.model", null);
    answer = (body) => {
      expect(body).toEqual({ set: { "spend.day": 5 }, unset: ["agent.model"] });
      return saved();
    };
    expect(await settings.save()).toBe(true);
    expect(settings.drafts.size).toBe(0);
  });

  it("stay where somebody went on writing while they were saved", async () => {
    const settings = new Settings();
    settings.draft("agent.instructions", "Be brief");
    settings.draft("spend.day", 5);
    answer = () => {
      settings.draft("agent.instructions", "Be brief, and kind");
      return saved();
    };
    expect(await settings.save()).toBe(true);
    expect([...settings.drafts.keys()]).toEqual(["agent.instructions"]);
    expect(settings.drafts.get("agent.instructions")?.value).toBe("Be brief, and kind");
  });

  it("stay when they are refused, and it is told where", async () => {
    const settings = new Settings();
    settings.draft("spend.day", -1);
    answer = () => refused(422, "spend.day cannot be -1");
    expect(await settings.save()).toBe(false);
    expect([settings.wrong.get("spend.day"), settings.refusal]).toEqual(["spend.day cannot be -1", null]);

    answer = () => Promise.reject(new TypeError("away"));
    expect(await settings.save()).toBe(false);
    expect(settings.refusal).toBeInstanceOf(TypeError);
    expect(settings.drafts.get("spend.day")?.value).toBe(-1);
  });

  it("keep what was typed, also while it makes no sense yet", () => {
    const settings = new Settings();
    settings.draft("routing", undefined, "[{");
    expect(settings.drafts.get("routing")).toEqual({ value: undefined, text: "[{" });
    expect(settings.wrong.has("routing")).toBe(true);
    settings.draft("routing", [], "[]");
    expect(settings.wrong.has("routing")).toBe(false);
  });

  it("keep a browser from leaving unasked, as long as there are any", () => {
    const settings = new Settings();
    settings.draft("spend.day", 5);
    expect(heard.has("beforeunload")).toBe(true);
    settings.discard("spend.day");
    expect(heard.has("beforeunload")).toBe(false);
  });
});

describe("a change beside the drafts", () => {
  it("touches none of them, whatever comes of it", async () => {
    const settings = new Settings();
    settings.draft("spend.day", 5);
    answer = () => refused(422, "spend.day cannot be 'x'");
    expect(await settings.change({ set: { "spend.day": "x" } })).toMatchObject({ key: "spend.day" });
    answer = () => refused(500, "The disk is full");
    expect(await settings.change({ set: { "spend.day": 7 } })).toMatchObject({ key: null });
    answer = saved;
    expect(await settings.change({ set: { "spend.day": 7 } })).toBeNull();
    expect([settings.drafts.get("spend.day")?.value, settings.wrong.size, settings.refusal]).toEqual([5, 0, null]);
  });
});
