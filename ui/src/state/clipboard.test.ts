import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { strings } from "../strings/index.ts";

/** What the clipboard needs of a page: elements, one of which has the focus. */
class Element {
  value = "";
  className = "";
  readonly children: Element[] = [];

  append(child: Element): void {
    this.children.push(child);
  }

  select(): void {
    page.activeElement = this;
  }

  focus(): void {
    page.activeElement = this;
  }

  remove(): void {
    page.activeElement = page.body;
  }
}

const page = {
  body: new Element(),
  activeElement: new Element(),
  dialog: null as Element | null,
  canCopy: true,
  querySelector: (): Element | null => page.dialog,
  createElement: (): Element => new Element(),
  execCommand: (): boolean => page.canCopy,
};

async function tellings(text: string): Promise<string[]> {
  const [{ copyText }, { notices }] = await Promise.all([import("./clipboard.ts"), import("./notices.svelte.ts")]);
  for (const { key } of notices.all) notices.dismiss(key);
  await copyText(text);
  return notices.all.map((notice) => notice.text);
}

beforeEach(() => {
  [page.body, page.activeElement, page.dialog, page.canCopy] = [new Element(), new Element(), null, true];
  vi.stubGlobal("document", page);
  vi.stubGlobal("HTMLElement", Element);
  vi.stubGlobal("navigator", {});
});
afterEach(() => void vi.unstubAllGlobals());

describe("copying", () => {
  it("uses the clipboard where the browser has one", async () => {
    const writeText = vi.fn(async () => undefined);
    vi.stubGlobal("navigator", { clipboard: { writeText } });
    expect(await tellings("words")).toEqual([strings.common.copied]);
    expect([writeText.mock.calls, page.body.children]).toEqual([[["words"]], []]);
  });

  it("selects the text where there is none, within a window that is open, and gives the focus back", async () => {
    const focused = page.activeElement;
    page.dialog = new Element();
    expect(await tellings("a token")).toEqual([strings.common.copied]);
    expect([page.dialog.children.map(({ value }) => value), page.body.children]).toEqual([["a token"], []]);
    expect(page.activeElement).toBe(focused);
  });

  it("says nothing that is not so", async () => {
    const writeText = (): Promise<void> => Promise.reject(new DOMException("no", "NotAllowedError"));
    vi.stubGlobal("navigator", { clipboard: { writeText } });
    page.canCopy = false;
    expect(await tellings("words")).toEqual([strings.common.notCopied]);
  });
});
