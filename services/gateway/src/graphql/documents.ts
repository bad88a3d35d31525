import { costOf, createParts, createSizer, type OperationSize } from '@taskmesh/federation';
import {
  type DocumentNode,
  getOperationAST,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import type { GraphQLConfig } from '../config.ts';
import { SIZES } from '../supergraph/document-rules.ts';
import { InvalidOperation, LARGE_COST, type PreparedOperation } from '../supergraph/operation.ts';
import { createValidation, parseDocument } from './validation.ts';

const CACHE_BYTES = 32 * 1024 * 1024;
/** Memory of an operation that ran, in addition to its document. */
const OPERATION_BYTES = 1_024;

interface ValidDocument {
  /** The SHA-256 of its text. */
  hash: string;
  document: DocumentNode;
  sizes: ReadonlyMap<OperationDefinitionNode, OperationSize>;
  /** The operations that ran. */
  operations: Map<OperationDefinitionNode, PreparedOperation>;
  /** The memory of the document and everything derived from it. */
  bytes: number;
}

/** Prepares clients' documents for one graph: parses, validates, and applies the limits that need no variables. */
export function createDocuments({ schema, config }: { schema: GraphQLSchema; config: GraphQLConfig }) {
  /** By the SHA-256 of the text, because Apollo Server looks documents up by it. */
  const known = new LRUCache<string, ValidDocument>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ bytes }) => bytes,
  });
  const validate = createValidation(schema, config);

  /** Adds to the size of a document (or subtracts, if negative). This may evict it, if it has not been evicted before. */
  const resize = (document: ValidDocument, bytes: number) => {
    document.bytes += bytes;
    if (known.peek(document.hash) !== document) return;
    known.delete(document.hash); // setting the same value again would not update its size
    known.set(document.hash, document);
  };

  const hashOf = (source: string) => createHash('sha256').update(source).digest('hex');

  const prepare = (source: string, hash: string): ValidDocument => {
    const document = parseDocument(source, config);
    const defined = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
    const sizeOf = createSizer({ schema, document }, SIZES);
    const sizes = new Map(defined.map((operation) => [operation, sizeOf(operation)]));
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
    const fresh = { hash, document, sizes, operations: new Map(), bytes: bytesOf(document, source) };
    known.set(hash, fresh);
    return fresh;
  };

  const operationIn = (valid: ValidDocument, source: string, operationName?: string): PreparedOperation => {
    const { document, sizes, operations } = valid;
    const operation = getOperationAST(document, operationName);
    const size = operation && sizes.get(operation);
    if (!size || !schema.getRootType(operation.operation))
      throw new InvalidOperation('OPERATION_RESOLUTION_FAILURE', [
        new GraphQLError('There is no such operation in the document.'),
      ]);
    const ran = operations.get(operation);
    if (ran) return ran;
    const fresh: PreparedOperation = {
      source,
      schema,
      document,
      operation,
      operationName: operation.name?.value,
      partOf: createParts((bytes) => resize(valid, bytes)),
      get bytes() {
        return valid.bytes;
      },
      // The cost of introspection does not reflect how many types the schema has.
      isLarge: size.fields > MANY_FIELDS || size.cost > LARGE_COST || size.introspectionDepth > 0,
      hideSuggestions: !config.introspection,
      cost: costOf({ schema, document, operation }, SIZES, size),
    };
    operations.set(operation, fresh);
    resize(valid, OPERATION_BYTES);
    return fresh;
  };

  /** Returns the operation if its document is cached. @throws InvalidOperation */
  const admitKnown = (source: string, operationName?: string, hash = hashOf(source)): PreparedOperation | undefined => {
    const valid = known.get(hash);
    return valid && operationIn(valid, source, operationName);
  };

  return {
    admitKnown,
    /** @throws InvalidOperation */
    admit(source: string, operationName?: string): PreparedOperation {
      const hash = hashOf(source);
      return admitKnown(source, operationName, hash) ?? operationIn(prepare(source, hash), source, operationName);
    },
    /** The document with this hash, if it is cached. */
    parsed: (hash: string): DocumentNode | undefined => known.get(hash)?.document,
    /** The memory of the cached documents. */
    bytes: () => known.calculatedSize,
  };
}

/** The memory of a document, without what is derived from it later. The factors were measured. */
function bytesOf(document: DocumentNode, source: string): number {
  let tokens = 0;
  for (let token = document.loc?.startToken; token; token = token.next ?? undefined) tokens++;
  return 5_120 + 4 * source.length + 500 * tokens;
}

/** Hand-written operations have fewer. */
const MANY_FIELDS = 100;
const MAX_INTROSPECTION_DEPTH = 20;
/** Applies with fragments expanded, because planning takes as long as if they were written out. */
const MAX_FIELDS = 2_000;
/** Blanks, comments and strings take time even if they are few tokens, and each error counts its line from the beginning. */
const MAX_CHARACTERS_PER_TOKEN = 32;
const MAX_LINES = 10_000;
const MIN_TOKENS = 4_000;
/** Validation compares fragments with each other, and with each operation. */
const MAX_FRAGMENT_PAIRS = 20_000;

/** Whether the text alone exceeds the limits: docs/limits.md. */
export function isTooLong(source: string, { maxTokens }: Pick<GraphQLConfig, 'maxTokens'>): boolean {
  if (maxTokens === 0 || source.length <= MAX_LINES) return false; // a line has at least one character
  const maxLines = Math.max(maxTokens, MAX_LINES);
  return source.length > maxCharacters(maxTokens) || source.split(/\r\n|[\n\r]/, maxLines + 1).length > maxLines;
}

const maxCharacters = (maxTokens: number) => Math.max(maxTokens, MIN_TOKENS) * MAX_CHARACTERS_PER_TOKEN;

/** Whether the document has too many fragments: docs/limits.md. */
function* fragmentLimit(
  { definitions }: DocumentNode,
  { maxTokens }: Pick<GraphQLConfig, 'maxTokens'>,
): Generator<string> {
  const fragments = definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).length;
  if (maxTokens > 0 && fragments * definitions.length > MAX_FRAGMENT_PAIRS)
    yield 'The document has too many fragments.';
}

/** The limits that an operation exceeds, independent of its variables: docs/limits.md. */
function* overLimits(size: OperationSize, { maxDepth, maxAliases, maxTokens }: GraphQLConfig): Generator<string> {
  if (maxDepth > 0 && size.depth > maxDepth) yield 'The operation is nested too deeply.';
  if (maxDepth > 0 && size.introspectionDepth > Math.max(maxDepth, MAX_INTROSPECTION_DEPTH))
    yield 'The introspection is nested too deeply.';
  if (maxAliases > 0 && size.aliases > maxAliases) yield 'The operation has too many aliases.';
  if (maxTokens > 0 && size.fields > Math.max(maxTokens / 2, MAX_FIELDS)) yield 'The operation has too many fields.';
  if (maxTokens > 0 && size.characters > maxCharacters(maxTokens)) yield 'The arguments of the operation are too long.';
  if (size.counted > 1)
    yield 'An operation may have one mutation that proves or replaces a password, an address or a token.';
}
