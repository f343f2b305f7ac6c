import { describe, expect, it, vi } from "vitest";
import { Problem } from "../api/client.ts";

vi.stubGlobal("localStorage", { getItem: () => null, setItem: () => undefined });
const { EditForm } = await import("./edit_form.svelte.ts");

const answer = (data: string, etag: string) => ({ data, etag, status: 200 });

describe("an edit", () => {
  it("saves what was seen and nothing that was not", async () => {
    const put = vi.fn().mockResolvedValue(undefined);
    const fill = vi.fn();
    const look = vi.fn().mockRejectedValueOnce(new TypeError("away")).mockResolvedValue(answer("a job", '"1"'));
    const edit = new EditForm<string>(look, fill);
    await edit.read();
    expect([edit.isReady, await edit.save(put)]).toEqual([false, false]);
    expect(put).not.toHaveBeenCalled();
    expect(edit.error).toBeInstanceOf(TypeError);

    await edit.read();
    expect(edit.isReady).toBe(true);
    expect(fill.mock.calls).toEqual([["a job"]]);
    expect(await edit.save(put)).toBe(true);
    expect(put).toHaveBeenCalledWith('"1"');
  });

  it("keeps what was written when somebody else was quicker, and can be saved once more", async () => {
    const answers = [answer("as it was", '"1"'), answer("as it is", '"2"')];
    const fill = vi.fn();
    const edit = new EditForm<string>(() => Promise.resolve(answers.shift() ?? answer("", '"3"')), fill);
    await edit.read();
    const stale = new Problem(412, "Conflict", "It was changed");
    const put = vi.fn().mockRejectedValueOnce(stale).mockResolvedValue(undefined);

    expect(await edit.save(put)).toBe(false);
    expect([edit.isStale, edit.seen, edit.error]).toEqual([true, "as it is", null]);
    expect(fill.mock.calls).toEqual([["as it was"]]);
    expect(await edit.save(put)).toBe(true);
    expect(put).toHaveBeenLastCalledWith('"2"');
  });

  it("makes something new without having seen anything, and tells what was refused", async () => {
    const edit = new EditForm<string>(null, () => undefined);
    const refused = new Problem(422, "Invalid", "This is no schedule");
    expect(await edit.save(() => Promise.reject(refused))).toBe(false);
    expect([edit.error, edit.isStale, edit.isBusy]).toEqual([refused, false, false]);
    const put = vi.fn().mockResolvedValue(undefined);
    expect(await edit.save(put)).toBe(true);
    expect(put).toHaveBeenCalledWith(null);
  });
});
