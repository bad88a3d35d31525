import { archives } from './archives.ts';
import { batches } from './batches.ts';
import { documents } from './documents.ts';
import { requests } from './http.ts';
import { realtime } from './realtime.ts';
import { FOUND_CASES } from './search.ts';

export const ALL_CASES = [...documents, ...requests, ...realtime, ...archives, ...batches, ...FOUND_CASES];

const MANY_AT_ONCE = new Set([
  ...['1,900 fields of 30 aliases', 'two pages of 1,000 tasks', 'introspection, as tools send it'],
  ...['a text of 1 MiB, to /graphql', 'gzip of 1 MiB of blanks, to /graphql', '1 MiB but for its last byte'],
  ...['4,000 pieces of a byte', 'a message in 4,000 pieces, without an end', 'a page of 1,000 tasks'],
  ...['a list of 1,000 tasks', 'the export of an account', 'a join with 100 filters'],
]);

/** The cases that temporarily hold the most memory. */
export const CROWDED = ALL_CASES.filter(({ name }) => MANY_AT_ONCE.has(name));
