// Lists that come page by page, and are never long.

interface Page<Item> {
  items: Item[];
  next?: string | null;
}

/** Read all pages of a list. */
export async function everyPage<Item>(ask: (after: string | null) => Promise<Page<Item>>): Promise<Item[]> {
  const all: Item[] = [];
  let after: string | null = null;
  do {
    const page: Page<Item> = await ask(after);
    all.push(...page.items);
    after = page.next ?? null;
  } while (after !== null);
  return all;
}
