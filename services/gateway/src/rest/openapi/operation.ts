import type { Envelope } from '../../http/errors.ts';
import { isBytes, type Endpoint } from '../endpoint.ts';
import { NDJSON_TYPE } from '../ndjson-progress.ts';
import { oneTask, reducedTask } from '../schemas/answers.ts';
import { failureReferences } from './error-responses.ts';
import { contentOf, mediaOf } from './media.ts';
import { parametersOf } from './parameters.ts';
import type { Header, Operation, Response } from './types.ts';

const LONG = `With \`Accept: ${NDJSON_TYPE}\` the response is a 200 whose lines report progress; the last line has the ordinary response and its \`status\`.`;

const LOCATION: Header = { description: 'Where to go.', schema: { type: 'string' } };
const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
const TASK_ETAG = { ETag: { $ref: '#/components/headers/ETag' } };

const SECURITY: Record<Endpoint['access'], Operation['security']> = {
  user: [{ accessToken: [] }],
  public: [],
  optional: [{ accessToken: [] }, {}],
  // Without a backup token the place of the caller decides, and for pages this machine's token.
  operator: [{ backupToken: [] }, {}],
  'operators-place': [],
};

export function operationOf(endpoint: Endpoint, { envelope, tag }: { envelope: Envelope; tag: string }): Operation {
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

/** Line answers are always a 200, whatever the ordinary status. */
function successesOf({
  answerSchema,
  lineSchema,
  status,
  exampleMessage,
  isPaged,
}: Endpoint): Record<number, Response> {
  if (!answerSchema)
    return { [status]: { description: 'A redirect.', headers: { ...REQUEST_ID, Location: LOCATION } } };
  const lines = lineSchema && { [NDJSON_TYPE]: mediaOf(lineSchema) };
  const ordinary: Response = {
    description: status === 201 ? 'Created.' : 'Done.',
    headers: {
      ...REQUEST_ID,
      ...(isBytes(answerSchema) && { ETag: { description: answerSchema.etag, schema: { type: 'string' } } }),
      ...((answerSchema === oneTask || answerSchema === reducedTask) && TASK_ETAG),
      ...(isPaged && { Link: { $ref: '#/components/headers/Link' } }),
    },
    content: contentOf(answerSchema, exampleMessage),
  };
  if (!lines) return { [status]: ordinary };
  if (status === 200) return { 200: { ...ordinary, content: { ...ordinary.content, ...lines } } };
  return {
    200: { description: 'Progress, line by line.', headers: REQUEST_ID, content: lines },
    [status]: ordinary,
  };
}

const NOT_MODIFIED: Response = { description: 'The task has not changed.', headers: { ...REQUEST_ID, ...TASK_ETAG } };
