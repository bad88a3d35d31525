import { readVersion } from '@taskmesh/service';
import type { FastifyInstance } from 'fastify';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { acceptsGzip, addVary } from '../../http/negotiation.ts';
import { type Envelope, JSON_TYPE, serveReadOnly } from '../../http/replies.ts';
import { excludeFromUnread } from '../../http/unread-responses.ts';
import { type Endpoint, isBytes } from '../endpoint.ts';
import { IDEMPOTENCY_KEY, IF_MATCH, isKnown } from '../preconditions.ts';
import { taskResponse, reducedTask } from '../schemas/responses.ts';
import { type Mount, NDJSON_TYPE } from '../serve-endpoints.ts';
import { ERROR_SCHEMAS, errorResponses, failureReferences } from './errors.ts';
import { contentOf, type JsonSchema, mediaOf, schemasOf } from './schemas.ts';

/** A group of endpoints, and the chapter that describes it. */
export interface Chapter extends Mount {
  tag: string;
  description: string;
}

const INTRODUCTION = `Accounts, tasks, backups and the platform's health: JSON over HTTP.

Get an access token by signing up or logging in and send it as \`Authorization: Bearer <token>\`. Logging out revokes it at once.
Programs send a personal token in its place: \`POST /api/auth/tokens\` creates one, to read only or to read and write.

HEAD returns what GET does, without a body. OPTIONS returns 204 with \`Allow\`; methods that are not listed return 405 with \`Allow\`.
Unknown fields and parameters are ignored. Times are RFC 3339 and are returned in UTC with milliseconds.
Errors are JSON: \`error.code\` is for programs, \`message\` for people, and \`error.details\` names the fields.
At any path, a request with more than 16 KiB of headers, or more than 100 of them, is a 431, and one that takes too long to arrive a 408.`;

export type OpenApiDocument = ReturnType<typeof describeApi>;

/** The API description (OpenAPI 3.1), generated from the same tables and schemas that serve and check requests. */
export function describeApi(chapters: readonly Chapter[], publicUrl: string) {
  const endpoints = chapters.flatMap((chapter) => chapter.endpoints);
  const paths: Record<string, Record<string, ReturnType<typeof operationOf>>> = {};
  for (const { prefix, envelope, endpoints: members, tag } of chapters) {
    for (const endpoint of members) {
      const path = (paths[`${prefix}${endpoint.path}`] ??= {});
      path[endpoint.method.toLowerCase()] = operationOf(endpoint, { envelope, tag });
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Taskmesh',
      version: readVersion(),
      description: INTRODUCTION,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
      contact: { name: 'Taskmesh', url: 'https://github.com/taskmesh/taskmesh/issues' },
    },
    servers: [{ url: publicUrl }],
    tags: chapters.map(({ tag, description }) => ({ name: tag, description })),
    paths,
    components: {
      schemas: schemasOf(endpoints, Object.values(ERROR_SCHEMAS)),
      responses: Object.fromEntries(chapters.flatMap((chapter) => Object.entries(errorResponses(chapter)))),
      headers: {
        RequestId: { description: 'Identifies this request in our logs.', schema: { type: 'string' } },
        Authenticate: { description: 'How to authenticate.', schema: { type: 'string', const: 'Bearer' } },
        RetryAfter: { description: 'Seconds to wait before trying again.', schema: { type: 'integer', minimum: 1 } },
        ETag: {
          description: 'The version of the task, for `If-Match` and `If-None-Match`.',
          schema: { type: 'string', examples: ['"1"'] },
        },
        Link: {
          description: 'The next page (`rel="next"`), relative to this URL; absent on the last one.',
          required: false,
          schema: { type: 'string', examples: ['<?limit=1000&offset=1000>; rel="next"'] },
        },
      },
      securitySchemes: {
        accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        backupToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'The value of `BACKUP_TOKEN`, or the token of the machine that Taskmesh runs on.',
        },
      },
    },
  };
}

/** Serves the description, which is serialized and compressed only once. */
export function serveDescription(app: FastifyInstance, document: OpenApiDocument): void {
  const bytes = Buffer.from(JSON.stringify(document));
  const forms = [bytes, gzipSync(bytes)].map((form) => ({ form, etag: tagOf(form) }));
  serveReadOnly(app, '/api/openapi.json', (request, reply) => {
    addVary(reply, 'Accept-Encoding').header('x-content-type-options', 'nosniff').header('cache-control', 'no-cache');
    const isCompressed = acceptsGzip(request.headers['accept-encoding']);
    const { form, etag } = forms[isCompressed ? 1 : 0] as (typeof forms)[number];
    if (isCompressed) reply.header('content-encoding', 'gzip');
    reply.header('etag', etag);
    if (isKnown(etag, request.headers['if-none-match'])) return reply.code(304).send();
    excludeFromUnread(reply.raw);
    return reply.header('content-type', JSON_TYPE).send(form);
  });
}

const tagOf = (bytes: Buffer) => `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 16)}"`;

const LONG = `With \`Accept: ${NDJSON_TYPE}\` the response is a 200 whose lines report progress; the last line has the ordinary response and its \`status\`.`;

const LOCATION = { description: 'Where to go.', schema: { type: 'string' } };
const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
const TASK_ETAG = { ETag: { $ref: '#/components/headers/ETag' } };

const SECURITY: Record<Endpoint['access'], object[]> = {
  user: [{ accessToken: [] }],
  public: [],
  optional: [{ accessToken: [] }, {}],
  // Without a backup token, it depends on where the request comes from and, for pages, on this machine's token.
  operator: [{ backupToken: [] }, {}],
  'operators-place': [],
};

function operationOf(endpoint: Endpoint, { envelope, tag }: { envelope: Envelope; tag: string }) {
  const { name, summary, access, bodySchema } = endpoint;
  const description = [endpoint.description, endpoint.lineSchema && LONG].filter(Boolean).join(' ');
  const parameters = parametersOf(endpoint);
  return {
    operationId: name,
    tags: [tag],
    summary,
    ...(description && { description }),
    security: SECURITY[access],
    ...(parameters.length > 0 && { parameters }),
    ...(bodySchema && { requestBody: { required: true, content: contentOf(bodySchema) } }),
    responses: {
      ...successesOf(endpoint),
      ...(endpoint.headers?.includes('if-none-match') && { 304: NOT_MODIFIED }),
      ...failureReferences(endpoint, envelope),
    },
  };
}

/** Responses in lines are always a 200; the ordinary status is on the last line. */
function successesOf({ responseSchema, lineSchema, status = 200, isPaged }: Endpoint): Record<number, object> {
  if (!responseSchema)
    return { [status]: { description: 'A redirect.', headers: { ...REQUEST_ID, Location: LOCATION } } };
  const lines = lineSchema && { [NDJSON_TYPE]: mediaOf(lineSchema) };
  const ordinary = {
    description: status === 201 ? 'Created.' : 'Done.',
    headers: {
      ...REQUEST_ID,
      ...(isBytes(responseSchema) && { ETag: { description: responseSchema.etag, schema: { type: 'string' } } }),
      ...((responseSchema === taskResponse || responseSchema === reducedTask) && TASK_ETAG),
      ...(isPaged && { Link: { $ref: '#/components/headers/Link' } }),
    },
    content: contentOf(responseSchema),
  };
  if (!lines) return { [status]: ordinary };
  if (status === 200) return { 200: { ...ordinary, content: { ...ordinary.content, ...lines } } };
  return {
    200: { description: 'Progress, line by line.', headers: REQUEST_ID, content: lines },
    [status]: ordinary,
  };
}

const NOT_MODIFIED = { description: 'The task has not changed.', headers: { ...REQUEST_ID, ...TASK_ETAG } };

interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

function parametersOf({ path, query, headers = [] }: Endpoint): Parameter[] {
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => pathParameter(name)),
    ...headers.map((name) => HEADERS[name]),
    ...(query ? queryParameters(query.schema) : []),
  ];
}

function queryParameters(query: z.ZodObject): Parameter[] {
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: 'input' }) as JsonSchema; // an object's schema
  return Object.entries(properties).map(([name, { description, ...schema }]) => {
    const byDefault = query.shape[name]?.meta()?.default;
    return {
      name,
      in: 'query',
      required: required.includes(name),
      ...(description !== undefined && { description }),
      schema: byDefault === undefined ? schema : { ...schema, default: byDefault },
    };
  });
}

function pathParameter(name: string): Parameter {
  const parameter = PATH[name];
  if (!parameter) throw new Error(`the parameter ${name} has no description`);
  return { name, in: 'path', required: true, ...parameter };
}

const uuid = (description: string) => ({ description, schema: { type: 'string', format: 'uuid' } });

const PATH: Record<string, Pick<Parameter, 'description' | 'schema'>> = {
  id: uuid('The id of a task. Anything but a UUID is not found.'),
  tokenId: uuid('The id of one of your tokens, from the list.'),
  identityId: uuid('The id of one of your linked identities, from the list.'),
  sessionId: uuid('The id of one of your sessions, from the list.'),
  deadLetterId: {
    description: 'The id of a dead letter, from the list.',
    schema: { type: 'string', pattern: '^\\d{1,18}$' },
  },
  file: {
    description: 'The name of an archive, from the list.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
};

const header = (name: string, description: string, schema: JsonSchema): Parameter => ({
  ...{ name, in: 'header', required: false },
  description,
  schema: { type: 'string', ...schema },
});

const HEADERS: Record<NonNullable<Endpoint['headers']>[number], Parameter> = {
  'if-match': header(
    'If-Match',
    'The `ETag` of the task as you know it. The request fails with 412 if it has changed since.',
    { pattern: IF_MATCH.source, examples: ['"1"'] },
  ),
  'if-none-match': header(
    'If-None-Match',
    'The `ETag` of the task as you know it. The response is 304 without a body if it has not changed.',
    { examples: ['"1"'] },
  ),
  'idempotency-key': header(
    'Idempotency-Key',
    'Makes retries safe: for 24 hours, the same key with the same body creates only one task.',
    { minLength: 1, maxLength: 255, pattern: IDEMPOTENCY_KEY.source },
  ),
};
