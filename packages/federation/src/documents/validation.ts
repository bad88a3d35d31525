import {
  type ASTVisitor,
  type DocumentNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  OverlappingFieldsCanBeMergedRule as OVERLAP,
  parse,
  print,
  type SelectionNode,
  type SelectionSetNode,
  specifiedRules,
  validate,
  type ValidationContext,
  ValuesOfCorrectTypeRule,
  visit,
} from 'graphql';
import { InvalidOperation } from './invalid-operation.ts';
import { enumValuesOf } from './variables.ts';

const MAX_ERRORS = 10;
/** graphql-js's message when it stops comparing overlapping fields. */
const GAVE_UP = 'Validation aborted.';

/** The parts of syntax errors that do not quote the document. */
const SYNTAX_MESSAGE =
  /^Syntax Error: (?:(?:Expected (?:\w+|"[^\w\s]+"|"[a-z]+"|<\w+>), found|Unexpected) (?:Name|Int|Float|String|BlockString|"[^\w\s]+"|<EOF>)|Unterminated string|Document contains more that \d+ tokens)/;

/** @param maxTokens 0 is off @throws InvalidOperation */
export function parseDocument(source: string, maxTokens: number): DocumentNode {
  try {
    return parse(source, maxTokens > 0 ? { maxLexicalTokens: maxTokens } : {});
  } catch (error) {
    // Extremely deep nesting overflows the stack instead of throwing a GraphQLError.
    const { message, source: where, positions } = error instanceof GraphQLError ? error : new GraphQLError('');
    throw new InvalidOperation('GRAPHQL_PARSE_FAILED', [
      new GraphQLError(syntaxMessage(message), { source: where, positions }),
    ]);
  }
}

/** A parser's message as clients see it. */
function syntaxMessage(message: string): string {
  const safe = SYNTAX_MESSAGE.exec(message)?.[0].replace('more that', 'more than');
  return `${safe ?? 'Syntax Error: This cannot be read'}.`;
}

/** Validates clients' documents. Error messages never repeat values of the document. */
export function createValidation(schema: GraphQLSchema, introspection: boolean) {
  const rules = [
    ...specifiedRules
      .filter((rule) => rule !== OVERLAP)
      .map((rule) => (rule === ValuesOfCorrectTypeRule ? valuesOfCorrectType : rule)),
    ...(introspection ? [] : [noIntrospection]),
  ];
  /** @throws InvalidOperation */
  return (document: DocumentNode): void => {
    const options = { maxErrors: MAX_ERRORS, hideSuggestions: !introspection };
    const found = find(() => validate(schema, document, rules, options));
    const errors = found.length > 0 ? found : validate(schema, withFieldsMerged(document), [OVERLAP], options);
    if (errors.length > 0)
      throw new InvalidOperation(
        'GRAPHQL_VALIDATION_FAILED',
        errors.map((error) =>
          error.message === GAVE_UP
            ? new GraphQLError('The document has too many overlapping fields and fragments.')
            : error,
        ),
      );
  };
}

/** graphql-js throws when a variable decides whether a subscription has its field; the next edition of GraphQL forbids that. */
function find(validation: () => readonly GraphQLError[]): readonly GraphQLError[] {
  try {
    return validation();
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return [new GraphQLError('At its top level, a subscription must not use @skip or @include with variables.')];
  }
}

/** Reports each introspection once, without the fields below it. */
function noIntrospection(context: ValidationContext): ASTVisitor {
  return {
    Field(node) {
      if (node.name.value !== '__schema' && node.name.value !== '__type') return undefined;
      context.reportError(new GraphQLError('Introspection is switched off here.', { nodes: node }));
      return false;
    },
  };
}

/** graphql-js's rule, but with messages that do not repeat literals. */
function valuesOfCorrectType(context: ValidationContext): ASTVisitor {
  const reportError = (error: GraphQLError) => {
    const [node] = error.nodes ?? [];
    const isAboutFields = node?.kind === Kind.OBJECT_FIELD || error.message.startsWith('Field "');
    context.reportError(isAboutFields ? error : withoutValue(error, context));
  };
  return ValuesOfCorrectTypeRule(Object.create(context, { reportError: { value: reportError } }) as ValidationContext);
}

function withoutValue({ nodes }: GraphQLError, context: ValidationContext): GraphQLError {
  const type = context.getInputType();
  return new GraphQLError(type ? expected(type, context) : 'This value is not expected.', { nodes });
}

function expected(type: GraphQLInputType, { hideSuggestions }: ValidationContext): string {
  const values = hideSuggestions ? undefined : enumValuesOf(type);
  return `Expected a value of type "${String(type)}"${values === undefined ? '' : `: one of ${values}`}.`;
}

/**
 * Merges equal selections within a set, ignoring their directives. The fields of the result conflict exactly if those of
 * `document` do. Without this, graphql-js would compare all pairs of equal fields, and give up at a few hundred.
 */
function withFieldsMerged(document: DocumentNode): DocumentNode {
  return visit(document, { SelectionSet: mergeSelections });
}

function mergeSelections(set: SelectionSetNode): SelectionSetNode | undefined {
  const groups = Map.groupBy(set.selections, keyOf);
  if (groups.size === set.selections.length) return undefined;
  return { ...set, selections: [...groups.values()].map(together) };
}

/** Everything about a selection except its directives and its own selection set. */
function keyOf({ directives: _, ...bare }: SelectionNode): string {
  if (bare.kind === Kind.FRAGMENT_SPREAD || !bare.selectionSet) return print(bare);
  const { selectionSet: _set, ...head } = bare;
  return `${print(head as SelectionNode)} {`;
}

function together(equals: readonly SelectionNode[]): SelectionNode {
  const [first] = equals as readonly [SelectionNode, ...SelectionNode[]]; // no group is empty
  if (first.kind === Kind.FRAGMENT_SPREAD || !first.selectionSet || equals.length === 1) return first;
  const selections = equals.flatMap((each) => ('selectionSet' in each ? (each.selectionSet?.selections ?? []) : []));
  return { ...first, selectionSet: { ...first.selectionSet, selections } };
}
