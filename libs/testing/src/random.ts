/** A seeded generator (mulberry32), so that a run can be repeated with its seed. Returns numbers from 0 to below 1. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Reads a number that can be set for a test run. @throws if it is not a number */
export function numberFromEnv(name: string, otherwise: number): number {
  const value = Number(process.env[name] || otherwise);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${name} must be a whole number.`);
  return value;
}
