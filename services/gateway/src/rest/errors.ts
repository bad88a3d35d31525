import { AppError, isErrorCode, notFound, rateLimited, unavailable, type Issue } from '@taskmesh/contracts';
import type { GraphQLFormattedError } from 'graphql';

/** BAD_USER_INPUT in GraphQL, but a status of its own in REST. */
class KeyReused extends AppError {
  override get httpStatus(): number {
    return 422;
  }
}

function keyReused(): AppError {
  const message = 'Idempotency-Key was used before, with another body.';
  return new KeyReused('BAD_USER_INPUT', message, { issues: [{ path: 'Idempotency-Key', message }] });
}

/** Translates an error of the graph to REST. Details that clients must not see have been logged by the executor. */
export function errorOf({ message, extensions = {} }: GraphQLFormattedError): AppError {
  const { code } = extensions;
  const issues = issuesIn(extensions);
  // A newer graph no longer has the operation: the path is absent, as it would be after a restart.
  if (code === 'OPERATION_RESOLUTION_FAILURE') return notFound('There is nothing at this path.');
  if (!isErrorCode(code) || code === 'INTERNAL_SERVER_ERROR')
    return new AppError('INTERNAL_SERVER_ERROR', 'Internal server error.');
  if (code === 'RATE_LIMITED') return rateLimited(secondsIn(extensions), message);
  if (code === 'SERVICE_UNAVAILABLE') return unavailable(message);
  if (issues?.some(({ path }) => path === 'idempotencyKey')) return keyReused();
  const passes = code === 'CONFLICT' && extensions['retryAfterSeconds'] !== undefined;
  return new AppError(code, message, { issues, ...(passes && { retryAfterSeconds: secondsIn(extensions) }) });
}

/** GraphQL input fields that are named differently in REST. */
const FIELD_NAMES = new Map([
  ['currentPassword', 'current_password'],
  ['expiresAt', 'expires_at'],
  ['newPassword', 'password'],
  ['refreshToken', 'refresh_token'],
]);

function issuesIn({ issues }: Record<string, unknown>): Issue[] | undefined {
  if (!Array.isArray(issues)) return undefined;
  return issues.map(({ path, message }: Issue) => {
    const field = path.replace(/^input\./, '');
    return { path: FIELD_NAMES.get(field) ?? field, message };
  });
}

function secondsIn({ retryAfterSeconds }: Record<string, unknown>): number {
  return typeof retryAfterSeconds === 'number' ? Math.max(1, Math.ceil(retryAfterSeconds)) : 1;
}
