import { isExactInteger } from '../exact-json.ts';
import type { Leaf } from './projection-plan.ts';

const MAX_INT = 2_147_483_647;
const MIN_INT = -2_147_483_648;

/** The value as sent to the client; undefined when it is not valid for the type. */
export function leafValue(leaf: Leaf, value: unknown): unknown {
  if (typeof leaf === 'object') return leaf.has(value as string) ? value : undefined; // a set's elements are strings
  switch (leaf) {
    case 'String':
      return typeof value === 'string' ? value : undefined;
    case 'ID':
      return typeof value === 'string' ? value : idOf(value);
    case 'Int':
      return isInt(value) ? value : undefined;
    case 'Float':
      return floatOf(value);
    case 'Boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'custom':
      return value;
  }
}

function idOf(value: unknown): string | undefined {
  if (Number.isInteger(value)) return String(value);
  return isExactInteger(value) ? value.rawJSON : undefined;
}

function floatOf(value: unknown): number | undefined {
  const number = isExactInteger(value) ? Number(value.rawJSON) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

function isInt(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) <= MAX_INT && (value as number) >= MIN_INT;
}
