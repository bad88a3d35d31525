import { badUserInput } from '@taskmesh/contracts';
import { STORE_NAMES, type StoreName } from './store.ts';

const KNOWN = STORE_NAMES.join(', ');

/** The named stores without repetitions; undefined if none are named. @throws AppError BAD_USER_INPUT */
export function wantedStores(names: readonly string[] | null | undefined): StoreName[] | undefined {
  if (names === null || names === undefined) return undefined;
  if (names.length === 0)
    throw refused(`names no store; without it, all of the archive's are meant. There are: ${KNOWN}.`);
  if (!names.every(isStore)) throw refused(`names a store that there is not. There are: ${KNOWN}.`);
  return [...new Set(names)];
}

const isStore = (name: string): name is StoreName => STORE_NAMES.some((known) => known === name);

const refused = (why: string) => badUserInput([{ path: 'stores', message: why }], `The list of stores ${why}`);
