export { countSelections, selects } from './selection.ts';
export { executableSubgraph } from './subgraph.ts';
export type { Around, CallOptions, Subgraph, SubgraphOptions, SubgraphRequest, SubgraphResult } from './subgraph.ts';
