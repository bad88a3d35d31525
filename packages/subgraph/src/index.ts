export { countSelections, selects } from './selection.ts';
export {
  executableSubgraph,
  type Around,
  type CallOptions,
  type Subgraph,
  type SubgraphOptions,
  type SubgraphRequest,
  type SubgraphResult,
} from './subgraph.ts';
