import { z } from 'zod';
import type { Endpoint } from '../endpoint.ts';
import type { Envelope } from '../../http/errors.ts';
import { oneTask, reducedTask } from '../schemas/answers.ts';
import { plainError, tasksError } from '../schemas/errors.ts';
import type { Mount } from '../serve.ts';
import { errorReference, errorResponses, failuresOf, statusOf } from './error-responses.ts';
import { idOf, mediaOf } from './media.ts';
import type { JsonSchema, OpenApiDocument, Operation, Parameter, Response } from './types.ts';

/** A group of endpoints with the name of its chapter. */
export interface Chapter extends Mount {
  tag: string;
  description: string;
}

/** Endpoints that describe themselves. */
export interface ApiPart {
  tag: { name: string; description: string };
  paths: OpenApiDocument['paths'];
  /** What answers are made of. */
  schemas: z.ZodType[];
  responses: OpenApiDocument['components']['responses'];
  headers: OpenApiDocument['components']['headers'];
  securitySchemes: OpenApiDocument['components']['securitySchemes'];
}

const INTRODUCTION = `Accounts, tasks and backups: JSON over HTTP.

Get an access token from sign-up or login and send it as \`Authorization: Bearer <token>\`. Logging out ends it at once.

HEAD answers as GET without a body, OPTIONS with 204 and \`Allow\`; other methods than the listed ones are a 405 with \`Allow\`.
Unknown fields and parameters are ignored. Times are RFC 3339; they come back in UTC with milliseconds.
Errors are JSON: \`error.code\` is for programs, \`message\` for people, \`error.details\` name the fields.`;

const JSON_BODY = 'application/json';

/** The API description (OpenAPI 3.1), made from the very schemas that requests are checked with. */
export function describeApi(
  chapters: readonly Chapter[],
  publicUrl: string,
  others: readonly ApiPart[] = [],
): OpenApiDocument {
  const endpoints = chapters.flatMap((chapter) => chapter.endpoints);
  const paths: OpenApiDocument['paths'] = {};
  for (const { prefix, envelope, endpoints: members, tag } of chapters) {
    for (const endpoint of members) {
      const path = (paths[`${prefix}${endpoint.path}`] ??= {});
      path[endpoint.method.toLowerCase()] = operationOf(endpoint, { envelope, tag });
    }
  }
  for (const part of others) Object.assign(paths, part.paths);
  return {
    openapi: '3.1.0',
    info: { title: 'Taskmesh', version: '1.0.0', description: INTRODUCTION },
    servers: [{ url: publicUrl }],
    tags: [...chapters.map(({ tag, description }) => ({ name: tag, description })), ...others.map(({ tag }) => tag)],
    paths,
    components: {
      schemas: {
        ...named(
          endpoints.flatMap(({ bodySchema }) => bodySchema ?? []),
          'input',
        ),
        ...named(
          [
            ...endpoints.map(({ answerSchema }) => answerSchema),
            plainError,
            tasksError,
            ...others.flatMap(({ schemas }) => schemas),
          ],
          'output',
        ),
      },
      responses: Object.assign(
        {},
        ...[...new Set(chapters.map(({ envelope }) => envelope))].map(errorResponses),
        ...others.map(({ responses }) => responses),
      ),
      headers: {
        RequestId: { description: 'Names this request in our log.', schema: { type: 'string' } },
        Authenticate: { description: 'How to authenticate.', schema: { type: 'string', const: 'Bearer' } },
        RetryAfter: { description: 'Seconds to wait before the next try.', schema: { type: 'integer', minimum: 1 } },
        ETag: {
          description: 'The version of the task, for `If-Match` and `If-None-Match`.',
          schema: { type: 'string', examples: ['"1"'] },
        },
        Link: {
          description: 'Where the list goes on (`rel="next"`), relative to this address; absent at its end.',
          required: false,
          schema: { type: 'string', examples: ['<?limit=1000&offset=1000>; rel="next"'] },
        },
        ...Object.assign({}, ...others.map(({ headers }) => headers)),
      },
      securitySchemes: {
        accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        ...Object.assign({}, ...others.map(({ securitySchemes }) => securitySchemes)),
      },
    },
  };
}

function operationOf(endpoint: Endpoint, { envelope, tag }: { envelope: Envelope; tag: string }): Operation {
  const { name, summary, description, access, bodySchema } = endpoint;
  const parameters = parametersOf(endpoint);
  return {
    operationId: name,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: access === 'user' ? [{ accessToken: [] }] : [],
    ...(parameters.length > 0 && { parameters }),
    ...(bodySchema && { requestBody: { required: true, content: { [JSON_BODY]: mediaOf(bodySchema) } } }),
    responses: {
      [endpoint.status]: successOf(endpoint),
      ...(endpoint.headers?.includes('if-none-match') && { 304: NOT_MODIFIED }),
      ...Object.fromEntries(
        failuresOf(endpoint).map((failure) => [statusOf(failure), errorReference(envelope, failure)]),
      ),
    },
  };
}

function successOf({ answerSchema, status, exampleMessage, isPaged }: Endpoint): Response {
  const showsOneTask = answerSchema === oneTask || answerSchema === reducedTask;
  return {
    description: status === 201 ? 'Created.' : 'Done.',
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      ...(showsOneTask && { ETag: { $ref: '#/components/headers/ETag' } }),
      ...(isPaged && { Link: { $ref: '#/components/headers/Link' } }),
    },
    content: { [JSON_BODY]: mediaOf(answerSchema, exampleMessage) },
  };
}

function parametersOf({ path, query, headers = [] }: Endpoint): Parameter[] {
  const parameters: Parameter[] = headers.map((name) => HEADERS[name]);
  if (path.includes('{id}')) parameters.unshift(TASK_ID);
  if (query) {
    const { properties = {} } = z.toJSONSchema(query.schema, { io: 'input' }) as JsonSchema; // an object's schema
    for (const [name, schema] of Object.entries(properties)) {
      const byDefault = query.schema.shape[name]?.meta()?.default;
      const withDefault = byDefault === undefined ? schema : { ...schema, default: byDefault };
      parameters.push({ name, in: 'query', required: false, schema: withDefault });
    }
  }
  return parameters;
}

const TASK_ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'A task. What is no UUID is not found.',
  schema: { type: 'string', format: 'uuid' },
};

const NOT_MODIFIED: Response = {
  description: 'The task is as you know it.',
  headers: {
    'X-Request-Id': { $ref: '#/components/headers/RequestId' },
    ETag: { $ref: '#/components/headers/ETag' },
  },
};

const HEADERS: Record<NonNullable<Endpoint['headers']>[number], Parameter> = {
  'if-match': {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` of the task as you know it: the change is refused (412) when there is another by now.',
    schema: { type: 'string', examples: ['"1"'] },
  },
  'if-none-match': {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` of the task as you know it: the answer is a 304 without a body while it is still that.',
    schema: { type: 'string', examples: ['"1"'] },
  },
  'idempotency-key': {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Makes a retry safe: within 24 hours the same key with the same body creates one task only.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
};

/** JSON Schemas by the names that their `meta` gives; what they share is referred to. */
function named(schemas: readonly z.ZodType[], io: 'input' | 'output'): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const schema of new Set(schemas.flatMap(withParts))) registry.add(schema, { id: idOf(schema) });
  const made = z.toJSONSchema(registry, {
    io,
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => {
      // Whole numbers come with the bounds of what a double can hold, which say nothing about ours.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      // Of a field with a default, generators of clients make one that is always there: right in answers, wrong in bodies.
      if (io === 'input' && jsonSchema.default !== undefined) {
        const sentence = `Default: \`${String(jsonSchema.default)}\`.`;
        jsonSchema.description = jsonSchema.description ? `${jsonSchema.description} ${sentence}` : sentence;
        delete jsonSchema.default;
      }
    },
  });
  return Object.fromEntries(
    Object.entries(made.schemas).map(([id, { $schema: _schema, $id: _id, id: _name, ...schema }]) => [
      id,
      schema as JsonSchema, // what zod makes of the kinds of schemas that we use
    ]),
  );
}

/** A schema and those named ones that its fields hold. */
function withParts(schema: z.ZodType): z.ZodType[] {
  const fields = schema instanceof z.ZodObject ? Object.values<z.ZodType>(schema.shape) : [];
  const inner = fields.map((field) => (field instanceof z.ZodArray ? (field.element as z.ZodType) : field));
  return [schema, ...inner.filter((field) => field.meta()?.id !== undefined)];
}
