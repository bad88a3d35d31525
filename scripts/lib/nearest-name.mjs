/** Which of `names` is meant by `given`: the one with the fewest slips between, if they are few for its length. */
export function nearestName(given, names) {
  const [nearest] = names
    .map((name) => ({ name, slips: isSaidOtherwise(given, name) ? 1 : slipsBetween(given, name) }))
    .filter(({ name, slips }) => slips <= Math.max(1, Math.floor(name.length / 4)))
    .sort((one, other) => one.slips - other.slips || one.name.length - other.name.length);
  return nearest?.name;
}

/** Without the last words, or a part of what is a URL with us. */
function isSaidOtherwise(given, name) {
  return name.startsWith(`${given}_`) || given.replace(/_HOST$/, '_URL') === name;
}

/** How many characters are too many, too few or wrong, or swapped with their neighbours (Damerau's distance). */
function slipsBetween(left, right) {
  let [beforeLast, last] = [[], Array.from({ length: right.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1];
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current[column] = Math.min(
        last[column] + 1,
        current[column - 1] + 1,
        last[column - 1] + (isSame ? 0 : 1),
        isSwapped ? beforeLast[column - 2] + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[right.length];
}
