import { isAbstractType, isInterfaceType, isObjectType, type GraphQLSchema } from 'graphql';

/** Whether an object with this `typeName` matches a type condition. For an interface object, `typeName` may be the interface. */
export type IsOfType = (typeName: unknown, condition: string) => boolean;

export function createTypeConditions(supergraphSchema: GraphQLSchema): IsOfType {
  return (typeName, condition) => {
    if (typeName === condition) return true;
    const type = typeof typeName === 'string' ? supergraphSchema.getType(typeName) : undefined;
    const wanted = supergraphSchema.getType(condition);
    if (!isAbstractType(wanted) || !(isObjectType(type) || isInterfaceType(type))) return false;
    return supergraphSchema.isSubType(wanted, type);
  };
}
