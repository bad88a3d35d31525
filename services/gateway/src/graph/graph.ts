import type { GraphQLSchema } from 'graphql';
import type { GraphSources } from './sources.ts';
import type { GraphExecutor, PreparedOperation } from './executor.ts';
import type { Supergraph } from './supergraph.ts';

/** A client's document, within all limits but those that its variables decide. */
export interface ClientOperation extends PreparedOperation {
  /** How much it asks for (docs/limits.md). `variables`: coerced. */
  cost(variables: Readonly<Record<string, unknown>>): number;
}

/** A supergraph with all that is made of it. A new one replaces all of it at once. */
export interface Graph {
  readonly supergraph: Supergraph;
  readonly services: GraphSources;
  readonly executor: GraphExecutor;
  /** Prepares a document that a client wrote: all that no variable decides. @throws InvalidOperation */
  admit(source: string, operationName?: string): ClientOperation;
}

/** Asked before `next` takes over; what it resolves to runs in the one step in which it does, and must not throw. */
export type BeforeSwitch = (next: Graph) => Promise<() => void> | (() => void);

/** The graph that is served, while it may be replaced. */
export interface LiveGraph {
  readonly current: Graph;
  /** The graph of a schema that is or was served: what began on one graph ends on it. */
  of(schema: GraphQLSchema): Graph;
  beforeSwitch(prepare: BeforeSwitch): void;
  /** Resolves when it is served. One after the other. @throws when it cannot be used; then nothing has changed */
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
