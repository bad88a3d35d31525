import { AppError, type ErrorCode, HTTP_STATUS, type Issue } from '@taskmesh/contracts';
import { z } from 'zod';
import { type Envelope, errorBody } from '../../http/replies.ts';
import { type Endpoint, isBytes } from '../endpoint.ts';
import type { Mount } from '../serve-endpoints.ts';
import { idOf } from './schemas.ts';
import type { Reference, Response } from './types.ts';

const EXAMPLE_REQUEST_ID = '0199e1c4-77aa-7e20-9d0b-5f1e2d3c4b5a';

const statusOf = (failure: Failure) => (failure === 'KEY_REUSED' ? 422 : HTTP_STATUS[failure]);

/** An endpoint's own errors and those common to its kind. */
function failuresOf({ access, method, bodySchema, query, headers, errors = [] }: Endpoint): Failure[] {
  const own = new Set<Failure>(errors);
  if (access !== 'public') own.add('UNAUTHENTICATED');
  // Personal tokens may be read-only, and some operations need a session.
  if (access === 'operator') own.add('RATE_LIMITED');
  if (access === 'operator' || (access !== 'public' && method !== 'GET')) own.add('FORBIDDEN');
  const isChecked = headers?.some((name) => name !== 'if-none-match');
  if (bodySchema ?? query ?? isChecked) own.add('BAD_USER_INPUT');
  if (bodySchema) own.add('PAYLOAD_TOO_LARGE');
  if (bodySchema && !isBytes(bodySchema)) own.add('UNSUPPORTED_MEDIA_TYPE');
  own.add('INTERNAL_SERVER_ERROR').add('SERVICE_UNAVAILABLE');
  return [...own].toSorted((left, right) => statusOf(left) - statusOf(right));
}

export function failureReferences(endpoint: Endpoint, envelope: Envelope): Record<string, Reference> {
  return Object.fromEntries(
    failuresOf(endpoint).map((failure) => [
      statusOf(failure),
      { $ref: `#/components/responses/${sampleOf(envelope, failure).name}` },
    ]),
  );
}

/** The shared responses of a group of endpoints, by name. */
export function errorResponses({ envelope, endpoints }: Mount): Record<string, Response> {
  const failures = [...new Set(endpoints.flatMap(failuresOf))];
  return Object.fromEntries(
    failures.map((failure) => [sampleOf(envelope, failure).name, responseOf(envelope, failure)]),
  );
}

function responseOf(envelope: Envelope, failure: Failure): Response {
  const {
    description,
    details,
    message = details?.map((issue) => issue.message).join(' '),
  } = sampleOf(envelope, failure);
  const code = failure === 'KEY_REUSED' ? 'BAD_USER_INPUT' : failure;
  const error = new AppError(code, message ?? '', details && { issues: details });
  const status = statusOf(failure);
  return {
    description,
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      ...(status === 401 && { 'WWW-Authenticate': { $ref: '#/components/headers/Authenticate' } }),
      ...((status === 429 || status === 503) && { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }),
    },
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${idOf(ERROR_SCHEMAS[envelope])}` },
        example: errorBody(error, EXAMPLE_REQUEST_ID, envelope),
      },
    },
  };
}

export type Failure = ErrorCode | 'KEY_REUSED';

interface Sample {
  name: string;
  description: string;
  message?: string;
  /** Joined to form the message where none is given. */
  details?: Issue[];
}

const KEY_REUSED = 'Idempotency-Key was used before, with another body.';

const SAMPLES: Partial<Record<Failure, Sample>> = {
  BAD_USER_INPUT: {
    name: 'InvalidInput',
    description: 'The request is invalid; `details` says why.',
    details: [{ path: 'name', message: 'name is required.' }],
  },
  UNAUTHENTICATED: {
    name: 'Unauthenticated',
    description: 'The access token is missing or not valid; at login: wrong e-mail address or password.',
    message: 'A valid access token is needed.',
  },
  FORBIDDEN: {
    name: 'Forbidden',
    description:
      'The caller may not do this. A personal token may be read-only, and some operations require a session.',
    message: 'You may not do this.',
  },
  NOT_FOUND: {
    name: 'NotFound',
    description: 'It does not exist or is not yours; the response is the same.',
    message: 'Task not found.',
  },
  CONFLICT: {
    name: 'Conflict',
    description:
      'It conflicts with something that exists, such as an account with this address, a running request with this key, or as many tasks as allowed.',
    message: 'This e-mail address has an account already.',
  },
  LINK_REQUIRED: {
    name: 'LinkRequired',
    description: 'An account already has the verified address: send the same code with its password.',
    message: 'ada@example.com already has an account: enter its password once to link the two.',
  },
  PRECONDITION_FAILED: {
    name: 'PreconditionFailed',
    description: 'The version of the task does not match `If-Match`.',
    message: 'The task has another version by now.',
  },
  PAYLOAD_TOO_LARGE: {
    name: 'TooLarge',
    description: 'The body is larger than 1 MiB.',
    message: 'The body must not be larger than 1 MiB.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    name: 'UnsupportedMediaType',
    description: 'The body is not `application/json` in UTF-8.',
    message: 'The body must be application/json in UTF-8.',
  },
  KEY_REUSED: {
    name: 'KeyReused',
    description: 'The `Idempotency-Key` was already used with a different body.',
    details: [{ path: 'Idempotency-Key', message: KEY_REUSED }],
  },
  RATE_LIMITED: {
    name: 'RateLimited',
    description: 'Too many attempts; `Retry-After` says how long to wait.',
    message: 'Too many requests; try again later.',
  },
  INTERNAL_SERVER_ERROR: {
    name: 'InternalError',
    description: 'A defect on our side; `requestId` identifies the request in our logs.',
    message: 'Internal server error.',
  },
  SERVICE_UNAVAILABLE: {
    name: 'Unavailable',
    description: 'Part of the service is unavailable; `Retry-After` says how long to wait.',
    message: 'The service is not available right now; try again.',
  },
};

const OPERATORS = {
  guesses: {
    description: 'Too many wrong tokens from this caller; `Retry-After` says how long to wait.',
    message: 'Too many wrong tokens; try again later.',
  },
  token: 'The token is missing or wrong. It is required if a backup token is set or the caller is a web page.',
  machine: 'This is for callers on this machine (localhost) only, unless there is a backup token.',
};

/** What differs in a family of endpoints. */
const OWN: Record<Envelope, Partial<Record<Failure, Partial<Sample>>>> = {
  plain: {},
  tasks: {
    BAD_USER_INPUT: { details: [{ path: 'title', message: 'title must have 3 to 255 characters.' }] },
    CONFLICT: { message: 'The first request with this idempotency key is still running.' },
  },
  backup: {
    BAD_USER_INPUT: {
      description: 'The name, the content or the query is invalid.',
      message: 'The query parameter file is missing.',
    },
    UNAUTHENTICATED: {
      description: OPERATORS.token,
      message: 'The token of operators is missing or wrong.',
    },
    FORBIDDEN: {
      description:
        'No backup token is set and the caller is not on this machine; for a restore also: the file name points outside the backup storage.',
      message: OPERATORS.machine,
    },
    RATE_LIMITED: OPERATORS.guesses,
    NOT_FOUND: { description: 'The archive does not exist.', message: 'There is no such backup file.' },
    CONFLICT: {
      description:
        'Another archive has that name, the archive or a database is not in a state for this, another restore is running, or the last restore is not the one to be undone.',
      message: 'There is another archive of that name.',
    },
    PAYLOAD_TOO_LARGE: {
      description: 'The archive is larger than a restore accepts.',
      message: 'An archive may have 256 MiB at the most.',
    },
    INTERNAL_SERVER_ERROR: {
      description: 'A defect on our side; for a restore also: the archive could not be extracted.',
    },
    SERVICE_UNAVAILABLE: {
      description: 'A database, the backup storage or the service is unavailable; `Retry-After` says how long to wait.',
    },
  },
  operations: {
    BAD_USER_INPUT: {
      details: [{ path: 'limit', message: 'limit must be a whole number from 1 to 100.' }],
    },
    UNAUTHENTICATED: { description: OPERATORS.token, message: 'The token of operators is missing or wrong.' },
    FORBIDDEN: {
      description: 'No backup token is set and the caller is not on this machine.',
      message: OPERATORS.machine,
    },
    RATE_LIMITED: OPERATORS.guesses,
    NOT_FOUND: {
      description: 'The dead letter does not exist, or its change is no longer kept.',
      message: 'There is no such dead letter.',
    },
  },
};

const PREFIX: Record<Envelope, string> = { plain: '', tasks: 'Tasks', backup: 'Backup', operations: 'Operations' };

function sampleOf(envelope: Envelope, failure: Failure): Sample {
  const sample = SAMPLES[failure];
  if (!sample) throw new Error(`${failure} has no description`);
  return { ...sample, ...OWN[envelope][failure], name: `${PREFIX[envelope]}${sample.name}` };
}

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
  operations: z.object({ success, message, error }).meta({ id: 'OperationsError' }),
  // The interface document's own form.
  backup: z
    .object({ success, message, error: z.string().meta({ description: 'What went wrong.' }) })
    .meta({ id: 'BackupError' }),
};
