/** For the rest of an object whose other parts a fake knows: it would ignore them. */
export function refuseMore(others: object): void {
  const names = Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (names.length > 0) throw new Error(`The fake does not know ${names.join(', ')}.`);
}

/** An object of which only these parts are used: any other fails, where it would be undefined. */
export function only<Parts extends object>(what: string, parts: Parts): Parts {
  return new Proxy(parts, {
    get(_parts, name) {
      if (name in parts) return parts[name as keyof Parts];
      throw new Error(`The fake ${what} has no ${String(name)}.`);
    },
  });
}
