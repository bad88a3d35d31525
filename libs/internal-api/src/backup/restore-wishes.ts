import { badUserInput } from '@taskmesh/errors';

export interface RestoreWishes {
  /** Whether what the stores have no place for is left out of an archive that was made here. @default false */
  allowLoss?: boolean | undefined;
  /** Which stores; the service knows their names. @default all that the archive holds */
  stores?: string[] | undefined;
  /** Whether an archive of what is replaced is made before. @default as the service is set */
  safetyBackup?: boolean | undefined;
}

/** As a query string goes on; empty without any. */
export function queryOfWishes({ allowLoss, stores, safetyBackup }: RestoreWishes = {}): string {
  return [
    allowLoss ? '&allowLoss=true' : '',
    stores ? `&stores=${stores.map(encodeURIComponent).join(',')}` : '',
    safetyBackup === undefined ? '' : `&safetyBackup=${safetyBackup}`,
  ].join('');
}

/** What the command line calls otherwise: passed over, more would be replaced than was meant. */
const MISTAKEN = { store: 'it is called stores here', dryRun: 'a dry run has a path of its own' };

/** What a query says. A name that is no store's stays in it: who knows the names refuses it. @throws AppError BAD_USER_INPUT */
export function wishesOf(query: unknown): RestoreWishes {
  const { allowLoss, stores, safetyBackup, ...others } = (query ?? {}) as Record<string, unknown>;
  for (const [name, hint] of Object.entries(MISTAKEN))
    if (name in others) throw badUserInput([{ path: name, message: hint }], `${name}: ${hint}.`);
  return {
    allowLoss: allowLoss === 'true',
    stores: namesOf(stores),
    safetyBackup: flagOf('safetyBackup', safetyBackup),
  };
}

const namesOf = (value: unknown): string[] | undefined =>
  value === undefined ? undefined : [value].flat().flatMap((names) => String(names).split(',').filter(Boolean));

/** Of what must not be passed over when it is misspelt. */
function flagOf(name: string, value: unknown): boolean | undefined {
  if (value === undefined) return undefined;
  if (value !== 'true' && value !== 'false')
    throw badUserInput([{ path: name, message: 'must be true or false' }], `${name} must be true or false.`);
  return value === 'true';
}
