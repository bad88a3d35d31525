import { badUserInput } from '@taskmesh/errors';
import { isOneSlipAway } from '@taskmesh/service';
import { listOf } from './known-parameters.ts';

export interface RestoreWishes {
  /** Whether what the stores have no place for is left out of an archive that was made here. @default false */
  allowLoss?: boolean | undefined;
  /** Which stores; the service knows their names. @default all that the archive holds */
  stores?: string[] | undefined;
  /** Whether an archive of what is replaced is made before. @default as the service is set */
  safetyBackup?: boolean | undefined;
  /** What an archive was that somebody has decrypted elsewhere, and what is told of the restore. @default the file */
  decryptedFrom?: string | undefined;
}

/** What may be said of a restore, and of trying one. */
export const RESTORE_PARAMETERS = ['file', 'allowLoss', 'stores', 'safetyBackup', 'decryptedFrom'] as const;

/** As a query string goes on; empty without any. */
export function queryOfWishes({ allowLoss, stores, safetyBackup, decryptedFrom }: RestoreWishes = {}): string {
  return [
    allowLoss ? '&allowLoss=true' : '',
    stores ? `&stores=${stores.map(encodeURIComponent).join(',')}` : '',
    safetyBackup === undefined ? '' : `&safetyBackup=${safetyBackup}`,
    decryptedFrom === undefined ? '' : `&decryptedFrom=${encodeURIComponent(decryptedFrom)}`,
  ].join('');
}

const STORES = 'Stores are named by the parameter stores.';
const SAFETY = 'The parameter safetyBackup is true or false.';

/**
 * By their letters, names that are ours but for how they are written, or that the command line has, or that one would guess:
 * passed over, something else would be done than was meant. Others mean nothing, and anybody may send them.
 */
const MISTAKEN = new Map([
  ['store', STORES],
  ['stores', STORES],
  ['only', STORES],
  ['allowloss', 'The parameter allowLoss is written like that.'],
  ['safetybackup', SAFETY],
  ['nosafetybackup', SAFETY],
  ['decryptedfrom', 'The parameter decryptedFrom is written like that.'],
  ['dryrun', 'A dry run has a path of its own.'],
]);

/** What a query says. A name that is no store's stays in it: who knows the names refuses it. @throws AppError BAD_USER_INPUT */
export function wishesOf(query: unknown): RestoreWishes {
  const { allowLoss, stores, safetyBackup, decryptedFrom, ...others } = (query ?? {}) as Record<string, unknown>;
  for (const name of Object.keys(others)) {
    const hint = hintFor(name.replaceAll(/[^a-z]/gi, '').toLowerCase());
    if (hint !== undefined) throw badUserInput([], `${hint} ${listOf(RESTORE_PARAMETERS)}`);
  }
  return {
    allowLoss: allowLoss === 'true',
    stores: namesOf(stores),
    safetyBackup: flagOf('safetyBackup', safetyBackup),
    decryptedFrom: nameOf('decryptedFrom', decryptedFrom),
  };
}

/** Shorter ones are near to too many others. */
const MIN_LENGTH = 5;

const hintFor = (letters: string): string | undefined =>
  MISTAKEN.get(letters) ??
  [...MISTAKEN].find(([name]) => letters.length >= MIN_LENGTH && isOneSlipAway(letters, name))?.[1];

/** An empty name stays: it is no store's. */
const namesOf = (value: unknown): string[] | undefined =>
  value === undefined ? undefined : [value].flat().flatMap((names) => (names === '' ? [] : String(names).split(',')));

function nameOf(name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw badUserInput([{ path: name, message: 'must be one name' }], `${name} must be one name.`);
}

/** Of what must not be passed over when it is misspelt. */
function flagOf(name: string, value: unknown): boolean | undefined {
  if (value === undefined) return undefined;
  if (value !== 'true' && value !== 'false')
    throw badUserInput([{ path: name, message: 'must be true or false' }], `${name} must be true or false.`);
  return value === 'true';
}
