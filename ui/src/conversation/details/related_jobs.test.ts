import { describe, expect, it } from "vitest";
import type { JobView } from "../../api/schema.ts";
import { findRelatedJobs, parseRouteChat } from "./related_jobs.ts";

const job = (id: number, target: string, name = `job ${id}`): JobView => ({ id, target, name }) as JobView;
const person = { origin: "person", title: "Talk" } as const;

describe("chatOf", () => {
  it("reads the chat out of a route, whatever is escaped in it", () => {
    expect(parseRouteChat("agent:main:telegram:dm:42")).toBe("telegram:42");
    expect(parseRouteChat("agent:main:matrix:group:%21abc%3Aexample.org:thread=7")).toBe("matrix:!abc:example.org");
    expect(parseRouteChat("nonsense")).toBeNull();
  });
});

describe("concerned", () => {
  it("takes jobs that speak into the chat or a thread of it, and no others", () => {
    const jobs = [job(1, "telegram:42"), job(2, "slack, telegram:42:7"), job(3, "telegram:421"), job(4, "origin")];
    const found = findRelatedJobs(jobs, person, ["agent:main:telegram:dm:42"]);
    expect(found.map((one) => one.id)).toEqual([1, 2]);
  });

  it("takes the job that a session is a run of", () => {
    const jobs = [job(1, "origin", "Daily news"), job(2, "origin", "Backup")];
    expect(findRelatedJobs(jobs, { origin: "job", title: "Daily news" }, []).map((one) => one.id)).toEqual([1]);
    expect(findRelatedJobs(jobs, { origin: "person", title: "Daily news" }, [])).toEqual([]);
  });
});
