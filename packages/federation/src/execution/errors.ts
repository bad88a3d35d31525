import type { ResultPath } from './data-paths.ts';

/** A failure reported by a service, or on the way to it. */
export interface ServiceError {
  message: string;
  /** The path in the client's result; absent when the error belongs to no place. */
  path?: ResultPath;
  extensions?: Record<string, unknown>;
  service: string;
  /** What was thrown, when the service did not answer. */
  cause?: unknown;
}

/** As sent by services. */
export interface AnswerError {
  message?: string;
  path?: readonly (string | number)[] | null | undefined;
  extensions?: Record<string, unknown> | null | undefined;
}
