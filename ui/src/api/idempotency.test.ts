import { expect, it } from "vitest";
import { RetryKey } from "./idempotency.ts";

it("goes out under the same key until something else is wished for", () => {
  const retryKey = new RetryKey();
  const first = retryKey.header({ name: "Garden" });
  expect(retryKey.header({ name: "Garden" })).toEqual(first);
  const other = retryKey.header({ name: "House" });
  expect(other).not.toEqual(first);
  expect(retryKey.header({ name: "House" })).toEqual(other);
});
