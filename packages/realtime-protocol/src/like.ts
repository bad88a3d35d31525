const ONE = Symbol('any character');
type Token = number | typeof ONE;

const WORD_BITS = 32;

/**
 * SQL's LIKE: `%` matches any text, `_` any one character, a backslash escapes the next character. All possible matches
 * are followed in parallel, one bit per token: one step per character and 32 tokens, for any text and pattern.
 */
export function compileLike(pattern: string): (text: string) => boolean {
  const { tokens, anyAt } = readPattern(pattern);
  const words = Math.ceil((tokens.length + 1) / WORD_BITS);
  /** Where `%` allows any text to pass. */
  const waits = bitsOf(anyAt, words);
  const wildcards = tokens.flatMap((token, at) => (token === ONE ? at : []));
  const takesAny = bitsOf(wildcards, words);
  /** The tokens that match a character, by its code point. */
  const takes = new Map<number, Int32Array>();
  for (const token of new Set(tokens))
    if (token !== ONE) takes.set(token, bitsOf([...wildcards, ...positionsOf(tokens, token)], words));
  /** Bit n is set when the first n tokens match the text so far. */
  const found = new Int32Array(words);

  return (text) => {
    found.fill(0);
    found[0] = 1;
    for (let at = 0; at < text.length; at++) {
      const character = text.codePointAt(at) ?? 0;
      if (character > 0xffff) at++;
      const taking = takes.get(character) ?? takesAny;
      let carry = 0;
      let isAlive = 0;
      for (let word = 0; word < words; word++) {
        const before = found[word] ?? 0;
        const moved = before & (taking[word] ?? 0);
        const after = (moved << 1) | carry | (before & (waits[word] ?? 0));
        carry = moved >>> (WORD_BITS - 1);
        found[word] = after;
        isAlive |= after;
      }
      if (isAlive === 0) return false;
    }
    return hasBit(found, tokens.length);
  };
}

function readPattern(pattern: string): { tokens: Token[]; anyAt: number[] } {
  const characters = [...pattern];
  const tokens: Token[] = [];
  const anyAt: number[] = [];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? '';
    if (character === '%') anyAt.push(tokens.length);
    else if (character === '_') tokens.push(ONE);
    else if (character === '\\' && index + 1 < characters.length) tokens.push(characters[++index]?.codePointAt(0) ?? 0);
    else tokens.push(character.codePointAt(0) ?? 0);
  }
  return { tokens, anyAt };
}

function positionsOf(tokens: Token[], wanted: Token): number[] {
  return tokens.flatMap((token, at) => (token === wanted ? at : []));
}

function bitsOf(positions: number[], words: number): Int32Array {
  const bits = new Int32Array(words);
  for (const position of positions) {
    const word = Math.floor(position / WORD_BITS);
    bits[word] = (bits[word] ?? 0) | (1 << (position % WORD_BITS));
  }
  return bits;
}

function hasBit(bits: Int32Array, position: number): boolean {
  return ((bits[Math.floor(position / WORD_BITS)] ?? 0) & (1 << (position % WORD_BITS))) !== 0;
}
