import type { GraphQLDataSource } from '@apollo/gateway';
import type { SubgraphResult } from '@taskmesh/subgraph';
import type { ServiceRequest } from '../connections.ts';
import type { RequestCall } from './executor.ts';

/** What travels through the planner's executor as the context of one operation. */
export interface OperationRun {
  call: RequestCall;
  /** Unix milliseconds; what is not answered by then is given up. */
  deadline: number;
  mutation: boolean;
  /** A change that has to be there failed: the result is null, and no later one may run. */
  hasFailed?: boolean;
  /** Of the one client whom it is for: what several wait for, such as an event, has none. */
  signal?: AbortSignal | undefined;
}

/** How a service of the graph is asked. @apollo/gateway does it by `process`. */
export interface GraphSource extends GraphQLDataSource {
  ask(request: ServiceRequest, run: OperationRun): Promise<SourceAnswer>;
}

export type SourceAnswer = Pick<SubgraphResult, 'errors'> & { data: NonNullable<SubgraphResult['data']> | null };

/** By the services' names. */
export type GraphSources = Readonly<Record<string, GraphSource>>;
