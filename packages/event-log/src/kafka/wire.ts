/** Reads the "flexible" encoding of Kafka's protocol sequentially. */
export interface WireReader {
  int8(): number;
  int16(): number;
  int32(): number;
  uuid(): string;
  /** Empty for null. */
  string(): string;
  array<Item>(readItem: () => Item): Item[];
  skipTags(): void;
}

/** @throws RangeError when the input ends too early */
export function createWireReader(bytes: Buffer): WireReader {
  let position = 0;
  const advance = (length: number) => (position += length) - length;

  const unsignedVarint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes.readUInt8(advance(1));
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  /** The length of a string or array is encoded plus one; 0 is null. */
  const length = () => Math.max(unsignedVarint() - 1, 0);
  const text = (encoding: 'utf8' | 'hex', size: number) => {
    const begin = advance(size);
    if (position > bytes.length) throw new RangeError('The answer of the broker ends too early.');
    return bytes.toString(encoding, begin, position);
  };

  return {
    int8: () => bytes.readInt8(advance(1)),
    int16: () => bytes.readInt16BE(advance(2)),
    int32: () => bytes.readInt32BE(advance(4)),
    uuid: () => text('hex', 16),
    string: () => text('utf8', length()),
    array: (readItem) => Array.from({ length: length() }, readItem),
    skipTags() {
      for (let tags = unsignedVarint(); tags > 0; tags -= 1) {
        unsignedVarint();
        advance(unsignedVarint());
      }
    },
  };
}

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
