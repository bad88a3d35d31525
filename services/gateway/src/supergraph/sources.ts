import type { GraphQLDataSource } from '@apollo/gateway';
import type { SubgraphResult } from '@taskmesh/subgraph';
import type { ServiceRequest } from '../connections/connections.ts';
import type { RequestCall } from './executor.ts';

/** The executor's context for one operation. */
export interface OperationRun {
  call: RequestCall;
  /** By `monotonicClock`; anything unanswered by then is abandoned. */
  deadline: number;
  mutation: boolean;
  /** A mutation of @apollo/gateway got no data: the result is null, and the remaining ones must not run. */
  hasFailed?: boolean;
  /** Set when exactly one client wants the result; events, for which several may wait, have none. */
  signal?: AbortSignal | undefined;
}

/** How a service of the graph is asked. @apollo/gateway does it by `process`. */
export interface GraphSource extends GraphQLDataSource {
  ask(request: ServiceRequest, run: OperationRun): Promise<SourceAnswer>;
}

export type SourceAnswer = Pick<SubgraphResult, 'errors'> & { data: NonNullable<SubgraphResult['data']> | null };

/** By the services' names. */
export type GraphSources = Readonly<Record<string, GraphSource>>;
