/**
 * The greatest weight that an `Accept` header gives to the ranges that are meant (RFC 9110, 12.5.1); 0 when it has none
 * of them, or refuses them.
 */
export function weightIn(accept: string, isMeant: (range: string) => boolean): number {
  return Math.max(0, ...rangesIn(accept).filter(isMeant).map(weightOf));
}

/** The more specific ranges decide. */
const JSON_RANGES = [/^application\/(?:json|graphql-response\+json)(?:;|$)/, /^application\/\*/, /^\*\/\*/];

/** How much a client wants JSON. */
export function jsonWeightIn(accept: string): number {
  const ranges = rangesIn(accept);
  const deciding = JSON_RANGES.find((pattern) => ranges.some((range) => pattern.test(range)));
  return deciding ? weightIn(accept, (range) => deciding.test(range)) : 0;
}

/** Whether a client accepts what is meant, and at least as much as JSON. */
export function isWanted(accept: string | undefined, isMeant: (range: string) => boolean): boolean {
  const weight = weightIn(accept ?? '', isMeant);
  return weight > 0 && weight >= jsonWeightIn(accept ?? '');
}

const rangesIn = (accept: string) =>
  accept
    .toLowerCase()
    .split(',')
    .map((range) => range.replaceAll(/\s/g, ''));

const weightOf = (range: string) => Number(/;q=([\d.]+)/.exec(range)?.[1] ?? 1);
