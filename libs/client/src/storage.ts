/** Where tokens and waiting writes are kept: `localStorage`, `sessionStorage`, or something asynchronous. */
export interface Storage {
  getItem(key: string): string | null | Promise<string | null>;
  setItem(key: string, value: string): unknown;
  removeItem(key: string): unknown;
}

/** Lasts as long as the page. */
export function createMemoryStorage(): Storage {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  };
}

/** Undefined when there is nothing readable. */
export async function readJson<Value>(storage: Storage, key: string): Promise<Value | undefined> {
  const text = await storage.getItem(key);
  if (text === null) return undefined;
  try {
    return JSON.parse(text) as Value; // only we write there
  } catch {
    return undefined;
  }
}
