import type { Log } from '@taskmesh/service';
import { createErrorFormat, internalError } from './client-errors.ts';
import type { EngineResult } from './engine.ts';
import type { OperationResult } from './executor.ts';

/** How many nulls get an error of their own. */
const MAX_INCOMPLETE = 100;

export type FormatResult = (result: EngineResult, requestId: string) => OperationResult;

/**
 * Formats an operation's result for the client. What a service left out without an error, against its schema, is a
 * defect: the null that stands for it needs an error (GraphQL, 6.4.4).
 */
export function createResultFormat(log: Log): FormatResult {
  const formatErrors = createErrorFormat(log);
  return ({ data, errors, incomplete }, requestId) => {
    const told = formatErrors(errors ?? [], requestId);
    if (incomplete && incomplete.length > 0) {
      log.error({ incomplete, requestId }, 'a result is incomplete');
      for (const { path } of incomplete.slice(0, MAX_INCOMPLETE)) told.push(internalError(requestId, path));
    }
    return told.length > 0 ? { data, errors: told } : { data };
  };
}
