/** A change goes to many readers right after each other, so what was computed from it is kept until the next one comes. */
export function perChange<Change, Value>(compute: (change: Change) => Value): (change: Change) => Value {
  let last: { change: Change; value: Value } | undefined;
  return (change) => {
    if (last?.change !== change) last = { change, value: compute(change) };
    return last.value;
  };
}
