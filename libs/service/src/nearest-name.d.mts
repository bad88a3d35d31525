export function nearestName(given: string, names: readonly string[]): string | undefined;
export function isOneSlipAway(left: string, right: string): boolean;
