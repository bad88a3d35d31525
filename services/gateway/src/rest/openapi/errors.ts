import { type ErrorCode, HTTP_STATUS } from '@taskmesh/contracts';
import { z } from 'zod';
import type { Envelope } from '../../http/replies.ts';
import { type Endpoint, isBytes } from '../endpoint.ts';
import type { Mount } from '../serve-endpoints.ts';
import { idOf } from './schemas.ts';

type Failure = ErrorCode | 'KEY_REUSED';

const statusOf = (failure: Failure) => (failure === 'KEY_REUSED' ? 422 : HTTP_STATUS[failure]);

/** An endpoint's own errors and those common to its kind. */
function failuresOf({ access, method, bodySchema, query, headers, errors = [] }: Endpoint): Failure[] {
  const own = new Set<Failure>(errors);
  if (access !== 'public') own.add('UNAUTHENTICATED');
  // Personal tokens may be read-only, and some operations need a session.
  if (access === 'operator' || (access !== 'public' && method !== 'GET')) own.add('FORBIDDEN');
  const isChecked = headers?.some((name) => name !== 'if-none-match');
  if (bodySchema ?? query ?? isChecked) own.add('BAD_USER_INPUT');
  if (bodySchema) own.add('PAYLOAD_TOO_LARGE');
  if (bodySchema && !isBytes(bodySchema)) own.add('UNSUPPORTED_MEDIA_TYPE');
  own.add('RATE_LIMITED').add('INTERNAL_SERVER_ERROR').add('SERVICE_UNAVAILABLE');
  return [...own].toSorted((left, right) => statusOf(left) - statusOf(right));
}

export function failureReferences(endpoint: Endpoint, envelope: Envelope) {
  return Object.fromEntries(
    failuresOf(endpoint).map((failure) => [
      statusOf(failure),
      { $ref: `#/components/responses/${nameOf(envelope, failure)}` },
    ]),
  );
}

/** The shared responses of a group of endpoints, by name. */
export function errorResponses({ envelope, endpoints }: Mount) {
  const failures = [...new Set(endpoints.flatMap(failuresOf))];
  return Object.fromEntries(failures.map((failure) => [nameOf(envelope, failure), responseOf(envelope, failure)]));
}

function responseOf(envelope: Envelope, failure: Failure) {
  const status = statusOf(failure);
  return {
    description: described(failure).description,
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      ...(status === 401 && { 'WWW-Authenticate': { $ref: '#/components/headers/Authenticate' } }),
      ...((status === 429 || status === 503) && { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }),
    },
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${idOf(ERROR_SCHEMAS[envelope])}` } } },
  };
}

const DESCRIBED: Partial<Record<Failure, { name: string; description: string }>> = {
  BAD_USER_INPUT: { name: 'InvalidInput', description: 'The request is invalid; the response says why.' },
  UNAUTHENTICATED: {
    name: 'Unauthenticated',
    description: 'The token is missing or not valid; at login: wrong e-mail address or password.',
  },
  FORBIDDEN: {
    name: 'Forbidden',
    description:
      'The caller may not do this. A personal token may be read-only, some operations require a session, and those of operators a backup token or a caller on this machine.',
  },
  NOT_FOUND: { name: 'NotFound', description: 'It does not exist or is not yours; the response is the same.' },
  CONFLICT: {
    name: 'Conflict',
    description:
      'It conflicts with something that exists, such as an account with this address, a running request with this key, or as many tasks as allowed; or with the state that something is in.',
  },
  LINK_REQUIRED: {
    name: 'LinkRequired',
    description: 'An account already has the verified address: send the same code with its password.',
  },
  PRECONDITION_FAILED: {
    name: 'PreconditionFailed',
    description: 'The version of the task does not match `If-Match`.',
  },
  PAYLOAD_TOO_LARGE: {
    name: 'TooLarge',
    description: 'The body is larger than 1 MiB; an archive: larger than a restore accepts.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    name: 'UnsupportedMediaType',
    description: 'The body is not `application/json` in UTF-8.',
  },
  KEY_REUSED: {
    name: 'KeyReused',
    description: 'The `Idempotency-Key` was already used with a different body.',
  },
  RATE_LIMITED: {
    name: 'RateLimited',
    description: 'Too many attempts, or too many requests at once; `Retry-After` says how long to wait.',
  },
  INTERNAL_SERVER_ERROR: {
    name: 'InternalError',
    description: 'A defect on our side; `X-Request-Id` identifies the request in our logs.',
  },
  SERVICE_UNAVAILABLE: {
    name: 'Unavailable',
    description: 'Part of the service is unavailable; `Retry-After` says how long to wait.',
  },
};

function described(failure: Failure) {
  const known = DESCRIBED[failure];
  if (!known) throw new Error(`${failure} has no description`);
  return known;
}

const PREFIX: Record<Envelope, string> = { plain: '', tasks: 'Tasks', backup: 'Backup' };

const nameOf = (envelope: Envelope, failure: Failure) => `${PREFIX[envelope]}${described(failure).name}`;

const message = z.string().meta({ description: 'For people to read.' });

const error = z.object({
  code: z.string().meta({ description: 'Stable, for programs.' }),
  details: z
    .array(z.object({ path: z.string().meta({ description: 'The field, as sent.' }), message: z.string() }))
    .optional(),
  requestId: z
    .string()
    .optional()
    .meta({ description: 'Only with 5xx: identifies the request for those who run the service.' }),
});

const success = z.literal(false);

export const ERROR_SCHEMAS: Record<Envelope, z.ZodType> = {
  plain: z.object({ message, error }).meta({ id: 'Error' }),
  tasks: z.object({ success, message, error }).meta({ id: 'TasksError' }),
  // The interface document's own form.
  backup: z
    .object({ success, message, error: z.string().meta({ description: 'What went wrong.' }) })
    .meta({ id: 'BackupError' }),
};
