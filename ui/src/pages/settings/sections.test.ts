import { describe, expect, test } from "vitest";
import type { SettingShape } from "../../api/schema.ts";
import { FACTS } from "../../words/facts.ts";
import { nameOf, tableName } from "../../words/settings.ts";
import { find, groupsOf, sectionOf } from "./sections.ts";

const setting = (key: string): SettingShape => ({
  ...{ key, kind: "text", value: null, default: null, origin: "default", place: null, overridden: false },
  ...{ description: null, choices: [], secret: false, remote: true, restart: false },
});
const SETTINGS = ["database", "agent.model", "providers.openai.api_key", "agent.type", "reset.kinds.group.mode"];

describe("sections", () => {
  test("every setting is found in one, also one that is not known yet", () => {
    expect(sectionOf("agent.model")).toBe("agent");
    expect(sectionOf("providers.openai.api_key")).toBe("agent");
    expect(sectionOf("reset.kinds.group.mode")).toBe("conversations");
    expect(sectionOf("streaming")).toBe("conversations");
    expect(sectionOf("tomorrow.new")).toBe("server");
  });

  test("a section lists its tables in its own order", () => {
    const groups = groupsOf(SETTINGS.toReversed().map(setting), "agent");
    expect(groups.map(({ table, items }) => [table, items.map(({ key }) => key)])).toEqual([
      ["agent", ["agent.type", "agent.model"]],
      ["providers.openai", ["providers.openai.api_key"]],
    ]);
  });

  test("settings are found by their names and by what they mean", () => {
    const told = (key: string): string => nameOf(key).join(" ");
    const keys = (text: string): string[] =>
      find(SETTINGS.map(setting), text, told).flatMap(({ items }) => items.map((one) => one.key));
    expect(keys("MODEL agent")).toEqual(["agent.model"]);
    expect(keys("everything kept")).toEqual(["database"]);
    expect(keys("pigeon")).toEqual([]);
  });
});

describe("names", () => {
  test("a setting of a kind, a platform or a provider is called like the one for all", () => {
    expect(nameOf("reset.kinds.group.mode")).toBe(FACTS["reset.default.mode"]);
    expect(nameOf("profiles.coder.agent.model")).toBe(FACTS["agent.model"]);
    expect(nameOf("providers.attic.api_key")).toBe(FACTS["providers.*.api_key"]);
  });

  test("what nobody knows is called after its key", () => {
    expect(nameOf("platforms.telegram.download_limit")).toEqual(["Download limit", ""]);
    expect(tableName("tomorrow.new")).toBe("Tomorrow, new");
  });

  test("a table is called after what it is about", () => {
    expect(tableName("reset.default")).toBe("When a new conversation starts automatically");
    expect(tableName("platforms.telegram")).toBe("Telegram");
    expect(tableName("profiles.coder.agent")).toBe("Profile coder, agent");
    expect(tableName("busy.platforms")).toBe("While the agent is busy, by platform");
  });
});
