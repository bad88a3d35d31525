import { badUserInput } from '@taskmesh/contracts';
import { isOneTypoApart } from '@taskmesh/service';

const unknownParameter = (names: readonly string[]) =>
  badUserInput(
    [],
    `There is an unknown query parameter. There ${names.length === 1 ? 'is' : 'are'}: ${names.join(', ')}.`,
  );

/** Refuses unknown parameters on our own paths, because they may be misspelt. @throws AppError BAD_USER_INPUT */
export function refuseUnknownParameters(query: unknown, names: readonly string[]): void {
  if (Object.keys(query ?? {}).some((name) => name !== '' && !names.includes(name))) throw unknownParameter(names);
}

export interface RestoreParameters {
  /** Whether to leave out tables and columns that the stores lack, for archives made by Taskmesh. @default false */
  allowLoss?: boolean | undefined;
  /** Validated by the service. @default all that the archive contains */
  stores?: string[] | undefined;
  /** Whether to make a backup first. @default a setting of the service */
  safetyBackup?: boolean | undefined;
  /** The archive's name before it was decrypted elsewhere, for messages. @default the file */
  decryptedFrom?: string | undefined;
}

export const RESTORE_PARAMETERS = ['file', 'allowLoss', 'stores', 'safetyBackup', 'decryptedFrom'] as const;

/** To append to a query string. */
export function queryOfRestore({ allowLoss, stores, safetyBackup, decryptedFrom }: RestoreParameters = {}): string {
  return [
    allowLoss ? '&allowLoss=true' : '',
    stores ? `&stores=${stores.map(encodeURIComponent).join(',')}` : '',
    safetyBackup === undefined ? '' : `&safetyBackup=${safetyBackup}`,
    decryptedFrom === undefined ? '' : `&decryptedFrom=${encodeURIComponent(decryptedFrom)}`,
  ].join('');
}

/**
 * Other spellings of our parameters, command-line options, and likely guesses, with their letters only. Ignoring one of
 * these would make the restore do something unintended. Any other name is ignored.
 */
const MISTAKEN = ['store', 'stores', 'only', 'allowloss', 'safetybackup', 'nosafetybackup', 'decryptedfrom', 'dryrun'];

/** The service refuses unknown store names. @throws AppError BAD_USER_INPUT */
export function restoreParametersOf(query: unknown): RestoreParameters {
  const { allowLoss, stores, safetyBackup, decryptedFrom, ...others } = (query ?? {}) as Record<string, unknown>;
  if (Object.keys(others).some(looksMistaken)) throw unknownParameter(RESTORE_PARAMETERS);
  return {
    allowLoss: allowLoss === 'true',
    stores: namesOf(stores),
    safetyBackup: flagOf('safetyBackup', safetyBackup),
    decryptedFrom: nameOf('decryptedFrom', decryptedFrom),
  };
}

/** Shorter names are similar to too many others. */
const MIN_LENGTH = 5;

function looksMistaken(name: string): boolean {
  const letters = name.replaceAll(/[^a-z]/gi, '').toLowerCase();
  return MISTAKEN.some((each) => letters === each || (letters.length >= MIN_LENGTH && isOneTypoApart(letters, each)));
}

/** Keeps empty names, so that the service refuses them. */
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

export const UNDO_PARAMETERS = ['restoredAt'] as const;

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** To append to a query string. */
export const queryOfUndo = (restoredAt: string | undefined): string =>
  restoredAt === undefined ? '' : `&restoredAt=${encodeURIComponent(restoredAt)}`;

/** Reads the time of the restore that the operator saw and wants to undo. @throws AppError BAD_USER_INPUT */
export function readRestoredAt(query: unknown): string | undefined {
  const { restoredAt } = (query ?? {}) as Record<string, unknown>;
  return restoredAt === undefined ? undefined : parseRestoredAt(restoredAt);
}

/** @throws AppError BAD_USER_INPUT */
export function parseRestoredAt(value: unknown): string {
  if (typeof value === 'string' && TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value))) return value;
  const message = 'must be the time of the restore, as shown for the one that can be undone';
  throw badUserInput([{ path: 'restoredAt', message }], `restoredAt ${message}.`);
}
