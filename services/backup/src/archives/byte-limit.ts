import { Transform } from 'node:stream';
import { ExtractionError } from './extraction-error.ts';

/** Lets through what comes, up to a number of bytes; one more is an ExtractionError, `cause` being why there is no room for it. */
export function byteLimit(maxBytes: number, cause?: Error): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(new ExtractionError(`The archive expands to more than ${maxBytes} bytes.`, { cause }));
      else done(null, chunk);
    },
  });
}
