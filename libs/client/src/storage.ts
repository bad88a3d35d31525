import { exclusively } from './locks.ts';

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

/** Runs `work`, which changes the storage, while no other page does. It must look at what is stored by then. */
export function changeStorage<Result>(work: () => Promise<Result>): Promise<Result> {
  return exclusively('taskmesh.storage', work);
}

/** Undefined when there is nothing, or nothing of this form: other versions, and other programs, write there as well. */
export async function readJson<Value>(
  storage: Storage,
  key: string,
  isValue: (value: unknown) => value is Value,
): Promise<Value | undefined> {
  try {
    const value: unknown = JSON.parse((await storage.getItem(key)) ?? 'null');
    return isValue(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
