// Providers of models that can be connected with a few words.

import type { SettingView } from "../../api/schema.ts";

export interface Provider {
  name: string;
  /** What has to be known of it: a key, or where it is. */
  wants: "key" | "address";
  /** Where a key is had, or where it usually listens. */
  where: string;
  /** Models that many begin with; any other can be written. */
  models: readonly string[];
}

export const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: {
    name: "OpenAI",
    wants: "key",
    where: "https://platform.openai.com/api-keys",
    models: ["gpt-5.1", "gpt-5-mini", "gpt-5-nano", "gpt-4.1"],
  },
  anthropic: {
    name: "Anthropic",
    wants: "key",
    where: "https://console.anthropic.com/settings/keys",
    models: ["claude-sonnet-5", "claude-opus-4-5", "claude-haiku-4-5"],
  },
  google: {
    name: "Google",
    wants: "key",
    where: "https://aistudio.google.com/apikey",
    models: ["gemini-3-pro-preview", "gemini-2.5-pro", "gemini-2.5-flash"],
  },
  openrouter: {
    name: "OpenRouter",
    wants: "key",
    where: "https://openrouter.ai/keys",
    models: ["openai/gpt-5.1", "anthropic/claude-sonnet-4.5", "google/gemini-2.5-pro"],
  },
  ollama: {
    name: "Ollama",
    wants: "address",
    where: "http://localhost:11434/v1",
    models: ["qwen3:8b", "llama3.3", "gpt-oss:20b"],
  },
  lmstudio: { name: "LM Studio", wants: "address", where: "http://localhost:1234/v1", models: ["openai/gpt-oss-20b"] },
  vllm: { name: "vLLM", wants: "address", where: "http://localhost:8000/v1", models: ["Qwen/Qwen3-8B"] },
};

/** What somebody wrote to connect a model. */
export interface ModelChoice {
  provider: string;
  model: string;
  key: string;
  address: string;
}

/** Tell which settings a wish is; whatever is as usual is not written. */
export function createModelSettings({ provider, model, key, address }: ModelChoice): Record<string, string> {
  const isElsewhere = address.trim() !== "" && address.trim() !== PROVIDERS[provider]?.where;
  const { wants } = PROVIDERS[provider] ?? { wants: "key" };
  return {
    "agent.model": `${provider}:${model.trim()}`,
    ...(wants === "key" && key.trim() !== "" ? { [`providers.${provider}.api_key`]: key.trim() } : {}),
    ...(wants === "address" && isElsewhere ? { [`providers.${provider}.base_url`]: address.trim() } : {}),
  };
}

/** Tell what has to be set so that the model answers, where a program, code of one's own or the echo was chosen. */
export function createAgentSettings(items: readonly Pick<SettingView, "key" | "value">[]): Record<string, string> {
  const value = (key: string): string => String(items.find((one) => one.key === key)?.value ?? "");
  const isOther = value("agent.command") !== "" || value("agent.python") !== "";
  return isOther || !["", "auto", "model"].includes(value("agent.type")) ? { "agent.type": "model" } : {};
}

/** Find the name of a bot in what Telegram says of its token. */
export function findBotName(told: string): string | null {
  return /@(\w{3,64})/.exec(told)?.[1] ?? null;
}
