import { describe, expect, test } from "vitest";
import { botIn, chosenBy, settingsOf } from "./providers.ts";

const WISH = { provider: "openai", model: " gpt-5.1 ", key: " sk-1 ", address: "" };

describe("a model that somebody connects", () => {
  test("its key goes along", () => {
    expect(settingsOf(WISH)).toEqual({ "agent.model": "openai:gpt-5.1", "providers.openai.api_key": "sk-1" });
  });

  test("without a new key the one stays that is kept", () => {
    expect(settingsOf({ ...WISH, key: "" })).toEqual({ "agent.model": "openai:gpt-5.1" });
  });

  test("an address is written only if it is not the usual one", () => {
    const local = { provider: "ollama", model: "qwen3:8b", key: "", address: "http://localhost:11434/v1" };
    expect(settingsOf(local)).toEqual({ "agent.model": "ollama:qwen3:8b" });
    expect(settingsOf({ ...local, address: "http://attic:11434/v1" })).toEqual({
      "agent.model": "ollama:qwen3:8b",
      "providers.ollama.base_url": "http://attic:11434/v1",
    });
  });
});

test("a model takes the place of whoever was chosen before", () => {
  expect(chosenBy([{ key: "agent.type", value: "auto" }])).toEqual({});
  expect(chosenBy([{ key: "agent.type", value: "echo" }])).toEqual({ "agent.type": "model" });
  expect(chosenBy([{ key: "agent.command", value: ["gemini"] }])).toEqual({ "agent.type": "model" });
});

test("the name of a bot is found in what Telegram says", () => {
  expect(botIn("The bot is @ada_house_bot. In groups it hears what is said to it.")).toBe("ada_house_bot");
  expect(botIn("Telegram does not know the bot's token")).toBe(null);
});
