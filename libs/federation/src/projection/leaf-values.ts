import { isExactInteger } from '../exact-json.ts';
import type { Leaf } from './projection-plan.ts';
import { quote } from './quote.ts';

const MAX_INT = 2_147_483_647;
const MIN_INT = -2_147_483_648;

/** Writes a non-null value as JSON; empty when it is not valid for the type. */
export type WriteLeaf = (value: unknown) => string;

export function leafWriter(leaf: Leaf): WriteLeaf {
  if (typeof leaf === 'object') {
    const texts = new Map([...leaf].map((name) => [name as unknown, `"${name}"`]));
    return (value) => texts.get(value) ?? '';
  }
  switch (leaf) {
    case 'String':
      return (value) => (typeof value === 'string' ? quote(value) : '');
    case 'ID':
      return (value) => {
        if (typeof value === 'string') return quote(value);
        const id = idOf(value);
        return id === undefined ? '' : `"${id}"`;
      };
    case 'Int':
      return (value) => (isInt(value) ? String(value) : '');
    case 'Float':
      return (value) => String(floatOf(value) ?? '');
    case 'Boolean':
      return (value) => (value === true ? 'true' : value === false ? 'false' : '');
    case 'custom':
      return (value) => JSON.stringify(value);
  }
}

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
