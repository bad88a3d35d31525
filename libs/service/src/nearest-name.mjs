// Plain JavaScript for Node 20 or later without any packages, because the launchers use it as well.

/** Shorter names are a prefix of too many others. */
const MIN_LENGTH = 3;

/** Returns the name that `given` probably means: one slip away, or beginning with it; undefined when none is near. */
export function nearestName(given, names) {
  return (
    names.find((name) => isOneTypoApart(given, name)) ??
    names.find((name) => given.length >= MIN_LENGTH && name.startsWith(given))
  );
}

/** One character too many, too few or wrong, or two neighbours swapped. */
export function isOneTypoApart(left, right) {
  let begin = 0;
  while (begin < left.length && left[begin] === right[begin]) begin++;
  const [a, b] = [left.slice(begin), right.slice(begin)];
  const isSwapped = a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2);
  return isSwapped || a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1);
}
