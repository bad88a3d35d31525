import type { Data } from '../projection/data.ts';
import type { AnswerError, ServiceError } from './errors.ts';

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
