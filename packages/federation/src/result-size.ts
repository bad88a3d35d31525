/** The maximum size of a result: the characters of its texts, and for all else about what it takes in memory. */
const MAX_SIZE = 32 * 1024 * 1024;
export const VALUE_SIZE = 16;
/** Of an error, or of an omitted value, with its path. */
export const FAILURE_SIZE = 512;

/**
 * What is left for the result of an operation. A short response of a service may become a large result: one object belongs
 * to many places, an alias repeats a text, an error concerns many fields.
 */
export interface Room {
  left: number;
}

export const createRoom = (): Room => ({ left: MAX_SIZE });

/** @throws ResultTooLarge, from then on at each call */
export function take(room: Room, size: number): void {
  room.left -= size;
  if (!(room.left >= 0)) throw new ResultTooLarge('The result is too large; request less.');
}

/** Takes the size of further places of an error, which is sent once for each. */
export function takePlaces(room: Room, paths: readonly (readonly unknown[])[], { message, extensions }: Failure): void {
  if (paths.length < 2) return;
  const { left } = room;
  takeContent(room, { extensions });
  const size = FAILURE_SIZE + String(message ?? '').length + left - room.left;
  for (const path of paths) take(room, size + String(path).length);
}

interface Failure {
  message?: unknown;
  extensions?: unknown;
}

/** Takes the size of a value itself: lists and objects consist of further values. */
export const takeValue = (room: Room, value?: unknown): void =>
  take(room, typeof value === 'string' ? VALUE_SIZE + value.length : VALUE_SIZE);

/** Takes the size of everything in a list or object. Without recursion, because a service may nest a scalar deeply. */
export function takeContent(room: Room, value: object): void {
  const open = [value];
  const takeInner = (inner: unknown) => {
    takeValue(room, inner);
    if (typeof inner === 'object' && inner !== null) open.push(inner);
  };
  for (const each of open) {
    if (Array.isArray(each)) for (const inner of each) takeInner(inner);
    else
      for (const key in each) {
        take(room, key.length);
        takeInner(each[key as keyof object]);
      }
  }
}

export class ResultTooLarge extends Error {
  readonly extensions = { code: 'PAYLOAD_TOO_LARGE' };
}
