import { HTTP_STATUS, type ErrorCode } from '@taskmesh/errors';
import type { Endpoint } from '../endpoint.ts';
import type { Envelope } from '../../http/errors.ts';
import type { Header, Reference, Response } from './types.ts';

type Failure = ErrorCode | 'KEY_REUSED';

interface Sample {
  name: string;
  description: string;
  message: string;
  details?: { path: string; message: string }[];
  /** What differs where it is about tasks. */
  ofTasks?: Pick<Sample, 'message' | 'details'>;
}

const SAMPLES: Partial<Record<Failure, Sample>> = {
  BAD_USER_INPUT: {
    name: 'InvalidInput',
    description: 'Something in the request is not as it must be; `details` say what.',
    message: 'The input is not valid.',
    details: [{ path: 'name', message: 'name must be a string.' }],
    ofTasks: {
      message: 'The input is not valid.',
      details: [{ path: 'title', message: 'title must have 3 to 255 characters.' }],
    },
  },
  UNAUTHENTICATED: {
    name: 'Unauthenticated',
    description: 'No access token, or one that does not count; at login: wrong e-mail or password.',
    message: 'A valid access token is needed.',
  },
  NOT_FOUND: {
    name: 'NotFound',
    description: 'No such task, or not one of yours: both look alike.',
    message: 'Task not found.',
  },
  CONFLICT: {
    name: 'Conflict',
    description: 'There is one already (an account with this address, or a running request with this key).',
    message: 'This e-mail address has an account already.',
    ofTasks: { message: 'The first request with this idempotencyKey is still running.' },
  },
  PRECONDITION_FAILED: {
    name: 'PreconditionFailed',
    description: 'The task has another version than `If-Match` asks for.',
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
    description: 'The `Idempotency-Key` came before with another body.',
    message: 'Idempotency-Key was used before, with another body.',
    details: [{ path: 'Idempotency-Key', message: 'Idempotency-Key was used before, with another body.' }],
  },
  RATE_LIMITED: {
    name: 'RateLimited',
    description: 'Too many tries; `Retry-After` says how long to wait.',
    message: 'Too many requests; try again later.',
  },
  INTERNAL_SERVER_ERROR: {
    name: 'InternalError',
    description: 'A defect on our side; `requestId` names the request in our log.',
    message: 'Internal server error.',
  },
  SERVICE_UNAVAILABLE: {
    name: 'Unavailable',
    description: 'A part of the service is away; `Retry-After` says how long to wait.',
    message: 'The service is not available right now; try again.',
  },
};

const EXAMPLE_REQUEST_ID = '0199e1c4-77aa-7e20-9d0b-5f1e2d3c4b5a';

export const statusOf = (failure: Failure) => (failure === 'KEY_REUSED' ? 422 : HTTP_STATUS[failure]);

/** What can go wrong at an endpoint: its own failures, and those of its kind. */
export function failuresOf({ access, bodySchema, query, headers, errors = [] }: Endpoint): Failure[] {
  const own = new Set<Failure>(errors);
  if (access === 'user') own.add('UNAUTHENTICATED');
  const isChecked = headers?.some((name) => name !== 'if-none-match');
  if (bodySchema ?? query ?? isChecked) own.add('BAD_USER_INPUT');
  if (bodySchema) own.add('PAYLOAD_TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE');
  own.add('INTERNAL_SERVER_ERROR').add('SERVICE_UNAVAILABLE');
  return [...own].toSorted((left, right) => statusOf(left) - statusOf(right));
}

const nameOf = (envelope: Envelope, { name }: Sample) => `${envelope === 'tasks' ? 'Tasks' : ''}${name}`;

export function errorReference(envelope: Envelope, failure: Failure): Reference {
  return { $ref: `#/components/responses/${nameOf(envelope, sampleOf(failure))}` };
}

/** The named responses of one family of endpoints. */
export function errorResponses(envelope: Envelope): Record<string, Response> {
  return Object.fromEntries(
    Object.keys(SAMPLES).map((code) => {
      const failure = code as Failure; // the keys of the table
      return [nameOf(envelope, sampleOf(failure)), responseOf(envelope, failure)];
    }),
  );
}

function sampleOf(failure: Failure): Sample {
  const sample = SAMPLES[failure];
  if (!sample) throw new Error(`${failure} has no description`);
  return sample;
}

function responseOf(envelope: Envelope, failure: Failure): Response {
  const { description, ofTasks, ...ofAccounts } = sampleOf(failure);
  const { message, details } = (envelope === 'tasks' && ofTasks) || ofAccounts;
  const status = statusOf(failure);
  const example = {
    ...(envelope === 'tasks' && { success: false }),
    message: details?.map((issue) => issue.message).join(' ') ?? message,
    error: {
      code: failure === 'KEY_REUSED' ? 'BAD_USER_INPUT' : failure,
      ...(details && { details }),
      ...(status >= 500 && { requestId: EXAMPLE_REQUEST_ID }),
    },
  };
  const schema = { $ref: `#/components/schemas/${envelope === 'tasks' ? 'TasksError' : 'Error'}` };
  return { description, headers: headersOf(status), content: { 'application/json': { schema, example } } };
}

export function headersOf(status: number): Record<string, Header | Reference> {
  return {
    'X-Request-Id': { $ref: '#/components/headers/RequestId' },
    ...(status === 401 && { 'WWW-Authenticate': { $ref: '#/components/headers/Authenticate' } }),
    ...((status === 429 || status === 503) && { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }),
  };
}
