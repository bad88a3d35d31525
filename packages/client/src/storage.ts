import { TaskmeshError } from './errors.ts';
import { runExclusively } from './locks.ts';
import type { Time } from './time.ts';

/** How long a sign-out waits for the storage, or for another page that changes it. */
const MAX_WAIT_MS = 5_000;

/** Stores tokens and pending writes: `localStorage`, `sessionStorage`, or something asynchronous. */
export interface Storage {
  getItem(key: string): string | null | Promise<string | null>;
  setItem(key: string, value: string): unknown;
  removeItem(key: string): unknown;
  /**
   * Pages whose storages have the same name wait for each other's changes and follow each other's sign-outs. It may change
   * with a sign-in.
   * @default one name for all pages of an origin
   */
  name?: string | undefined;
}

/** Lasts as long as the page. Clients share it if they are given the same object. */
export function createMemoryStorage(): Storage {
  const items = new Map<string, string>();
  return {
    name: `taskmesh.memory.${Math.random()}`,
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  };
}

/** Runs `work`, which changes the storage, while no other page changes it. `work` must read the current values first. */
export function changeStorage<Result>(storage: Storage, work: () => Promise<Result>): Promise<Result> {
  return runExclusively(`${nameOf(storage)}.storage`, work);
}

export function nameOf({ name }: Pick<Storage, 'name'>): string {
  return name ?? 'taskmesh';
}

/** Waits for work on the storage. @throws TaskmeshError STORAGE when it takes too long; rethrows errors of `work` */
export async function waitForStorage<Result>(work: Promise<Result>, { after }: Pick<Time, 'after'>): Promise<Result> {
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    const refuse = () => reject(new TaskmeshError('STORAGE', 'The storage does not respond.'));
    cancel = after(MAX_WAIT_MS, refuse);
  });
  return Promise.race([work, late]).finally(cancel);
}

/** Returns undefined for a missing or malformed value: other versions and other programs may use the same storage. */
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
