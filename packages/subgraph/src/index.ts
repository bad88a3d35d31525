export {
  executableSubgraph,
  type Around,
  type CallOptions,
  type Subgraph,
  type SubgraphOptions,
  type SubgraphRequest,
  type SubgraphResult,
} from './subgraph.ts';
