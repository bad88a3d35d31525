import { keysOf, type ClientResponse, type Body } from './client.ts';

export const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
export const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const SENTENCE = expect.stringMatching(/\S/);

/** Splits a text of one or more lines at white space. */
export const words = (text: string) => text.trim().split(/\s+/);

/** Returns a test case `[value, key]` for each value: `{ 404: ['/a', '/b'] }` gives two. */
export const casesOf = (cases: Record<number, string[]>) =>
  Object.entries(cases).flatMap(([shared, each]) => each.map((one): [string, number] => [one, Number(shared)]));

export const TASK_KEYS = [
  'category',
  'completed',
  'created_at',
  'description',
  'due_date',
  'id',
  'priority',
  'title',
  'updated_at',
  'user_id',
];
export const REDUCED_KEYS = words('completed created_at description id title updated_at user_id');

/** The format of errors: that of the full task endpoints, or that of all others. */
export type Envelope = 'tasks' | 'plain';

/** Checks a complete error: status, type, keys and code, and the headers of 401, 405, 429 and 503. */
export function expectError(
  { status, headers, body }: ClientResponse<unknown>,
  expected: { status: number; code: string; envelope: Envelope },
) {
  expect(status).toBe(expected.status);
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  expect(headers.get('x-request-id')).toMatch(/\S/);
  const { error, ...rest } = body as Body; // checked below
  expect(rest).toEqual({ message: SENTENCE, ...(expected.envelope === 'tasks' && { success: false }) });
  expect(error.code).toBe(expected.code);
  for (const key of keysOf(error)) expect(['code', 'details', 'requestId']).toContain(key);
  for (const detail of error.details ?? []) expect(detail).toEqual({ path: expect.any(String), message: SENTENCE });
  expect('requestId' in error).toBe(status >= 500);
  if (status === 401) expect(headers.get('www-authenticate')).toBe('Bearer');
  if (status === 405) expect(headers.get('allow')).toMatch(/OPTIONS/);
  if (status === 429 || status === 503) expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
}
