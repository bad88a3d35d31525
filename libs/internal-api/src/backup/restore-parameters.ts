import { badUserInput } from '@taskmesh/errors';
import { isOneSlipAway } from '@taskmesh/service';
import { listOf } from './known-parameters.ts';

export interface RestoreParameters {
  /** Whether tables and columns that the stores do not have are left out of an archive that was made here. @default false */
  allowLoss?: boolean | undefined;
  /** The service knows their names. @default all that the archive holds */
  stores?: string[] | undefined;
  /** Whether what is replaced is backed up first. @default a setting of the service */
  safetyBackup?: boolean | undefined;
  /** The name of the archive before it was decrypted elsewhere; messages use it. @default the file */
  decryptedFrom?: string | undefined;
}

/** Of a restore, and of a dry run. */
export const RESTORE_PARAMETERS = ['file', 'allowLoss', 'stores', 'safetyBackup', 'decryptedFrom'] as const;

/** To be appended to a query string. */
export function queryOfRestore({ allowLoss, stores, safetyBackup, decryptedFrom }: RestoreParameters = {}): string {
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
 * By their letters: other spellings of our parameters, options of the command line, and likely guesses. If these were ignored,
 * the restore would do something else than was meant. All other names are ignored.
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

/** Unknown names of stores are left to the service, which refuses them. @throws AppError BAD_USER_INPUT */
export function restoreParametersOf(query: unknown): RestoreParameters {
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

/** Shorter ones resemble too many others. */
const MIN_LENGTH = 5;

const hintFor = (letters: string): string | undefined =>
  MISTAKEN.get(letters) ??
  [...MISTAKEN].find(([name]) => letters.length >= MIN_LENGTH && isOneSlipAway(letters, name))?.[1];

/** An empty name stays, so that the service refuses it. */
const namesOf = (value: unknown): string[] | undefined =>
  value === undefined ? undefined : [value].flat().flatMap((names) => (names === '' ? [] : String(names).split(',')));

function nameOf(name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw badUserInput([{ path: name, message: 'must be one name' }], `${name} must be one name.`);
}

function flagOf(name: string, value: unknown): boolean | undefined {
  if (value === undefined) return undefined;
  if (value !== 'true' && value !== 'false')
    throw badUserInput([{ path: name, message: 'must be true or false' }], `${name} must be true or false.`);
  return value === 'true';
}
