export { countSelections, selects } from './selection.ts';
export * from './subgraph.ts';
