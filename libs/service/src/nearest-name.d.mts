export function nearestName(given: string, names: readonly string[]): string | undefined;
export function isOneTypoApart(left: string, right: string): boolean;
