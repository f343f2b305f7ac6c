import { describe, expect, it } from "vitest";
import { strings } from "../../strings/index.ts";
import { getPasskeyError, isCancelled, isIpAddress } from "./passkeys.ts";

describe("addresses", () => {
  it.each(["127.0.0.1", "[::1]", "[fe80::1]"])("%s is in numbers", (host) => expect(isIpAddress(host)).toBe(true));
  it.each(["localhost", "cafe", "chat.example.org"])("%s is a name", (host) => expect(isIpAddress(host)).toBe(false));
});

describe("what a device says", () => {
  const { obstacles } = strings.login;

  it("is no mistake where somebody changed their mind", () => {
    expect(isCancelled(new DOMException("", "NotAllowedError"))).toBe(true);
    expect(isCancelled(new DOMException("", "InvalidStateError"))).toBe(false);
    expect(isCancelled(new TypeError("away"))).toBe(false);
  });

  it("is told, also if nobody has heard of it", () => {
    expect(getPasskeyError(new DOMException("", "InvalidStateError"))).toBe(obstacles.InvalidStateError);
    expect(getPasskeyError(new DOMException("", "ConstraintError"))).toBe(obstacles.other);
    expect(getPasskeyError(new TypeError("away"))).toBeNull();
  });
});
