export {
  createSubgraph,
  type Subgraph,
  type SubgraphCall,
  type SubgraphContext,
  type SubgraphOptions,
  type SubgraphRequest,
  type SubgraphResult,
} from './subgraph.ts';
export { createSubgraphServer, type SubgraphServerOptions } from './server.ts';
export { forOperators, requireOperator, requireSession, requireUser } from './guards.ts';
export { operationSpan } from './operation-span.ts';
