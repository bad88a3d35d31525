import { Transform } from 'node:stream';
import { ExtractionError } from './extraction-error.ts';

/** Lets through what comes, up to a number of bytes; one more is an ExtractionError. */
export function byteLimit(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(new ExtractionError(`The archive expands to more than ${maxBytes} bytes.`));
      else done(null, chunk);
    },
  });
}

/** Lets everything through, and tells how much it was. */
export function byteCount(onBytes: (bytes: number) => void = () => undefined): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onBytes((bytes += chunk.length));
      done(null, chunk);
    },
  });
}
