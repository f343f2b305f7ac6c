import { describe, expect, it } from "vitest";
import { getMatchScore, type ItemKind, normalizeText, rank, type RankedItem } from "./ranking.ts";

const thing = (label: string, kind: ItemKind = "conversation", also = ""): RankedItem => ({
  key: `${kind} ${label}`,
  kind,
  label,
  also,
});
const labels = (found: readonly RankedItem[]): string[] => found.map(({ label }) => label);

describe("how well something fits", () => {
  it("is best for the same words, then the beginning, then a word, then a part", () => {
    const words = ["garden", "Garden plans", "My garden", "Kindergarten gardenia", "ungardened"];
    const fits = words.map((said) => getMatchScore("garden", said));
    expect(fits).toEqual(fits.toSorted((one, other) => other - one));
    expect(fits[0]).toBe(1);
    expect(new Set(fits).size).toBe(fits.length);
  });

  it("wants every word, in any order", () => {
    expect(getMatchScore("plans garden", "Garden plans")).toBeGreaterThan(0);
    expect(getMatchScore("garden house", "Garden plans")).toBe(0);
  });

  it("heeds neither case nor accents", () => {
    expect(normalizeText("  Élan ÜBER ")).toBe("elan uber");
    expect(getMatchScore("uber", "Über uns")).toBeGreaterThan(0.7);
    expect(getMatchScore("世界", "你好 世界")).toBeGreaterThan(0);
  });

  it("is nothing where nothing was typed", () => {
    expect(getMatchScore(" ", "Garden")).toBe(0);
  });
});

describe("one list of everything", () => {
  it("has what fits best first, whatever it is", () => {
    const setting = thing("Who may speak", "setting", "people access");
    const known = [thing("The people of Rome"), thing("People", "page"), setting];
    expect(labels(rank("people", known, []))).toEqual(["People", "The people of Rome", "Who may speak"]);
  });

  it("prefers a conversation to a setting that fits as well", () => {
    const list = rank("spend", [thing("Spend a day", "setting"), thing("Spend a day")], []);
    expect(list.map(({ kind }) => kind)).toEqual(["conversation", "setting"]);
  });

  it("keeps what the server found, messages in its order and after what is called so", () => {
    const found = [thing("Über", "message"), thing("Holidays", "message"), thing("Ideas for the garden")];
    const list = rank("garden", [thing("Garden", "page"), thing("Nothing")], found);
    expect(labels(list)).toEqual(["Garden", "Ideas for the garden", "Über", "Holidays"]);
  });

  it("tells of each once", () => {
    expect(rank("garden", [thing("Garden")], [thing("Garden")])).toHaveLength(1);
  });
});
