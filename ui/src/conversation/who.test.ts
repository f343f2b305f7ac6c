import { describe, expect, it } from "vitest";
import type { MessageView } from "../api/schema.ts";
import { isAlone, isPersons } from "./who.ts";

const line = (role: MessageView["role"], name: string | null): MessageView =>
  ({ role, sender_id: name, sender_name: name }) as MessageView;

describe("who said a line", () => {
  it("is a person also where they answer in the agent's place", () => {
    expect(isPersons(line("user", null))).toBe(true);
    expect(isPersons(line("assistant", "owner"))).toBe(true);
    expect(isPersons(line("assistant", null))).toBe(false);
    expect(isPersons(line("tool", null))).toBe(false);
  });

  it("is known without a name only where it is the one person there", () => {
    expect(isAlone(line("user", "Ann"), { people: ["Ann"] })).toBe(true);
    expect(isAlone(line("user", "owner"), { people: ["Ann"] })).toBe(false);
    expect(isAlone(line("user", "Ann"), { people: ["Ann", "Bob"] })).toBe(false);
    expect(isAlone(line("user", "Ann"), null)).toBe(true);
  });
});
