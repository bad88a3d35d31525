import { badUserInput } from '@taskmesh/contracts';
import type { IncomingMessage } from 'node:http';
import { headerValues } from '../http/client.ts';

const VERSION_TAG = /^"([1-9]\d{0,9})"$/;
/** RFC 9110, 8.8.3 and 13.1.1. */
const TAG = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
export const IF_MATCH = new RegExp(`^(?:\\*|${TAG}(?:[ \\t]*,[ \\t]*${TAG})*)$`);
const MAX_VERSION = 2 ** 31 - 1;
/** Versions begin at 1. */
const NO_VERSION = 0;

export const etagOf = (version: number) => `"${version}"`;

/**
 * The versions that an `If-Match` header allows; undefined for any. Foreign and weak tags match none.
 * @throws AppError BAD_USER_INPUT for anything but a list of tags: an unquoted version must not pass for a mismatch
 */
export function versionsIn(ifMatch: string | undefined): [number, ...number[]] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  if (!IF_MATCH.test(ifMatch.trim())) {
    const message = 'If-Match must be * or tags in double quotes, as ETag gives them.';
    throw badUserInput([{ path: 'If-Match', message }]);
  }
  const [first = NO_VERSION, ...others] = ifMatch.split(',').flatMap((tag) => versionOf(tag.trim()) ?? []);
  return [first, ...others];
}

function versionOf(tag: string): number | undefined {
  const digits = VERSION_TAG.exec(tag)?.[1];
  return digits !== undefined && Number(digits) <= MAX_VERSION ? Number(digits) : undefined;
}

/** Whether the client already has this version (`If-None-Match`). An invalid list matches nothing. */
export function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}

/** HTTP strips the white space around it. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** @throws AppError BAD_USER_INPUT for anything but one header of 1 to 255 printable ASCII characters */
export function idempotencyKeyOf(request: IncomingMessage): string | null {
  const [key, ...others] = headerValues(request, 'idempotency-key');
  if (key === undefined) return null;
  if (others.length === 0 && IDEMPOTENCY_KEY.test(key)) return key;
  const rule = others.length > 0 ? 'be sent once' : 'have 1 to 255 printable ASCII characters';
  const message = `Idempotency-Key must ${rule}.`;
  throw badUserInput([{ path: 'Idempotency-Key', message }]);
}
