let offset = offsetNow();

/** Unix time in milliseconds with its fractions: the clock that PostgreSQL's times come from. */
export function nowMs(): number {
  return performance.now() + offset;
}

/** The system's clock is steered while `performance.now` runs freely: bring the two together before each stretch. */
export function setClock(): void {
  offset = offsetNow();
}

function offsetNow(): number {
  for (const before = Date.now(); ;) {
    const now = Date.now();
    if (now !== before) return now - performance.now();
  }
}
