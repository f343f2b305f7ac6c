import { describe, expect, test } from "vitest";
import type { SettingView } from "../../api/schema.ts";
import { getDeviceName } from "./devices.ts";
import { findFaultyKey, formatValue, getControl, guessValue, parseValue } from "./values.ts";

const setting = (change: Partial<SettingView>): SettingView => ({
  ...{ key: "x.y", kind: "text", value: null, default: null, origin: "default", place: null, overridden: false },
  ...{ help: null, description: null, choices: [], secret: false, remote: true, restart: false, ...change },
});

describe("controls", () => {
  test.each([
    [{ choices: ["a", "b"], value: "a" }, "choice"],
    [{ kind: "truth", value: true }, "truth"],
    [{ kind: "number", value: 3 }, "number"],
    [{ kind: "list", value: ["a"] }, "lines"],
    [{ kind: "list", value: [], key: "routing" }, "data"],
    [{ kind: "list", value: [{ a: 1 }] }, "data"],
    [{ kind: "table", value: {} }, "data"],
    [{ key: "agent.instructions", value: "" }, "words"],
    [{ value: "file:secrets/one.0123" }, "secret"],
    [{ value: "••••••", secret: true }, "secret"],
    [{ value: "words" }, "text"],
  ] as const)("%o is changed by %s", (change, control) => {
    expect(getControl(setting(change as Partial<SettingView>))).toBe(control);
  });
});

describe("values", () => {
  test.each([
    ["number", 0.8],
    ["lines", ["telegram:1", "telegram:2"]],
    ["data", [{ platform: "slack" }]],
    ["text", "a word"],
    ["words", "  two\nlines "],
  ] as const)("%s is read as it was written", (control, value) => {
    expect(parseValue(control, formatValue(control, value))).toEqual(value);
  });

  test("an empty field takes a setting out, and an empty list is one", () => {
    expect(parseValue("number", " ")).toBe(null);
    expect(parseValue("text", "")).toBe(null);
    expect(parseValue("lines", "\n")).toEqual([]);
  });

  test("what cannot be read is no value", () => {
    expect(parseValue("number", "many")).toBe(undefined);
    expect(parseValue("data", "{")).toBe(undefined);
  });

  test("a secret is never written into a field", () => {
    expect(formatValue("secret", "file:secrets/one")).toBe("");
  });

  test("any setting is read as JSON where it is some, else as words", () => {
    expect(guessValue(" 5 ")).toBe(5);
    expect(guessValue('["a"]')).toEqual(["a"]);
    expect(guessValue("openai:gpt-5.1")).toBe("openai:gpt-5.1");
  });
});

describe("blame", () => {
  test.each([
    ["spend.day cannot be 'x'", "threadline.toml", "spend.day"],
    ["providers.openai.api_key is missing", "agent.model", "agent.model"],
    ["platforms.telegram.token cannot be what it is", null, "platforms.telegram"],
    ["The disk is full", null, null],
  ])("%s is about a setting", (detail, id, key) => {
    expect(findFaultyKey(["spend.day", "agent.model", "platforms.telegram"], { detail, id })).toBe(key);
  });
});

describe("devices", () => {
  test.each([
    ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"],
    ["Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Safari/604.1", "Safari, iPhone"],
    ["Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge, Windows"],
    ["my-script/2", "my-script/2"],
  ])("%s is called by its name", (agent, name) => {
    expect(getDeviceName(agent)).toBe(name);
  });
});
