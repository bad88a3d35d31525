import {
  getOperationAST,
  GraphQLError,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { createHash } from 'node:crypto';
import type { GraphQLConfig } from '../config.ts';
import { createDocumentCache } from '../supergraph/document-cache.ts';
import { createParts, InvalidOperation } from '../supergraph/executor.ts';
import type { ClientOperation, ParsedDocument } from '../supergraph/graph.ts';
import { fragmentLimit, overLimits } from './limits.ts';
import { sizesOf, type OperationSize } from './operation-size.ts';
import { createValidation, parseDocument } from './validation.ts';

const CACHE_BYTES = 32 * 1024 * 1024;
/** Of an operation that ran, apart from its document. */
const OPERATION_BYTES = 1_024;

export interface DocumentsDeps {
  schema: GraphQLSchema;
  config: GraphQLConfig;
}

interface ValidDocument extends ParsedDocument {
  sizes: ReadonlyMap<string | undefined, OperationSize>;
  /** Those that ran. */
  operations: Map<OperationDefinitionNode, ClientOperation>;
}

/** Prepares clients' documents for one graph: parses, validates, and applies the limits that need no variables. */
export function createDocuments({ schema, config }: DocumentsDeps) {
  /** By the SHA-256 of the text, as Apollo Server asks for documents by that. */
  const known = createDocumentCache<ValidDocument>(CACHE_BYTES);
  const validate = createValidation(schema, config);

  const prepare = (source: string, parsed: Partial<ParsedDocument>): ValidDocument => {
    const { hash = hashOf(source) } = parsed;
    const found = known.get(hash);
    if (found) return found;
    const { document = parseDocument(source, config) } = parsed;
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
    const fresh = { source, hash, document, sizes, operations: new Map() };
    known.set(hash, fresh, bytesOf(document, source));
    return fresh;
  };

  /** @throws InvalidOperation */
  const admit = (source: string, operationName?: string, parsed: Partial<ParsedDocument> = {}): ClientOperation => {
    const valid = prepare(source, parsed);
    const { hash, document, sizes, operations } = valid;
    const operation = getOperationAST(document, operationName);
    const own = operation && sizes.get(operation.name?.value);
    if (!own || !schema.getRootType(operation.operation))
      throw new InvalidOperation('OPERATION_RESOLUTION_FAILURE', [
        new GraphQLError('There is no such operation in the document.'),
      ]);
    const ran = operations.get(operation);
    if (ran) return ran;
    const { cost } = own;
    const fresh: ClientOperation = {
      source,
      schema,
      document,
      operation,
      operationName: operation.name?.value,
      partOf: createParts((bytes) => known.resize(hash, valid, bytes)),
      hideSuggestions: !config.introspection,
      cost,
    };
    operations.set(operation, fresh);
    known.resize(hash, valid, OPERATION_BYTES);
    return fresh;
  };

  return {
    admit,
    /** The document with this hash, if it is kept. */
    parsed: (hash: string): DocumentNode | undefined => known.get(hash)?.document,
    /** What is kept. */
    bytes: () => known.bytes,
  };
}

const hashOf = (source: string) => createHash('sha256').update(source).digest('hex');

/** The memory of a document, without what is made of it later. The factors were measured. */
function bytesOf(document: DocumentNode, source: string): number {
  let tokens = 0;
  for (let token = document.loc?.startToken; token; token = token.next ?? undefined) tokens++;
  return 5_120 + 4 * source.length + 400 * tokens;
}
