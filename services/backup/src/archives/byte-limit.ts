import { Transform } from 'node:stream';
import { ExtractionError } from './extraction-error.ts';

/** Passes on at most `maxBytes`; one more fails with an ExtractionError, with its `cause`. */
export function byteLimit(maxBytes: number, cause: Error): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(new ExtractionError(`The archive expands to more than ${maxBytes} bytes.`, { cause }));
      else done(null, chunk);
    },
  });
}
