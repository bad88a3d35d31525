import type { ResultPath } from './places.ts';

/** A failure that a service told of, or that happened on the way to it. */
export interface ServiceError {
  message: string;
  /** Where in the client's result; absent when it is about no place in particular. */
  path?: ResultPath;
  extensions?: Record<string, unknown>;
  service: string;
  /** What was thrown, when the service told nothing. */
  cause?: unknown;
}

/** As services send them. */
export interface AnswerError {
  message?: string;
  path?: readonly (string | number)[] | null | undefined;
  extensions?: Record<string, unknown> | null | undefined;
}
