import { describe, expect, it } from "vitest";
import type { MessageView } from "../../api/schema.ts";
import { isFromPerson, isOnlyPerson } from "./messages.ts";

const line = (role: MessageView["role"], name: string | null): MessageView =>
  ({ role, sender_id: name, sender_name: name }) as MessageView;

describe("who said a line", () => {
  it("is a person also where they answer in the agent's place", () => {
    expect(isFromPerson(line("user", null))).toBe(true);
    expect(isFromPerson(line("assistant", "owner"))).toBe(true);
    expect(isFromPerson(line("assistant", null))).toBe(false);
    expect(isFromPerson(line("tool", null))).toBe(false);
  });

  it("is known without a name only where it is the one person there", () => {
    expect(isOnlyPerson(line("user", "Ann"), { people: ["Ann"] })).toBe(true);
    expect(isOnlyPerson(line("user", "owner"), { people: ["Ann"] })).toBe(false);
    expect(isOnlyPerson(line("user", "Ann"), { people: ["Ann", "Bob"] })).toBe(false);
    expect(isOnlyPerson(line("user", "Ann"), null)).toBe(true);
  });
});
