import { badUserInput } from '@taskmesh/contracts';
import type { AuditRepository, ListedEntry } from './audit.repository.ts';

const MOST = 1_000;
/** An entry's id, a bigint in the database. */
const ID = /^-?\d{1,18}$/;

export interface AuditService {
  /** The user's own entries, newest first. @throws AppError BAD_USER_INPUT */
  list(userId: string, page: { first: number; after: string | null }): Promise<ListedEntry[]>;
}

export function createAuditService(repository: AuditRepository): AuditService {
  return {
    async list(userId, { first, after }) {
      if (first < 1 || first > MOST)
        throw badUserInput([{ path: 'first', message: `first must be a whole number from 1 to ${MOST}.` }]);
      if (after !== null && !ID.test(after))
        throw badUserInput([{ path: 'after', message: 'after must be the id of an entry.' }]);
      return repository.list(userId, first, after);
    },
  };
}
