import type { DocumentNode } from 'graphql';
import type { AskSubgraph } from './execution/run.ts';
import { clientOperation, conditionVariables } from './operation/client-operation.ts';
import { compileVariant, type OperationVariant, type VariantDeps } from './operation-variant.ts';
import { runOperation, type OperationRequest, type OperationResult } from './run-operation.ts';

/** Each combination of `@skip` and `@include` values is compiled separately; few combinations occur in practice. */
export const MAX_VARIANTS = 16;

type Variables = Readonly<Record<string, unknown>>;

export interface FederatedOperation<Context> {
  /** Rejects only when the operation cannot be planned, or with an error of `schedulePlanning`. */
  run(request: OperationRequest<Context>): Promise<OperationResult>;
}

/** Called with the number of bytes allocated; negative when memory is freed. */
export type Resized = (bytes: number) => void;

/** Runs planning, which takes milliseconds of CPU time, when its turn comes. May reject instead. */
export type SchedulePlanning<Context> = <Planned>(context: Context, plan: () => Planned) => Promise<Planned>;

export interface CompileDeps<Context> extends VariantDeps {
  ask: AskSubgraph<Context>;
  schedulePlanning: SchedulePlanning<Context>;
}

export function compileOperation<Context>(
  deps: CompileDeps<Context>,
  document: DocumentNode,
  operationName?: string,
): FederatedOperation<Context> {
  const { ask, schedulePlanning } = deps;
  const operation = clientOperation(deps.graph.schema, document, operationName);
  const conditions = conditionVariables(operation);
  const variants = new Map<string, OperationVariant<Context>>();

  const keyOf = (variables: Variables) => conditions.map((name) => Number(variables[name] === true)).join('');
  const planned = (variables: Variables): OperationVariant<Context> => {
    const key = keyOf(variables);
    const known = variants.get(key); // may have been planned while this one waited for its turn
    if (known) return known;
    const [oldest] = variants;
    if (variants.size >= MAX_VARIANTS && oldest !== undefined) {
      variants.delete(oldest[0]);
      oldest[1].release();
    }
    const values = Object.fromEntries(conditions.map((name) => [name, variables[name] === true]));
    const variant = compileVariant<Context>(deps, operation, values);
    variants.set(key, variant);
    return variant;
  };

  if (conditions.length === 0) planned({});

  return {
    async run(request) {
      const { variables, context } = request;
      const variant = variants.get(keyOf(variables)) ?? (await schedulePlanning(context, () => planned(variables)));
      return runOperation({ variant, request, ask });
    },
  };
}
