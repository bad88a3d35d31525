import {
  getDirectiveValues,
  getOperationAST,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  visit,
  type DirectiveNode,
  type DocumentNode,
  type GraphQLSchema,
  type SelectionNode,
  type VariableNode,
} from 'graphql';

export type ClientOperation = ReturnType<typeof clientOperation>;

/** @throws Error when the document has no such operation */
export function clientOperation(schema: GraphQLSchema, document: DocumentNode, name?: string) {
  const definition = getOperationAST(document, name);
  if (!definition) throw new Error('The document has no such operation.');
  const rootType = schema.getRootType(definition.operation);
  if (!rootType) throw new Error(`The schema has no ${definition.operation}.`);
  const fragments = Object.fromEntries(
    document.definitions
      .filter((each) => each.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  return { schema, definition, rootType, fragments };
}

const isCondition = ({ name }: DirectiveNode) => name.value === 'skip' || name.value === 'include';

/** The variables used in `@skip` and `@include`, which decide which fields are selected. */
export function conditionVariables({ definition, fragments }: ClientOperation): string[] {
  const names = new Set<string>();
  for (const node of [definition, ...Object.values(fragments)])
    visit(node, {
      Directive: (directive) => {
        if (!isCondition(directive)) return;
        for (const { value } of directive.arguments ?? [])
          if (value.kind === Kind.VARIABLE) names.add(value.name.value);
      },
    });
  const declared = definition.variableDefinitions ?? [];
  return declared.map(({ variable }) => variable.name.value).filter((name) => names.has(name));
}

/** The document with these values in its `@skip` and `@include`; the same one if they depend on no variables. */
export function settleConditions(document: DocumentNode, variables: Readonly<Record<string, unknown>>): DocumentNode {
  const valueOf = ({ name }: VariableNode) => ({ kind: Kind.BOOLEAN, value: variables[name.value] === true });
  return visit(document, {
    Directive(directive) {
      const settled = isCondition(directive) ? visit(directive, { Variable: valueOf }) : directive;
      return settled === directive ? undefined : settled;
    },
  });
}

export function isIncluded(node: SelectionNode, variables: Record<string, unknown>): boolean {
  if (!node.directives?.length) return true;
  return (
    getDirectiveValues(GraphQLSkipDirective, node, variables)?.if !== true &&
    getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if !== false
  );
}
