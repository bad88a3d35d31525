import { getOperationAST, GraphQLError, type DocumentNode, type GraphQLSchema } from 'graphql';
import type { GraphQLConfig } from '../config.ts';
import { createDocumentCache, documentKey } from '../graph/document-cache.ts';
import { createParts, InvalidOperation } from '../graph/executor.ts';
import type { ClientOperation } from '../graph/graph.ts';
import { sizesOf } from './operation-size.ts';
import { fragmentLimit, overLimits } from './limits.ts';
import { createValidation, parseDocument } from './validation.ts';

const CACHE_BYTES = 32 * 1024 * 1024;

export interface DocumentsDeps {
  schema: GraphQLSchema;
  config: GraphQLConfig;
}

/** Prepares clients' documents for one graph: parses, validates, and applies the limits that need no variables. */
export function createDocuments({ schema, config }: DocumentsDeps) {
  const known = createDocumentCache<ClientOperation>(CACHE_BYTES);
  const validate = createValidation(schema, config);

  /** @throws InvalidOperation */
  const admit = (source: string, operationName?: string): ClientOperation => {
    const key = documentKey(source, operationName);
    const found = known.get(key);
    if (found) return found;
    const document = parseDocument(source, config);
    const sizes = sizesOf(schema, document);
    const problems = [
      ...fragmentLimit(document, config),
      ...[...sizes.values()].flatMap((each) => [...overLimits(each, config)]),
    ];
    if (problems.length > 0)
      throw new InvalidOperation(
        'GRAPHQL_VALIDATION_FAILED',
        [...new Set(problems)].map((message) => new GraphQLError(message)),
      );
    validate(document);
    const operation = getOperationAST(document, operationName);
    const own = operation && sizes.get(operation.name?.value);
    if (!own || !schema.getRootType(operation.operation))
      throw new InvalidOperation('OPERATION_RESOLUTION_FAILURE', [
        new GraphQLError('There is no such operation in the document.'),
      ]);
    const { cost } = own;
    const hideSuggestions = !config.introspection;
    const fresh: ClientOperation = {
      source,
      schema,
      document,
      operation,
      operationName: operation.name?.value,
      partOf: createParts((bytes) => known.resize(key, fresh, bytes)),
      hideSuggestions,
      cost,
    };
    known.set(key, fresh, bytesOf(document, source));
    return fresh;
  };
  return Object.assign(admit, { /** What is kept. */ bytes: () => known.bytes });
}

/** The memory of a document, without what is made of it later. The factors were measured. */
function bytesOf(document: DocumentNode, source: string): number {
  let tokens = 0;
  for (let token = document.loc?.startToken; token; token = token.next ?? undefined) tokens++;
  return 6_144 + 4 * source.length + 400 * tokens;
}
