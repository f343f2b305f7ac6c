import { describe, expect, it } from "vitest";
import type { PersonView } from "../../api/schema.ts";
import { formatCounts, getPersonName, getSenderName, parsePlatform } from "./names.ts";

describe("platformOf", () => {
  it("ends at the first colon, as ids may have more of them", () => {
    expect(parsePlatform("telegram:42")).toBe("telegram");
    expect(parsePlatform("matrix:@ada:example.org")).toBe("matrix");
    expect(parsePlatform("nonsense")).toBe("");
  });
});

describe("called", () => {
  it("takes the id where there is no name to be seen", () => {
    expect(getSenderName({ sender: "telegram:42", name: "Ada" })).toBe("Ada");
    expect(getSenderName({ sender: "telegram:42", name: "  " })).toBe("telegram:42");
    expect(getSenderName({ sender: "telegram:42", name: null })).toBe("telegram:42");
  });
});

describe("callPerson", () => {
  const sender = (id: string, name: string | null) => ({ sender: id, name }) as PersonView["senders"][number];

  it("takes the name, else that of a sender who has one, else an id", () => {
    const senders = [sender("telegram:42", null), sender("slack:7", "Ada")];
    expect(getPersonName({ name: "Ada Lovelace", senders })).toBe("Ada Lovelace");
    expect(getPersonName({ name: null, senders })).toBe("Ada");
    expect(getPersonName({ name: null, senders: senders.slice(0, 1) })).toBe("telegram:42");
  });
});

describe("counted", () => {
  it("tells what went, the largest number first, and not what never was there", () => {
    expect(formatCounts({ sessions: 2, messages: 31, attachments: 0 })).toBe("messages 31 · sessions 2");
    expect(formatCounts({})).toBe("");
  });
});
