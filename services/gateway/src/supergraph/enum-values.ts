import { getNamedType, isEnumType, type GraphQLInputType } from 'graphql';

/** An enum of another graph may be as long as a book. */
const MOST = 20;

/** What a client may choose from, for messages: `LOW, MEDIUM, HIGH`; undefined where the type is enough to say. */
export function enumValuesOf(type: GraphQLInputType): string | undefined {
  const named = getNamedType(type);
  if (!isEnumType(named)) return undefined;
  const names = named.getValues().map(({ name }) => name);
  return names.length <= MOST ? names.join(', ') : undefined;
}
