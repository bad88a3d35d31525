import type { TaskChanged } from '@taskmesh/contracts';

/** A change goes to many readers right after each other, so what was computed from it is kept until the next one comes. */
export function perChange<Value>(compute: (change: TaskChanged) => Value): (change: TaskChanged) => Value {
  let last: { change: TaskChanged; value: Value } | undefined;
  return (change) => {
    if (last?.change !== change) last = { change, value: compute(change) };
    return last.value;
  };
}
