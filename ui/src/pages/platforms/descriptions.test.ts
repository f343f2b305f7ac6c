import { describe, expect, it } from "vitest";
import type { CapabilitiesView, AddressView } from "../../api/schema.ts";
import { describePlace, getPlaceName, listCapabilities } from "./descriptions.ts";

const can: CapabilitiesView = {
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
const place: AddressView = {
  platform: "telegram",
  kind: "group",
  chat: "-100",
  account: "",
  thread: null,
  name: null,
  topic: null,
};

describe("abilities", () => {
  it("tells what there is", () => {
    const told = listCapabilities(can).join("; ");
    expect(told).toContain("UTF-16 units");
    expect(told).toContain("files up to 20.0 MB");
    expect(told).toContain("threads");
    expect(told).not.toContain("buttons");
  });

  it("tells what somebody might miss", () => {
    const told = listCapabilities({ ...can, attachments: false, speaks: false });
    expect(told).toContain("no files");
    expect(told).toContain("only answers");
  });
});

describe("places", () => {
  it("are called by their names, else by their ids", () => {
    expect(getPlaceName(place)).toBe("-100");
    expect(getPlaceName({ ...place, name: "Garden", thread: "7" })).toBe("Garden › 7");
    expect(getPlaceName({ ...place, name: "Garden", thread: "7", topic: "Peas" })).toBe("Garden › Peas");
    expect(describePlace(place)).toBe("Telegram, group");
  });
});
