export interface RestoreWishes {
  /** Whether what the stores have no place for is left out of an archive that was made here. @default false */
  allowLoss?: boolean | undefined;
  /** Which stores; the service knows their names. @default all that the archive holds */
  stores?: string[] | undefined;
}

/** As a query string goes on; empty without any. */
export function queryOfWishes({ allowLoss, stores }: RestoreWishes): string {
  return [allowLoss && '&allowLoss=true', stores && `&stores=${stores.map(encodeURIComponent).join(',')}`]
    .filter(Boolean)
    .join('');
}

/** What a query says. A name of a store that is none stays in it: who knows the names refuses it. */
export function wishesOf(query: unknown): RestoreWishes {
  const { allowLoss, stores } = (query ?? {}) as Record<string, unknown>;
  return {
    allowLoss: allowLoss === 'true',
    stores:
      stores === undefined ? undefined : [stores].flat().flatMap((names) => String(names).split(',').filter(Boolean)),
  };
}
