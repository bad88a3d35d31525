import { AppError, isErrorCode, notFound, rateLimited, unavailable, type Issue } from '@taskmesh/errors';
import type { GraphQLFormattedError } from 'graphql';

/** BAD_USER_INPUT to a GraphQL client, and a status of its own here. */
class KeyReused extends AppError {
  override get httpStatus(): number {
    return 422;
  }
}

function keyReused(): AppError {
  const message = 'Idempotency-Key was used before, with another body.';
  return new KeyReused('BAD_USER_INPUT', message, { issues: [{ path: 'Idempotency-Key', message }] });
}

/** An error that the graph answered, in REST's terms. What is no client's business was logged by the executor. */
export function errorOf({ message, extensions = {} }: GraphQLFormattedError): AppError {
  const { code } = extensions;
  const issues = issuesIn(extensions);
  // A graph that came later cannot do what the path is for: then the path is absent, as it would be after a restart.
  if (code === 'OPERATION_RESOLUTION_FAILURE') return notFound('There is nothing at this path.');
  if (!isErrorCode(code)) return new AppError('INTERNAL_SERVER_ERROR', 'Internal server error.');
  if (code === 'RATE_LIMITED') return rateLimited(secondsIn(extensions), message);
  if (code === 'SERVICE_UNAVAILABLE') return unavailable(message);
  if (issues?.some(({ path }) => path === 'idempotencyKey')) return keyReused();
  return new AppError(code, message, { issues });
}

/** GraphQL's names of inputs that have another one here. */
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
