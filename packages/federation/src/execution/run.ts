import type { Data } from '../projection/data.ts';
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

/** The part of a request that is the same for all runs of a plan. */
export interface SubgraphOperation {
  service: string;
  kind: 'query' | 'mutation' | 'subscription';
  text: string;
  name: string | undefined;
}

export interface SubgraphRequest {
  operation: SubgraphOperation;
  variables: Record<string, unknown>;
}

export interface SubgraphAnswer {
  /** The executor takes it over, and modifies it. */
  data?: Data | null | undefined;
  errors?: readonly AnswerError[] | undefined;
}

/** Calls a service. Anything that it throws becomes an error of the operation. */
export type AskSubgraph<Context> = (request: SubgraphRequest, context: Context) => Promise<SubgraphAnswer>;

/** Its path is one of the run's data; absent when a request failed as a whole. */
export interface RunError extends ServiceError {
  operation: SubgraphOperation;
}

export interface PlanRun<Context> {
  ask: AskSubgraph<Context>;
  context: Context;
  /** Coerced to the types of the client's operation. */
  variables: Readonly<Record<string, unknown>>;
  data: Data;
  errors: RunError[];
}
