const ONE = Symbol('any character');
type Token = number | typeof ONE;

const WORD_BITS = 32;

/**
 * Compiles SQL's LIKE: `%` matches any text, `_` any single character, and a backslash escapes the next character. Follows all
 * possible matches in parallel, one bit per token: one step per character and 32 tokens, for any text and pattern.
 */
export function compileLike(pattern: string): (text: string) => boolean {
  const { tokens, anyAt } = readPattern(pattern);
  const words = Math.ceil((tokens.length + 1) / WORD_BITS);
  /** Positions where `%` allows any text. */
  const waits = new Int32Array(words);
  setBits(waits, anyAt);
  const characters = [...new Set(tokens)].filter((token) => token !== ONE);
  /** The tokens that match each character of the pattern; first, the tokens that match any other. In one array to save memory. */
  const masks = new Int32Array(words * (characters.length + 1));
  const maskAt = new Map(characters.map((character, index) => [character, (index + 1) * words]));
  for (const at of [0, ...maskAt.values()]) setBits(masks, positionsOf(tokens, ONE), at);
  for (const [character, at] of maskAt) setBits(masks, positionsOf(tokens, character), at);
  /** Bit n is set when the first n tokens match the text so far. */
  const found = new Int32Array(words);

  return (text) => {
    found.fill(0);
    found[0] = 1;
    for (let at = 0; at < text.length; at++) {
      const character = text.codePointAt(at) ?? 0;
      if (character > 0xffff) at++;
      const mask = maskAt.get(character) ?? 0;
      let carry = 0;
      let isAlive = 0;
      for (let word = 0; word < words; word++) {
        const before = found[word] ?? 0;
        const moved = before & (masks[mask + word] ?? 0);
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

/** Sets the bits at these positions, counted from the word `from`. */
function setBits(words: Int32Array, positions: number[], from = 0): void {
  for (const position of positions) {
    const word = from + Math.floor(position / WORD_BITS);
    words[word] = (words[word] ?? 0) | (1 << (position % WORD_BITS));
  }
}

function hasBit(bits: Int32Array, position: number): boolean {
  return ((bits[Math.floor(position / WORD_BITS)] ?? 0) & (1 << (position % WORD_BITS))) !== 0;
}
