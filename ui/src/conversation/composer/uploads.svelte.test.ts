import { afterEach, describe, expect, it, vi } from "vitest";
import { CSRF } from "../../api/client.ts";
import { hub } from "../../state/hub.svelte.ts";
import { Upload, Uploads } from "./uploads.svelte.ts";

const file = (name: string, size: number): File => ({ name, size, type: "" }) as File;

describe("what goes along", () => {
  it("is nothing where all that was chosen is too big", () => {
    const uploads = new Uploads();
    expect(uploads.isEmpty).toBe(true);
    uploads.add([file("film", 26 * 1024 * 1024)]);
    expect([uploads.isEmpty, uploads.all.length, uploads.isUnderWay]).toEqual([true, 1, false]);
    uploads.all = [...uploads.all, new Upload(2, file("note", 5))];
    expect(uploads.isEmpty).toBe(false);
  });
});

/** A server that takes a file only with the word of the login that holds. */
class Request {
  static word = "second";
  static words: string[] = [];
  upload = {};
  status = 0;
  responseText = "";
  onload = (): void => {};
  open(): void {}
  abort(): void {}
  setRequestHeader(name: string, value: string): void {
    if (name === CSRF) Request.words.push(value);
  }
  send(): void {
    const isTaken = Request.words.at(-1) === Request.word;
    [this.status, this.responseText] = isTaken ? [201, '{"ticket": "t"}'] : [403, '{"detail": "Not with that word"}'];
    queueMicrotask(() => this.onload());
  }
}

describe("a tab whose login is an older one", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
    Request.words = [];
  });

  const send = async (fresh: string | null): Promise<Upload> => {
    vi.stubGlobal("XMLHttpRequest", Request);
    vi.spyOn(hub, "freshWord").mockResolvedValue(fresh);
    const uploads = new Uploads();
    uploads.add([file("note", 5)]);
    await vi.waitFor(() => expect(uploads.isUnderWay).toBe(false));
    return uploads.all[0]!;
  };

  it("sends a file once more, with the word of the newer one", async () => {
    expect(await send("second")).toMatchObject({ ticket: "t", error: null });
    expect(Request.words).toEqual(["", "second"]);
  });

  it("says why, if that does not help either", async () => {
    expect(await send("third")).toMatchObject({ ticket: null, error: "Not with that word" });
    expect(await send(null)).toMatchObject({ ticket: null, error: "Not with that word" });
    expect(Request.words).toEqual(["", "third", ""]);
  });
});
