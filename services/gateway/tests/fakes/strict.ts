/** For the rest of an object whose other parts a fake knows: it would ignore them. */
export function refuseMore(others: object): void {
  const names = Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (names.length > 0) throw new Error(`The fake does not know ${names.join(', ')}.`);
}
