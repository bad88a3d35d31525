import { archives } from './archives.ts';
import { batches } from './batches.ts';
import { CASES } from './cases.ts';
import { FOUND_CASES } from './search.ts';

export const ALL_CASES = [...CASES, ...archives, ...batches, ...FOUND_CASES];
