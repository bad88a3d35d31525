import { archives } from './archives.ts';
import { batches } from './batches.ts';
import { documents } from './documents.ts';
import { requests } from './http.ts';
import { realtime } from './realtime.ts';
import { FOUND_CASES } from './search.ts';

export const ALL_CASES = [...documents, ...requests, ...realtime, ...archives, ...batches, ...FOUND_CASES];

/** The largest response, a body that is kept, the longest execution, and the most filters: enough for `npm test`. */
const SOON = [
  ...['two pages of 1,000 tasks', '1 MiB but for its last byte', '1,900 fields of 30 aliases'],
  'a join with 100 filters',
];
const LATER = [
  ...['introspection, as tools send it', 'a text of 1 MiB, to /graphql', 'gzip of 1 MiB of blanks, to /graphql'],
  ...['4,000 pieces of a byte', 'a message in 4,000 pieces, without an end', 'a page of 1,000 tasks'],
  ...['a list of 1,000 tasks', 'the export of an account'],
];

const casesOf = (names: readonly string[]) => ALL_CASES.filter(({ name }) => names.includes(name));

/** The cases that temporarily hold the most memory. */
export const CROWDED = casesOf([...SOON, ...LATER]);
/** Those of them that this run measures. */
export const CROWDED_HERE = process.env.TASKMESH_LONG ? CROWDED : casesOf(SOON);
