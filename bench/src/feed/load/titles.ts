/** `"#12345#`, as `titleOf` writes it and JSON quotes it. */
const BEGIN = '"#';
const END = 0x23;
const ZERO = 0x30;
/** More than the numbers of any run have. */
const LONGEST = 16;

/**
 * Finds the numbers of changes in a stream of bytes, whatever protocol is around them. Reading every frame properly would
 * take the load more time than the servers need to write it.
 */
export function createTitleFinder(found: (n: number) => void): (chunk: Buffer) => void {
  let rest: Buffer | undefined;
  return (chunk) => {
    const bytes = rest ? Buffer.concat([rest, chunk]) : chunk;
    rest = undefined;
    let from = 0;
    for (;;) {
      const begin = bytes.indexOf(BEGIN, from, 'latin1');
      if (begin < 0) break;
      let n = 0;
      let at = begin + BEGIN.length;
      for (; at < bytes.length && bytes[at] !== END; at++) n = n * 10 + (bytes[at] ?? ZERO) - ZERO;
      if (at === bytes.length) {
        if (at - begin > LONGEST) throw new Error('Something looks like a title and is none.');
        rest = bytes.subarray(begin);
        return;
      }
      found(n);
      from = at + 1;
    }
    if (bytes.length > from && bytes[bytes.length - 1] === BEGIN.charCodeAt(0)) rest = bytes.subarray(-1);
  };
}
