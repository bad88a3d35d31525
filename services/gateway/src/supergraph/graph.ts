import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { GraphSources } from './sources.ts';
import type { GraphExecutor, PreparedOperation } from './executor.ts';
import type { Supergraph } from './supergraph.ts';

/** A client's document that is within all limits, except those that depend on its variables. */
export interface ClientOperation extends PreparedOperation {
  /** The operation's cost (docs/limits.md). `variables` are coerced. */
  cost(variables: Readonly<Record<string, unknown>>): number;
}

/** A document by its text. */
export interface ParsedDocument {
  source: string;
  /** The SHA-256 of `source`, in hexadecimal digits. */
  hash: string;
  document: DocumentNode;
}

/** A supergraph and everything derived from it; all of it is replaced together. */
export interface Graph {
  readonly supergraph: Supergraph;
  readonly services: GraphSources;
  readonly executor: GraphExecutor;
  /**
   * Prepares a client's document, as far as it does not depend on variables; parses it unless that has been done.
   * @throws InvalidOperation
   */
  admit(source: string, operationName?: string, parsed?: ParsedDocument): ClientOperation;
  /** A document that was admitted, by its hash, for as long as it is kept. */
  parsed(hash: string): DocumentNode | undefined;
}

/** Called before `next` takes over. The resulting function runs synchronously with the switch, and must not throw. */
export type BeforeSwitch = (next: Graph) => Promise<() => void> | (() => void);

/** The graph that is served, which may be replaced at any time. */
export interface LiveGraph {
  readonly current: Graph;
  /** The graph that a schema belongs to, current or former: an operation ends on the graph on which it began. */
  of(schema: GraphQLSchema): Graph;
  beforeSwitch(prepare: BeforeSwitch): void;
  /**
   * Resolves once the new graph is served; calls run one at a time.
   * @throws when it cannot be used, in which case nothing changes
   */
  replace(sdl: string): Promise<void>;
}

export interface LiveGraphOptions {
  initial: Graph;
  build: (sdl: string) => Graph;
}

export function createLiveGraph({ initial, build }: LiveGraphOptions): LiveGraph {
  const bySchema = new WeakMap([[initial.supergraph.schema, initial]]);
  const preparers: BeforeSwitch[] = [];
  let current = initial;
  let replacing = Promise.resolve();

  const replace = async (sdl: string) => {
    const next = build(sdl);
    if (next.supergraph.own !== current.supergraph.own)
      throw new Error('Accounts and paths of ours come and go with this supergraph: that needs a restart.');
    const switches = await Promise.all(preparers.map((prepare) => prepare(next)));
    bySchema.set(next.supergraph.schema, next);
    current = next;
    for (const switchOver of switches) switchOver();
  };

  return {
    get current() {
      return current;
    },
    of: (schema) => bySchema.get(schema) ?? current,
    beforeSwitch: (prepare) => void preparers.push(prepare),
    replace(sdl) {
      const done = replacing.then(() => replace(sdl));
      replacing = done.catch(() => undefined);
      return done;
    },
  };
}
