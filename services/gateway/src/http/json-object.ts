import { isObject } from '@taskmesh/service';
import { isUtf8 } from 'node:buffer';
import { invalidBody } from './json-bytes.ts';

const MAX_DEPTH = 32;
/** Keys and values together. A body of 1 MiB could have hundreds of thousands, and each is looked at several times. */
const MAX_PARTS = 10_000;

/**
 * Parses a body as a JSON object. The last of repeated keys wins; a byte order mark is skipped.
 * @throws AppError BAD_USER_INPUT for invalid UTF-8, invalid JSON, anything but an object, too many keys and values, and
 * nesting beyond 32 levels
 */
export function parseJsonObject(bytes: Buffer, parseText: (text: string) => unknown = JSON.parse): object {
  if (!isUtf8(bytes)) throw invalidBody('The body is not valid UTF-8.');
  if (hasTooManyParts(bytes)) throw invalidBody('The body has more than 10,000 keys and values.');
  const value = parse(bytes, parseText);
  if (!isObject(value)) throw invalidBody('The body must be a JSON object.');
  if (isTooDeep(value)) throw invalidBody(`The body is nested deeper than ${MAX_DEPTH} levels.`);
  return value;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** In front of each key and value, except the outermost; and in empty lists and objects, which count twice. */
const BEFORE_PART = new Set(Buffer.from('{[,:'));

/** Counted before it is parsed, as that takes long, too. */
function hasTooManyParts(bytes: Buffer): boolean {
  if (bytes.length < MAX_PARTS) return false;
  let parts = 1;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number; // within its length
    if (byte === QUOTE) isText = !isText;
    else if (isText && byte === BACKSLASH) at++;
    else if (!isText && BEFORE_PART.has(byte) && ++parts > MAX_PARTS) return true;
  }
  return false;
}

function parse(bytes: Buffer, parseText: (text: string) => unknown): unknown {
  const text = bytes.toString();
  try {
    return parseText(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
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
