// Plain JavaScript, for any Node from 20 and with nothing installed: the launchers use it, too.

/** Shorter names are the beginning of too many others. */
const MIN_LENGTH = 3;

/** Which of `names` is meant by `given`: the one that differs by one slip or has more words; undefined when none is near. */
export function nearestName(given, names) {
  return (
    names.find((name) => isOneSlipAway(given, name)) ??
    names.find((name) => given.length >= MIN_LENGTH && name.startsWith(given))
  );
}

/** One character too many, too few or wrong, or two neighbours swapped. */
export function isOneSlipAway(left, right) {
  let begin = 0;
  while (begin < left.length && left[begin] === right[begin]) begin++;
  const [a, b] = [left.slice(begin), right.slice(begin)];
  const isSwapped = a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2);
  return isSwapped || a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1);
}
