import { SQL_STATE } from '../database/index.ts';
import { unavailable } from '@taskmesh/contracts';
import { errorCode, errorMessage } from '@taskmesh/contracts/error-details';
import { ConfigError } from '@taskmesh/service';

/**
 * The error to show to who restores when the service's own user may not do what an import takes: nothing is wrong with
 * the archive, and trying again mends nothing. Other errors are returned unchanged. Of this kind PostgreSQL's messages
 * name only objects, and those of migrations (ConfigError) are for people anyway.
 */
export function explainMissingRight(error: unknown): unknown {
  if (error instanceof ConfigError) return unavailable(`${error.problems.join('. ')}.`, error);
  if (errorCode(error) !== SQL_STATE.insufficientPrivilege) return error;
  return unavailable(
    `PostgreSQL does not let the service's user (POSTGRES_URL) import the store: ${errorMessage(error)}. The user must own the database.`,
    error,
  );
}
