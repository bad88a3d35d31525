import { BREAK, execute, type GraphQLSchema, Kind, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import type { PreparedOperation } from '@taskmesh/federation';
import type { ChangeEvent } from './change-event.ts';
import { EVENT_FIELDS } from './subscription-plan.ts';

/**
 * Compiles a subscription whose whole selection is in the event: the returned function writes its result at once, without
 * requests to services. Undefined when a field has to be fetched, or when a directive may depend on variables.
 */
export function compileProjection(
  schema: GraphQLSchema,
  { document, operation }: PreparedOperation,
): ((event: ChangeEvent) => string) | undefined {
  const [field, ...others] = operation.selectionSet.selections;
  if (field?.kind !== Kind.FIELD || others.length > 0) return undefined;
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  // The arguments decide which changes become events, not what an event shows.
  const selectionSet = { ...operation.selectionSet, selections: [{ ...field, arguments: [] }] };
  const projected = {
    ...document,
    definitions: [{ ...operation, variableDefinitions: [], selectionSet }, ...fragments],
  };
  let isWhole = true;
  const leave = () => {
    isWhole = false;
    return BREAK;
  };
  const types = new TypeInfo(schema);
  visit(
    projected,
    visitWithTypeInfo(types, {
      Directive: leave,
      Field({ name }) {
        return EVENT_FIELDS[types.getParentType()?.name ?? '']?.has(name.value) ? undefined : leave();
      },
    }),
  );
  if (!isWhole) return undefined;
  return (event) => JSON.stringify(execute({ schema, document: projected, rootValue: { taskChanges: event } }));
}
