import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';

const EPOCH_BYTES = 4;
const SEQUENCE_BYTES = 6;
const MAC_BYTES = 16;
const POSITION_BYTES = EPOCH_BYTES + SEQUENCE_BYTES;
/** Completes the last base64url group, so that each cursor has exactly one encoding. */
const PADDING_BYTES = 1;
const CURSOR_LENGTH = ((POSITION_BYTES + MAC_BYTES + PADDING_BYTES) / 3) * 4;
const FORMAT = 1;

/** The last change at this position; 0 is before the first one. */
interface FeedPosition {
  epoch: number;
  sequence: number;
}

/** Encodes a position in an owner's feed as an opaque string. It omits the owner, but the signature covers the owner. */
export function sealCursor(key: KeyObject, ownerId: string, { epoch, sequence }: FeedPosition): string {
  const bytes = Buffer.alloc(PADDING_BYTES + POSITION_BYTES + MAC_BYTES);
  bytes[0] = FORMAT;
  bytes.writeUInt32BE(epoch, PADDING_BYTES);
  bytes.writeUIntBE(sequence, PADDING_BYTES + EPOCH_BYTES, SEQUENCE_BYTES);
  macOf(key, ownerId, bytes).copy(bytes, PADDING_BYTES + POSITION_BYTES);
  return bytes.toString('base64url');
}

/** Returns undefined for anything that was not sealed with this key for this owner. */
export function unsealCursor(key: KeyObject, ownerId: string, cursor: string): FeedPosition | undefined {
  if (cursor.length !== CURSOR_LENGTH) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.toString('base64url') !== cursor || bytes[0] !== FORMAT) return undefined;
  if (!timingSafeEqual(bytes.subarray(PADDING_BYTES + POSITION_BYTES), macOf(key, ownerId, bytes))) return undefined;
  return {
    epoch: bytes.readUInt32BE(PADDING_BYTES),
    sequence: bytes.readUIntBE(PADDING_BYTES + EPOCH_BYTES, SEQUENCE_BYTES),
  };
}

function macOf(key: KeyObject, ownerId: string, bytes: Buffer): Buffer {
  const mac = createHmac('sha256', key)
    .update(bytes.subarray(0, PADDING_BYTES + POSITION_BYTES))
    .update(ownerId.toLowerCase());
  return mac.digest().subarray(0, MAC_BYTES);
}
