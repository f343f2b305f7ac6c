import { describe, expect, it } from "vitest";
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
