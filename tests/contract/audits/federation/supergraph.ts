import type { Subgraph } from './subgraph.ts';

export interface Case {
  query: string;
  /** `errors`: whether there have to be some; either is right without it. */
  expected: { data?: unknown; errors?: boolean };
}

export interface CaseGroup {
  id: string;
  subgraphs: readonly Subgraph[];
  cases: readonly Case[];
}

/** Takes the place of the suite's function of that name, which serves HTTP. */
export function serve(id: string, subgraphs: readonly Subgraph[], tests: readonly Case[] | (() => Case[])): CaseGroup {
  return { id, subgraphs, cases: typeof tests === 'function' ? tests() : tests };
}
