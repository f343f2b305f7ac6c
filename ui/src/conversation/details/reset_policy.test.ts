import { describe, expect, it } from "vitest";
import type { PolicyView } from "../../api/schema.ts";
import { describeResetPolicy, isSharedSession } from "./reset_policy.ts";

const policy = (change: Partial<PolicyView>): PolicyView =>
  ({ mode: "both", idle_minutes: 480, at_hour: 4, timezone: "Europe/Berlin", ...change }) as PolicyView;

describe("what ends a conversation", () => {
  it("is told with the span, the hour and the time zone of the rule", () => {
    expect(describeResetPolicy(policy({}))).toBe("Every day at 04:00 (Europe/Berlin), or after 8 hours of silence");
    expect(describeResetPolicy(policy({ mode: "daily" }))).toBe("Every day at 04:00 (Europe/Berlin)");
    expect(describeResetPolicy(policy({ mode: "idle", idle_minutes: 90 }))).toBe("After 90 minutes of silence");
    expect(describeResetPolicy(policy({ mode: "idle", idle_minutes: 1440 }))).toBe("After 1 day of silence");
    expect(describeResetPolicy(policy({ mode: "none" }))).toBe("Never automatically");
  });
});

describe("a conversation", () => {
  it("is shared where its route is neither a direct message nor one member's", () => {
    expect(isSharedSession(["agent:main:telegram:group:-100"])).toBe(true);
    expect(isSharedSession(["agent:main:telegram@bot:group:-100:thread=7"])).toBe(true);
    expect(isSharedSession(["agent:main:telegram:group:-100:member=5"])).toBe(false);
    expect(isSharedSession(["agent:main:telegram:dm:5"])).toBe(false);
    expect(isSharedSession([])).toBe(false);
  });
});
