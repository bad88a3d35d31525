import {
  getVariableValues,
  GraphQLError,
  Kind,
  locatedError,
  OperationTypeNode,
  visit,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import { planOperation, type ObjectPlan, type Operation } from './plan.ts';
import { cancelled, runFields, runFieldsSerially, type Run } from './run.ts';

/** Each combination of `@skip` and `@include` values has its own plan; few combinations occur in practice. */
const MAX_PLANS = 16;

/** Never rejects: failures are part of the result. */
export type Execution = (request: ExecutionRequest) => Promise<ExecutionResult>;

export interface ExecutionRequest {
  /** Optional when the document has only one operation. */
  operationName?: string | null;
  variables?: Record<string, unknown> | null;
  contextValue: unknown;
  /** Once true, no further resolver of a query starts. A mutation that has started runs to its end. */
  isCancelled?: (() => boolean) | undefined;
}

/**
 * Equivalent to graphql-js's `execute` for validated queries and mutations: same results, errors and resolver calls.
 * Computes once per operation what graphql-js recomputes for each field of each object.
 */
export function createExecution(schema: GraphQLSchema, document: DocumentNode): Execution {
  const operations = operationsOf(schema, document);
  const conditions = conditionVariables(document);
  const plans = new Map<string, ObjectPlan>();

  const planOf = (operation: Operation, variables: Record<string, unknown>): ObjectPlan => {
    const name = operation.definition.name?.value ?? '';
    const key = `${name} ${conditions.map((condition) => Number(variables[condition])).join('')}`;
    const known = plans.get(key);
    if (known) return known;
    const [oldest] = plans.keys();
    if (plans.size >= MAX_PLANS && oldest !== undefined) plans.delete(oldest);
    const plan = planOperation(operation, variables);
    plans.set(key, plan);
    return plan;
  };

  return async ({ operationName, variables, contextValue, isCancelled }) => {
    const operation = chooseOperation(operations, operationName);
    if (operation instanceof GraphQLError) return { errors: [operation] };
    const given = getVariableValues(schema, operation.definition.variableDefinitions ?? [], variables ?? {});
    if (given.errors) return { errors: given.errors };
    const isMutation = operation.definition.operation === OperationTypeNode.MUTATION;
    const run: Run = {
      operation,
      variables: given.coerced,
      contextValue,
      isCancelled: isMutation ? undefined : isCancelled,
      errors: [],
    };
    let data: unknown;
    try {
      const plan = planOf(operation, given.coerced);
      data = await (isMutation ? runFieldsSerially(plan, undefined, run) : runFields(plan, undefined, undefined, run));
    } catch (error) {
      run.errors.push(locatedError(error, undefined));
      data = null;
    }
    if (run.isCancelled?.()) return { errors: [cancelled()] };
    const result = { data: data as ExecutionResult['data'] }; // an object of the operation's root type, or null
    return run.errors.length > 0 ? { ...result, errors: [...run.errors] } : result;
  };
}

export function countPlans(document: DocumentNode): number {
  return Math.min(2 ** conditionVariables(document).length, MAX_PLANS);
}

function operationsOf(schema: GraphQLSchema, document: DocumentNode): Operation[] {
  const fragments = Object.fromEntries(
    document.definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  return document.definitions.flatMap((definition) => {
    const rootType = definition.kind === Kind.OPERATION_DEFINITION && schema.getRootType(definition.operation);
    return rootType ? [{ schema, definition, rootType, fragments }] : [];
  });
}

function chooseOperation(operations: Operation[], name: string | null | undefined): Operation | GraphQLError {
  const [only, ...others] = operations.filter(({ definition }) => name == null || definition.name?.value === name);
  if (only && others.length === 0) return only;
  return new GraphQLError(name == null ? 'Name one of the operations.' : `There is no operation "${name}" here.`);
}

function conditionVariables(document: DocumentNode): string[] {
  const names = new Set<string>();
  visit(document, {
    Directive: (directive) => {
      if (directive.name.value !== 'skip' && directive.name.value !== 'include') return;
      for (const { value } of directive.arguments ?? []) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return [...names];
}
