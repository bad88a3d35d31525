import {
  GraphQLError,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  validate,
  getOperationAST,
  type GraphQLSchema,
} from 'graphql';
import { createHash } from 'node:crypto';
import type { GraphQLConfig } from '../config.ts';
import { TextCache } from '../graph/document-cache.ts';
import { InvalidOperation, type PreparedOperation } from '../graph/executor.ts';
import type { DocumentLimits } from './limits.ts';
import type { TrustedDocuments } from './trusted-documents.ts';

const DOCUMENT_BUDGET_CHARS = 2 * 1024 * 1024;
const MAX_ERRORS = 10;

export function parseOptions({ maxTokens }: GraphQLConfig): { maxTokens?: number } {
  return maxTokens > 0 ? { maxTokens } : {};
}

export interface AdmitDeps {
  schema: GraphQLSchema;
  config: GraphQLConfig;
  limits: DocumentLimits;
  trusted: TrustedDocuments;
}

/** Prepares clients' documents for transports that go without Apollo Server: what it does for them, with the same rules. */
export function createAdmit({ schema, config, limits, trusted }: AdmitDeps) {
  const admitted = new TextCache<PreparedOperation>(DOCUMENT_BUDGET_CHARS);
  // Apollo Server has a rule of its own against introspection.
  const rules = [...specifiedRules, ...(config.introspection ? [] : [NoSchemaIntrospectionCustomRule]), limits.rule];

  /** @throws InvalidOperation */
  return (source: string, operationName?: string): PreparedOperation => {
    const key = operationName === undefined ? source : `${operationName}\n${source}`;
    const known = admitted.get(key);
    if (known) return known;
    const document = orInvalid('GRAPHQL_PARSE_FAILED', () => {
      trusted.check(source);
      return parse(source, parseOptions(config));
    });
    const errors = validate(schema, document, rules, { maxErrors: MAX_ERRORS, hideSuggestions: !config.introspection });
    if (errors.length > 0) throw new InvalidOperation('GRAPHQL_VALIDATION_FAILED', errors);
    const operation = getOperationAST(document, operationName);
    if (!operation || !schema.getRootType(operation.operation))
      throw new InvalidOperation('OPERATION_RESOLUTION_FAILURE', [
        new GraphQLError('There is no such operation in the document.'),
      ]);
    orInvalid('GRAPHQL_VALIDATION_FAILED', () => limits.checkCost(schema, document, operation, {}));
    const hash = createHash('sha256').update(source).digest('hex');
    const fresh = { source, hash, schema, document, operation, operationName: operation.name?.value };
    admitted.set(key, fresh);
    return fresh;
  };
}

function orInvalid<Result>(code: InvalidOperation['code'], act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw new InvalidOperation(code, [
      error instanceof GraphQLError ? error : new GraphQLError('The document cannot be used.'),
    ]);
  }
}
