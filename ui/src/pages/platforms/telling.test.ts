import { describe, expect, it } from "vitest";
import type { CapabilitiesShape, PlaceShape } from "../../api/schema.ts";
import { abilities, callPlace, whereIs } from "./telling.ts";

const can: CapabilitiesShape = {
  text_limit: 4096,
  unit: "utf16",
  edits: true,
  typing: false,
  attachments: true,
  attachment_limit: 20 * 1024 ** 2,
  threads: true,
  buttons: false,
  receives: true,
  speaks: true,
};
const place: PlaceShape = { platform: "telegram", kind: "group", chat: "-100" };

describe("abilities", () => {
  it("tells what there is", () => {
    const told = abilities(can).join("; ");
    expect(told).toContain("UTF-16 units");
    expect(told).toContain("files up to 20.0 MB");
    expect(told).toContain("threads");
    expect(told).not.toContain("buttons");
  });

  it("tells what somebody might miss", () => {
    const told = abilities({ ...can, attachments: false, speaks: false });
    expect(told).toContain("no files");
    expect(told).toContain("only answers");
  });
});

describe("places", () => {
  it("are called by their names, else by their ids", () => {
    expect(callPlace(place)).toBe("-100");
    expect(callPlace({ ...place, name: "Garden", thread: "7" })).toBe("Garden › 7");
    expect(callPlace({ ...place, name: "Garden", thread: "7", topic: "Peas" })).toBe("Garden › Peas");
    expect(whereIs(place)).toBe("Telegram, group");
  });
});
