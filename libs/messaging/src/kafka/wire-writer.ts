/** Writes Kafka's protocol into a buffer of the right size, from its beginning. */
export interface WireWriter {
  /** Where the next byte goes. */
  position(): number;
  int8(value: number): void;
  int16(value: number): void;
  int32(value: number): void;
  /** Of integers that a number holds exactly. */
  int64(value: number): void;
  /** Zigzag encoded; not for negative values. */
  varint(value: number): void;
  /** Without its length. */
  text(text: string): void;
}

/** How many bytes `varint` writes. */
export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = (value << 1) >>> 0; rest > 0x7f; rest >>>= 7) bytes += 1;
  return bytes;
}

/** @throws RangeError when the buffer is too small for a number */
export function createWireWriter(bytes: Buffer): WireWriter {
  let position = 0;
  return {
    position: () => position,
    int8: (value) => void (position = bytes.writeInt8(value, position)),
    int16: (value) => void (position = bytes.writeInt16BE(value, position)),
    int32: (value) => void (position = bytes.writeInt32BE(value, position)),
    int64(value) {
      position = bytes.writeInt32BE(Math.floor(value / 2 ** 32), position);
      position = bytes.writeUInt32BE(value >>> 0, position);
    },
    varint(value) {
      let rest = (value << 1) >>> 0;
      for (; rest > 0x7f; rest >>>= 7) bytes[position++] = (rest & 0x7f) | 0x80;
      bytes[position++] = rest;
    },
    text: (text) => void (position += bytes.write(text, position)),
  };
}
