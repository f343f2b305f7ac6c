import { describe, expect, it } from "vitest";
import { words } from "../../words/index.ts";
import { isBareAddress, isCancelled, obstacleOf } from "./passkeys.ts";

describe("addresses", () => {
  it.each(["127.0.0.1", "[::1]", "[fe80::1]"])("%s is in numbers", (host) => expect(isBareAddress(host)).toBe(true));
  it.each(["localhost", "cafe", "chat.example.org"])("%s is a name", (host) => expect(isBareAddress(host)).toBe(false));
});

describe("what a device says", () => {
  const { obstacles } = words.login;

  it("is no mistake where somebody changed their mind", () => {
    expect(isCancelled(new DOMException("", "NotAllowedError"))).toBe(true);
    expect(isCancelled(new DOMException("", "InvalidStateError"))).toBe(false);
    expect(isCancelled(new TypeError("away"))).toBe(false);
  });

  it("is told, also if nobody has heard of it", () => {
    expect(obstacleOf(new DOMException("", "InvalidStateError"))).toBe(obstacles.InvalidStateError);
    expect(obstacleOf(new DOMException("", "ConstraintError"))).toBe(obstacles.other);
    expect(obstacleOf(new TypeError("away"))).toBeNull();
  });
});
