import { describe, expect, test } from "vitest";
import type { SettingView } from "../../api/schema.ts";
import { SETTING_NAMES } from "../../strings/setting_names.ts";
import { getSettingName, getTableName } from "../../strings/settings.ts";
import { findSettings, getSection, listGroups } from "./sections.ts";

const setting = (key: string, help: string | null = null): SettingView => ({
  ...{ key, kind: "text", value: null, default: null, origin: "default", place: null, overridden: false },
  ...{ help, description: null, choices: [], secret: false, remote: true, restart: false },
});
const SETTINGS = ["database", "agent.model", "providers.openai.api_key", "agent.type", "reset.kinds.group.mode"];

describe("sections", () => {
  test("every setting is found in one, also one that is not known yet", () => {
    expect(getSection("agent.model")).toBe("agent");
    expect(getSection("providers.openai.api_key")).toBe("agent");
    expect(getSection("reset.kinds.group.mode")).toBe("conversations");
    expect(getSection("streaming")).toBe("conversations");
    expect(getSection("tomorrow.new")).toBe("server");
  });

  test("a section lists its tables in its own order", () => {
    const groups = listGroups(SETTINGS.toReversed().map((key) => setting(key)), "agent");
    expect(groups.map(({ table, items }) => [table, items.map(({ key }) => key)])).toEqual([
      ["agent", ["agent.type", "agent.model"]],
      ["providers.openai", ["providers.openai.api_key"]],
    ]);
  });

  test("settings are found by their names and by what they do", () => {
    const items = SETTINGS.map((key) => setting(key, key === "database" ? "Where everything is kept." : null));
    const keys = (text: string): string[] =>
      findSettings(items, text, getSettingName).flatMap(({ items }) => items.map((one) => one.key));
    expect(keys("MODEL agent")).toEqual(["agent.model"]);
    expect(keys("everything kept")).toEqual(["database"]);
    expect(keys("pigeon")).toEqual([]);
  });
});

describe("names", () => {
  test("a setting of a kind, a platform or a provider is called like the one for all", () => {
    expect(getSettingName("reset.kinds.group.mode")).toBe(SETTING_NAMES["reset.default.mode"]);
    expect(getSettingName("profiles.coder.agent.model")).toBe(SETTING_NAMES["agent.model"]);
    expect(getSettingName("providers.attic.api_key")).toBe(SETTING_NAMES["providers.*.api_key"]);
  });

  test("what nobody knows is called after its key", () => {
    expect(getSettingName("platforms.telegram.download_limit")).toBe("Download limit");
    expect(getTableName("tomorrow.new")).toBe("Tomorrow, new");
  });

  test("a table is called after what it is about", () => {
    expect(getTableName("reset.default")).toBe("When a new conversation starts automatically");
    expect(getTableName("platforms.telegram")).toBe("Telegram");
    expect(getTableName("profiles.coder.agent")).toBe("Profile coder, agent");
    expect(getTableName("busy.platforms")).toBe("While the agent is busy, by platform");
  });
});
