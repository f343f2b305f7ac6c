import { afterEach, describe, expect, it, vi } from "vitest";
import { CSRF_HEADER } from "../../api/client.ts";
import { app } from "../../state/app.svelte.ts";
import { openUploads, type StoredUpload, Upload, Uploads, type UploadStorage } from "./uploads.svelte.ts";

const file = (name: string, size: number): File => ({ name, size, type: "" }) as File;

describe("what goes along", () => {
  it("is nothing where all that was chosen is too big", () => {
    const uploads = new Uploads();
    expect(uploads.isEmpty).toBe(true);
    uploads.add([file("film", 26 * 1024 * 1024)]);
    expect([uploads.isEmpty, uploads.all.length, uploads.isUploading]).toEqual([true, 1, false]);
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
    if (name === CSRF_HEADER) Request.words.push(value);
  }
  send(): void {
    const isTaken = Request.words.at(-1) === Request.word;
    [this.status, this.responseText] = isTaken ? [201, '{"ticket": "t"}'] : [403, '{"detail": "Not with that word"}'];
    queueMicrotask(() => this.onload());
  }
}

/** A folder in a browser's store. */
class Drawer implements UploadStorage {
  kept = new Map<string, StoredUpload>();
  constructor(readonly name: string) {}
  all = (): readonly StoredUpload[] => [...this.kept.values()];
  keep = (stored: StoredUpload): void => void this.kept.set(stored.ticket, stored);
  drop = (ticket: string): void => void this.kept.delete(ticket);
}

describe("files that were attached and not sent", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    Request.words = [];
  });

  it("are there again for whoever comes back, until they are removed or sent", () => {
    const drawer = new Drawer("a");
    drawer.keep({ ticket: "1", name: "cat.png", at: "then" });
    drawer.keep({ ticket: "2", name: "dog.png", at: "then" });
    openUploads(drawer).close();
    const again = openUploads(drawer);
    expect([again.tickets, again.names]).toEqual([["1", "2"], ["cat.png", "dog.png"]]);
    again.remove(again.all[0]!);
    expect(openUploads(drawer).tickets).toEqual(["2"]);
    again.clear();
    expect(openUploads(drawer).tickets).toEqual([]);
  });

  it("go along into the conversation that the first words make, and are no younger there", () => {
    const [before, after] = [new Drawer("b"), new Drawer("c")];
    before.keep({ ticket: "1", name: "cat.png", at: "then" });
    openUploads(before).move(after);
    expect([before.all(), after.all()]).toEqual([[], [{ ticket: "1", name: "cat.png", at: "then" }]]);
  });

  it("arrive although nobody looks any more, and are taken up as they are", async () => {
    vi.stubGlobal("XMLHttpRequest", Request);
    Request.word = "";
    const drawer = new Drawer("d");
    const uploads = openUploads(drawer);
    uploads.add([file("film", 5)]);
    uploads.close();
    const again = openUploads(drawer);
    expect([again, again.isUploading]).toEqual([uploads, true]);
    await vi.waitFor(() => expect(drawer.all()).toMatchObject([{ ticket: "t", name: "film" }]));
    Request.word = "second";
  });
});

describe("a tab whose login is an older one", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
    Request.words = [];
  });

  const send = async (fresh: string | null): Promise<Upload> => {
    vi.stubGlobal("XMLHttpRequest", Request);
    vi.spyOn(app, "refreshCsrf").mockResolvedValue(fresh);
    const uploads = new Uploads();
    uploads.add([file("note", 5)]);
    await vi.waitFor(() => expect(uploads.isUploading).toBe(false));
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
