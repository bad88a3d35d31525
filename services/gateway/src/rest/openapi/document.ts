import { readVersion } from '@taskmesh/service';
import { ERROR_SCHEMAS } from '../schemas/errors.ts';
import type { Mount } from '../register-endpoints.ts';
import { errorResponses } from './error-responses.ts';
import { operationOf } from './operation.ts';
import { schemasOf } from './schemas.ts';
import type { OpenApiDocument } from './types.ts';

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
At any path, a request with more than 16 KiB of headers is a 431.`;

/** The API description (OpenAPI 3.1), generated from the same tables and schemas that serve and check requests. */
export function describeApi(chapters: readonly Chapter[], publicUrl: string): OpenApiDocument {
  const endpoints = chapters.flatMap((chapter) => chapter.endpoints);
  const accesses = new Set(endpoints.map(({ access }) => access));
  const envelopes = [...new Set(chapters.map(({ envelope }) => envelope))];
  const paths: OpenApiDocument['paths'] = {};
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
      schemas: schemasOf(
        endpoints,
        envelopes.map((envelope) => ERROR_SCHEMAS[envelope]),
      ),
      responses: Object.assign({}, ...chapters.map(errorResponses)),
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
        ...(accesses.has('user') && { accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } }),
        ...(accesses.has('operator') && {
          backupToken: {
            type: 'http',
            scheme: 'bearer',
            description: 'The value of `BACKUP_TOKEN`, or the token of the machine that Taskmesh runs on.',
          },
        }),
      },
    },
  };
}
