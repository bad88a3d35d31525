import type { Room } from '../result-size.ts';
import type { Data, ResultPath } from './data-paths.ts';

/** An error reported by a service, or a failure to reach it. */
export interface ServiceError {
  message: string;
  /** The path in the client's result; absent if the error has no path. */
  path?: ResultPath;
  extensions?: Record<string, unknown>;
  /** Absent if the result as a whole failed. */
  service?: string;
  /** The thrown error, if the service did not respond. */
  cause?: unknown;
}

/** An error as sent by a service. */
export interface AnswerError {
  message?: string;
  path?: readonly (string | number)[] | null | undefined;
  extensions?: Record<string, unknown> | null | undefined;
}

/** The part of a request that does not change between runs of a plan. */
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
  /** The executor takes ownership and modifies it. */
  data?: Data | null | undefined;
  errors?: readonly AnswerError[] | null | undefined;
}

/** Calls a service. Anything it throws becomes an error of the operation. */
export type AskSubgraph<Context> = (request: SubgraphRequest, context: Context) => Promise<SubgraphAnswer>;

/** Its path refers to the run's data; absent if the request failed as a whole. */
export interface RunError extends ServiceError {
  operation: SubgraphOperation;
}

export interface PlanRun<Context> {
  ask: AskSubgraph<Context>;
  context: Context;
  /** Coerced to the types declared by the client's operation. */
  variables: Readonly<Record<string, unknown>>;
  data: Data;
  errors: RunError[];
  room: Room;
}
