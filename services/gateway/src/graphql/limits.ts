import {
  GraphQLError,
  Kind,
  type ASTVisitor,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type ValidationContext,
} from 'graphql';
import type { GraphQLConfig } from '../config.ts';
import { refusal } from '../graph/client-errors.ts';
import { factsOf, type DocumentFacts } from './document-facts.ts';

const MAX_INTROSPECTION_DEPTH = 20;

export interface DocumentLimits {
  /** A validation rule: everything that does not depend on variables. */
  rule: (context: ValidationContext) => ASTVisitor;
  /** What variables decide. @throws GraphQLError */
  checkCost(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Readonly<Record<string, unknown>>,
  ): void;
}

/** The limits on documents of clients, for any graph. A document is walked once, however often it runs. */
export function createLimits(config: GraphQLConfig): DocumentLimits {
  const known = new WeakMap<OperationDefinitionNode, DocumentFacts>();

  const facts = (schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): DocumentFacts => {
    const found = known.get(operation);
    if (found) return found;
    const fresh = factsOf(schema, document, operation);
    known.set(operation, fresh);
    return fresh;
  };

  return {
    rule: (context) => ({
      Document(document) {
        for (const node of document.definitions) {
          if (node.kind !== Kind.OPERATION_DEFINITION) continue;
          for (const message of problems(facts(context.getSchema(), document, node), config))
            context.reportError(new GraphQLError(message));
        }
      },
    }),
    checkCost(schema, document, operation, variables) {
      if (config.maxCost > 0 && facts(schema, document, operation).cost(variables) > config.maxCost) {
        throw refusal('GRAPHQL_VALIDATION_FAILED', 'The operation asks for too much at once.', 400);
      }
    },
  };
}

function* problems(facts: DocumentFacts, { maxDepth, maxAliases }: GraphQLConfig): Generator<string> {
  if (maxDepth > 0 && facts.depth > maxDepth) yield 'The operation is nested too deeply.';
  if (maxDepth > 0 && facts.introspectionDepth > Math.max(maxDepth, MAX_INTROSPECTION_DEPTH))
    yield 'The introspection is nested too deeply.';
  if (maxAliases > 0 && facts.aliases > maxAliases) yield 'The operation has too many aliases.';
  if (facts.authMutations > 1)
    yield 'An operation may have one mutation of signUp, login, refreshSession, resetPassword and requestPasswordReset.';
}
