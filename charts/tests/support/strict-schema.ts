import ts from 'typescript';

/** JSON Schema, and what Kubernetes adds to it, as far as anybody here looks at it. */
export interface Schema {
  type?: string | string[];
  nullable?: boolean;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  [keyword: string]: unknown;
}

/**
 * The schema of a custom kind as JSON Schema that refuses what a server warns of and drops: fields that it does not name.
 * Alternatives (`oneOf` and the like) stay: they only narrow what is named around them.
 */
export function strictSchema(schema: Schema): Schema {
  const { type, nullable, properties, items, additionalProperties, ...others } = schema;
  const isClosed = properties && additionalProperties === undefined && !schema['x-kubernetes-preserve-unknown-fields'];
  return {
    ...others,
    ...(type && { type: nullable ? [type, 'null'].flat() : type }),
    ...(items && { items: strictSchema(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, strictSchema(each)])),
    }),
    ...(isClosed && { additionalProperties: false }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object' ? strictSchema(additionalProperties) : additionalProperties,
    }),
  };
}

/**
 * An interface as JSON Schema that takes no other fields: for kinds that are published as types only.
 * @throws Error at a type that it does not know
 */
export function schemaOfInterface(text: string, name: string): Schema {
  const found = ts
    .createSourceFile('types.d.ts', text, ts.ScriptTarget.Latest)
    .statements.filter(ts.isInterfaceDeclaration)
    .find((each) => each.name.text === name);
  if (!found) throw new Error(`There is no interface ${name}.`);
  return ofMembers(found.members, true);
}

const PLAIN: Partial<Record<ts.SyntaxKind, Schema>> = {
  [ts.SyntaxKind.StringKeyword]: { type: 'string' },
  [ts.SyntaxKind.NumberKeyword]: { type: 'number' },
  [ts.SyntaxKind.BooleanKeyword]: { type: 'boolean' },
  [ts.SyntaxKind.AnyKeyword]: {},
};

/** @param isClosed that other fields are refused */
function ofType(type: ts.TypeNode, isClosed = true): Schema {
  if (ts.isParenthesizedTypeNode(type)) return ofType(type.type, isClosed);
  if (ts.isTypeLiteralNode(type)) return ofMembers(type.members, isClosed);
  if (ts.isArrayTypeNode(type)) return { type: 'array', items: ofType(type.elementType, isClosed) };
  if (ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal)) return { enum: [type.literal.text] };
  if (ts.isUnionTypeNode(type)) return { anyOf: type.types.map((each) => ofType(each, isClosed)) };
  // The first has every field; the others say which of them go together.
  if (ts.isIntersectionTypeNode(type))
    return { allOf: type.types.map((each, at) => ofType(each, isClosed && at === 0)) };
  if (ts.isTypeReferenceNode(type) && ts.isIdentifier(type.typeName)) {
    const [item] = type.typeArguments ?? [];
    if (type.typeName.text === 'Array' && item) return { type: 'array', items: ofType(item, isClosed) };
    if (type.typeName.text === 'IObjectMeta') return { type: 'object' };
  }
  const plain = PLAIN[type.kind];
  if (plain) return plain;
  throw new Error(`This type is not known: ${ts.SyntaxKind[type.kind]}.`);
}

function ofMembers(members: ts.NodeArray<ts.TypeElement>, isClosed: boolean): Schema {
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  let additionalProperties: Schema | boolean = members.length === 0 || !isClosed;
  for (const member of members) {
    if (ts.isIndexSignatureDeclaration(member)) additionalProperties = ofType(member.type, isClosed);
    if (!ts.isPropertySignature(member) || !member.type || !ts.isStringLiteral(member.name)) continue;
    properties[member.name.text] = ofType(member.type, isClosed);
    if (!member.questionToken) required.push(member.name.text);
  }
  // kubeconform reads draft 4, where an empty list is not one of names.
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties };
}
