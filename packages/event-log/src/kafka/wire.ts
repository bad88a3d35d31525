/** Reads the "flexible" encoding of Kafka's protocol sequentially. @throws RangeError when the input ends too early */
export function createWireReader(bytes: Buffer) {
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
    if (position > bytes.length) throw new RangeError('The response of the broker ends too early.');
    return bytes.toString(encoding, begin, position);
  };

  return {
    int8: () => bytes.readInt8(advance(1)),
    int16: () => bytes.readInt16BE(advance(2)),
    int32: () => bytes.readInt32BE(advance(4)),
    uuid: () => text('hex', 16),
    /** Returns an empty string for null. */
    string: () => text('utf8', length()),
    array: <Item>(readItem: () => Item): Item[] => Array.from({ length: length() }, readItem),
    skipTags() {
      for (let tags = unsignedVarint(); tags > 0; tags -= 1) {
        unsignedVarint();
        advance(unsignedVarint());
      }
    },
  };
}
