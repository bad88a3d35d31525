import { randomBytes } from 'node:crypto';

const TEXT = 1;
const PONG = 10;

/** A client's text frame, masked as the protocol has it. */
export function textFrame(text: string): Buffer {
  return frame(TEXT, Buffer.from(text));
}

/** Tells a server that the client lives, without being asked: so the load need not look for the server's pings. */
export const PONG_FRAME = frame(PONG, Buffer.alloc(0));

function frame(opcode: number, payload: Buffer): Buffer {
  const size = payload.length;
  const isShort = size < 126;
  const head = Buffer.from(
    isShort ? [0x80 | opcode, 0x80 | size] : [0x80 | opcode, 0x80 | 126, size >> 8, size & 0xff],
  );
  const mask = randomBytes(4);
  const masked = Buffer.from(payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0)));
  return Buffer.concat([head, mask, masked]);
}
