import { AppError, HTTP_STATUS } from '@taskmesh/contracts';
import { errorBody, type Envelope } from '../../http/errors.ts';
import { isBytes, type Endpoint } from '../endpoint.ts';
import { ERROR_SCHEMAS } from '../schemas/errors.ts';
import type { Mount } from '../register-endpoints.ts';
import { sampleOf, type Failure } from './error-samples.ts';
import { idOf } from './media.ts';
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
