import { describe, expect, test } from "vitest";
import { createAgentSettings, createModelSettings, findBotName } from "./providers.ts";

const WISH = { provider: "openai", model: " gpt-5.1 ", key: " sk-1 ", address: "" };

describe("a model that somebody connects", () => {
  test("its key goes along", () => {
    expect(createModelSettings(WISH)).toEqual({ "agent.model": "openai:gpt-5.1", "providers.openai.api_key": "sk-1" });
  });

  test("without a new key the one stays that is kept", () => {
    expect(createModelSettings({ ...WISH, key: "" })).toEqual({ "agent.model": "openai:gpt-5.1" });
  });

  test("an address is written only if it is not the usual one", () => {
    const local = { provider: "ollama", model: "qwen3:8b", key: "", address: "http://localhost:11434/v1" };
    expect(createModelSettings(local)).toEqual({ "agent.model": "ollama:qwen3:8b" });
    expect(createModelSettings({ ...local, address: "http://attic:11434/v1" })).toEqual({
      "agent.model": "ollama:qwen3:8b",
      "providers.ollama.base_url": "http://attic:11434/v1",
    });
  });
});

test("a model takes the place of whoever was chosen before", () => {
  expect(createAgentSettings([{ key: "agent.type", value: "auto" }])).toEqual({});
  expect(createAgentSettings([{ key: "agent.type", value: "echo" }])).toEqual({ "agent.type": "model" });
  expect(createAgentSettings([{ key: "agent.command", value: ["gemini"] }])).toEqual({ "agent.type": "model" });
});

test("the name of a bot is found in what Telegram says", () => {
  expect(findBotName("The bot is @ada_house_bot. In groups it hears what is said to it.")).toBe("ada_house_bot");
  expect(findBotName("Telegram does not know the bot's token")).toBe(null);
});
