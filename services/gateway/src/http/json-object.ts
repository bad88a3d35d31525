import { isObject } from '@taskmesh/service';
import { isUtf8 } from 'node:buffer';
import { invalidBody } from './json-bytes.ts';

const MAX_DEPTH = 32;

/**
 * Parses a body as a JSON object. The last of repeated keys wins; a byte order mark is skipped.
 * @throws AppError BAD_USER_INPUT for invalid UTF-8, invalid JSON, anything but an object, and nesting beyond 32 levels
 */
export function parseJsonObject(bytes: Buffer): object {
  if (!isUtf8(bytes)) throw invalidBody('The body is not valid UTF-8.');
  const value = parse(bytes);
  if (!isObject(value)) throw invalidBody('The body must be a JSON object.');
  if (isTooDeep(value)) throw invalidBody(`The body is nested deeper than ${MAX_DEPTH} levels.`);
  return value;
}

function parse(bytes: Buffer): unknown {
  const text = bytes.toString();
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    throw invalidBody('The body is not valid JSON.'); // the parser's own message would repeat parts of the body
  }
}

/** Whether untrusted input is nested so deeply that processing it could overflow the stack. */
export function isTooDeep(value: object): boolean {
  return isDeeperThan(value, MAX_DEPTH);
}

function isDeeperThan(value: object, levels: number): boolean {
  if (levels === 0) return true;
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null && isDeeperThan(inner, levels - 1)) return true;
  }
  return false;
}
