import type { ErrorCode, Issue } from '@taskmesh/errors';
import type { Envelope } from '../../http/errors.ts';

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
    description: 'Something in the request is not as it must be; `details` say what.',
    details: [{ path: 'name', message: 'name must be a string.' }],
  },
  UNAUTHENTICATED: {
    name: 'Unauthenticated',
    description: 'No access token, or one that does not count; at login: wrong e-mail or password.',
    message: 'A valid access token is needed.',
  },
  FORBIDDEN: {
    name: 'Forbidden',
    description:
      'The caller may not do this; a personal token may be for reading only, and some things need a session.',
    message: 'You may not do this.',
  },
  NOT_FOUND: {
    name: 'NotFound',
    description: 'No such thing, or not one of yours: both look alike.',
    message: 'Task not found.',
  },
  CONFLICT: {
    name: 'Conflict',
    description: 'There is one already (an account with this address, or a running request with this key).',
    message: 'This e-mail address has an account already.',
  },
  LINK_REQUIRED: {
    name: 'LinkRequired',
    description: 'An account has the verified address: send the same code with its password.',
    message: 'ada@example.com already has an account: enter its password once to link the two.',
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
    details: [{ path: 'Idempotency-Key', message: KEY_REUSED }],
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

const OPERATORS = {
  guesses: {
    description: 'Too many wrong tokens came from this caller; `Retry-After` says how long to wait.',
    message: 'Too many wrong tokens; try again later.',
  },
  token: 'There is a backup token, or a page asks, and the token did not come along.',
  machine: 'This is for callers on this machine (localhost) only, unless there is a backup token.',
};

/** What differs in a family of endpoints. */
const OWN: Record<Envelope, Partial<Record<Failure, Partial<Sample>>>> = {
  plain: {},
  tasks: {
    BAD_USER_INPUT: { details: [{ path: 'title', message: 'title must have 3 to 255 characters.' }] },
    CONFLICT: { message: 'The first request with this idempotencyKey is still running.' },
  },
  backup: {
    BAD_USER_INPUT: {
      description: 'The name, the content or the query is not as it must be.',
      message: 'The query parameter file is missing.',
    },
    UNAUTHENTICATED: {
      description: OPERATORS.token,
      message: 'The token of operators is missing or wrong.',
    },
    FORBIDDEN: {
      description:
        'There is no backup token, and the caller is not on this machine; for a restore also: the name leads out of the place of the archives.',
      message: OPERATORS.machine,
    },
    RATE_LIMITED: OPERATORS.guesses,
    NOT_FOUND: { description: 'There is no such archive.', message: 'There is no such backup file.' },
    CONFLICT: {
      description:
        'There is another archive of that name, the archive or a store is not fit for this, another restore is running, or the one to take back is another one than was named.',
      message: 'There is another archive of that name.',
    },
    PAYLOAD_TOO_LARGE: {
      description: 'The archive is larger than a restore takes.',
      message: 'An archive may have 256 MiB at the most.',
    },
    INTERNAL_SERVER_ERROR: {
      description: 'A defect on our side; for a restore also: the archive cannot be extracted.',
    },
    SERVICE_UNAVAILABLE: {
      description: 'A store, the place of the archives or the service is away; `Retry-After` says how long to wait.',
    },
  },
  operations: {
    BAD_USER_INPUT: {
      details: [{ path: 'limit', message: 'limit must be a whole number from 1 to 100.' }],
    },
    UNAUTHENTICATED: { description: OPERATORS.token, message: 'The token of operators is missing or wrong.' },
    FORBIDDEN: {
      description: 'There is no backup token, and the caller is not on this machine.',
      message: OPERATORS.machine,
    },
    RATE_LIMITED: OPERATORS.guesses,
    NOT_FOUND: {
      description: 'There is no such dead letter, or its change is no longer kept.',
      message: 'There is no such dead letter.',
    },
  },
};

const PREFIX: Record<Envelope, string> = { plain: '', tasks: 'Tasks', backup: 'Backup', operations: 'Operations' };

export function sampleOf(envelope: Envelope, failure: Failure): Sample {
  const sample = SAMPLES[failure];
  if (!sample) throw new Error(`${failure} has no description`);
  return { ...sample, ...OWN[envelope][failure], name: `${PREFIX[envelope]}${sample.name}` };
}
