import type { Data } from '../projection/own-value.ts';
import type { AnswerError, ServiceError } from './errors.ts';

/** What a service is asked, the same for all runs of a plan. */
export interface SubgraphOperation {
  service: string;
  kind: 'query' | 'mutation' | 'subscription';
  text: string;
  /** `text` as JSON. */
  quotedText: string;
  name: string | undefined;
}

export interface SubgraphRequest {
  operation: SubgraphOperation;
  /** JSON of an object. */
  variables: string;
}

export interface SubgraphAnswer {
  /** Belongs to the executor from now on, which changes it. */
  data?: Data | null | undefined;
  errors?: readonly AnswerError[] | undefined;
}

/** How services are reached. What it throws becomes an error of the operation. */
export type AskSubgraph<Context> = (request: SubgraphRequest, context: Context) => Promise<SubgraphAnswer>;

/** One run of a plan. */
export interface PlanRun<Context> {
  ask: AskSubgraph<Context>;
  context: Context;
  /** As the client's operation types them. */
  variables: Readonly<Record<string, unknown>>;
  data: Data;
  /** Of services, with paths in their `data`. */
  errors: ServiceError[];
}
