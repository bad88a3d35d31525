import type { Subgraph } from './subgraph.ts';

export interface Case {
  query: string;
  /** `errors`: whether errors are required or forbidden; if absent, both are accepted. */
  expected: { data?: unknown; errors?: boolean };
}

export interface CaseGroup {
  id: string;
  subgraphs: readonly Subgraph[];
  cases: readonly Case[];
}

/** Replaces the suite's function with this name, which serves HTTP. */
export function serve(id: string, subgraphs: readonly Subgraph[], tests: readonly Case[] | (() => Case[])): CaseGroup {
  return { id, subgraphs, cases: typeof tests === 'function' ? tests() : tests };
}
