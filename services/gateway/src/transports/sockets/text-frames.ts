/** What stands before and behind the JSON of a message. */
export interface Envelope {
  readonly before: string;
  readonly after: string;
}

/** Builds the frame of a text message, in one piece: `ws` writes its head and its text separately. */
export type FrameOf = (envelope: Envelope, json: string) => Buffer;

/**
 * Equal subscriptions get an event right after each other: its JSON is encoded once for all of them, and those whose
 * envelopes are equal, too, share the frame.
 */
export function createFrames(): FrameOf {
  let encoded: { json: string; bytes: Buffer } | undefined;
  let last: { envelope: Envelope; frame: Buffer } | undefined;
  return (envelope, json) => {
    if (encoded?.json !== json) {
      encoded = { json, bytes: Buffer.from(json) };
      last = undefined;
    }
    if (!last || !isEqual(last.envelope, envelope)) last = { envelope, frame: textFrame(envelope, encoded.bytes) };
    return last.frame;
  };
}

function isEqual(one: Envelope, other: Envelope): boolean {
  return one === other || (one.before === other.before && one.after === other.after);
}

/** A text message that is one frame, without an extension: https://www.rfc-editor.org/rfc/rfc6455#section-5.2 */
const WHOLE_TEXT = 0x81;
/** Longer lengths follow in two or eight bytes of their own, which these marks announce. */
const IN_TWO_BYTES = 126;
const IN_EIGHT_BYTES = 127;

function textFrame({ before, after }: Envelope, json: Buffer): Buffer {
  const beforeSize = Buffer.byteLength(before);
  const size = beforeSize + json.length + Buffer.byteLength(after);
  const headSize = size < IN_TWO_BYTES ? 2 : size < 0x1_0000 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headSize + size);
  frame[0] = WHOLE_TEXT;
  if (headSize === 2) frame[1] = size;
  else if (headSize === 4) {
    frame[1] = IN_TWO_BYTES;
    frame.writeUInt16BE(size, 2);
  } else {
    frame[1] = IN_EIGHT_BYTES;
    frame.writeBigUInt64BE(BigInt(size), 2);
  }
  frame.write(before, headSize);
  json.copy(frame, headSize + beforeSize);
  frame.write(after, headSize + beforeSize + json.length);
  return frame;
}
