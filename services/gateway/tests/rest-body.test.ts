import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { startRestApp, type RestApp } from './rest-fakes/app.ts';
import { createClient } from './rest-fakes/client.ts';
import { exchange, rawRequest } from './rest-fakes/raw.ts';

let rest: RestApp;
let token: string;

beforeAll(async () => {
  rest = await startRestApp();
  ({ token } = await (await createClient(rest.origin)).signUp());
});
afterAll(() => rest.stop());

const JSON_TYPE = 'Content-Type: application/json';
const LIMIT = 1024 * 1024;
const bearer = () => `Authorization: Bearer ${token}`;

/** POST /api/tasks with these bytes. */
async function post(body: string | Buffer, headers: readonly string[] = [JSON_TYPE]) {
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  const answer = await exchange(rest.origin, rawRequest('POST /api/tasks', [bearer(), length, ...headers], body));
  return { ...answer, json: answer.body === '' ? undefined : JSON.parse(answer.body) };
}

/** A task whose body has about this many bytes. */
const padded = (sizeBytes: number) => {
  const empty = JSON.stringify({ title: 'abc', padding: '' });
  return JSON.stringify({ title: 'abc', padding: 'x'.repeat(sizeBytes - empty.length) });
};
const nested = (depth: number, [open, close]: readonly [string, string]) =>
  `${open.repeat(depth)}1${close.repeat(depth)}`;

describe('a body', () => {
  it.each<[string, number, string | Buffer]>([
    ['broken JSON', 400, '{"title":'],
    ['nothing', 400, ''],
    ['blanks only', 400, '  '],
    ['an array', 400, '[{"title":"abc"}]'],
    ['a string', 400, '"abc"'],
    ['null', 400, 'null'],
    ['a number', 400, '5'],
    ['invalid UTF-8', 400, Buffer.from('7b227469746c65223a22616263ff227d', 'hex')],
    ['an overlong UTF-8 form', 400, Buffer.from('7b227469746c65223a226162c0af227d', 'hex')],
    ['UTF-16', 400, Buffer.from('{"title":"abc"}', 'utf16le')],
    ['a byte order mark and JSON', 201, '\ufeff{"title":"abc"}'],
    ['two byte order marks', 400, '\ufeff\ufeff{"title":"abc"}'],
    ['exactly 1 MiB', 201, padded(LIMIT)],
    ['1 MiB and a byte', 413, padded(LIMIT + 1)],
    ['20,000 arrays in one another', 400, nested(20_000, ['[', ']'])],
    ['20,000 arrays in an unknown field', 400, `{"title":"abc","x":${nested(20_000, ['[', ']'])}}`],
    ['100,000 objects in an unknown field', 400, `{"title":"abc","x":${nested(100_000, ['{"a":', '}'])}}`],
    ['31 arrays in an unknown field', 201, `{"title":"abc","x":${nested(31, ['[', ']'])}}`],
    ['32 arrays in an unknown field', 400, `{"title":"abc","x":${nested(32, ['[', ']'])}}`],
    ['10,000 keys and values', 201, `{"title":"abc","x":[${'"\\"{,",'.repeat(9_994)}0]}`],
    ['10,001 keys and values', 400, `{"title":"abc","x":[${'0,'.repeat(9_995)}0]}`],
    ['5,000 unknown fields', 400, `{"title":"abc"${Array.from({ length: 5_000 }, (_, i) => `,"${i}":0`).join('')}}`],
    ['NaN', 400, '{"title":"abc","completed":NaN}'],
    ['a number beyond doubles', 400, '{"title":"abc","completed":1e400}'],
    ['a comma at the end', 400, '{"title":"abc",}'],
    ['a comment', 400, '{"title":"abc"/* ! */}'],
    ['single quotes', 400, "{'title':'abc'}"],
    ['two values', 400, '{"title":"abc"}{"title":"abc"}'],
    ['a raw NUL', 400, '{"title":"abc"}\0'],
    [
      '1,000 unknown fields',
      201,
      JSON.stringify({ title: 'abc', ...Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`f${i}`, i])) }),
    ],
  ])('that is %s is a %d', async (_what, status, body) => {
    const before = rest.tasks.rows.length;
    const answer = await post(body);
    expect(answer.status).toBe(status);
    expect(rest.tasks.rows.length).toBe(status === 201 ? before + 1 : before);
    if (status !== 201) expect(answer.json).toMatchObject({ success: false, error: { code: expect.any(String) } });
  });

  it('counts the last one of repeated keys', async () => {
    expect((await post('{"title":"first","title":"the last"}')).json.data.title).toBe('the last');
  });

  it.each([
    '{"title":"abc","__proto__":{"completed":true,"polluted":1}}',
    '{"title":"abc","constructor":{"prototype":{"polluted":1}}}',
  ])('cannot reach a prototype: %s', async (body) => {
    const { status, json } = await post(body);
    expect(status).toBe(201);
    expect(json.data.completed).toBe(false);
    expect({}).not.toHaveProperty('polluted');
  });

  it('does not take its fields from a prototype', async () => {
    expect((await post('{"__proto__":{"title":"abc"}}')).status).toBe(400);
  });

  it.each([
    ['application/json; charset=utf-8', 201],
    ['application/json;charset="UTF-8"', 201],
    ['Application/JSON', 201],
    ['application/json; profile=x', 201],
    ['application/json; charset=iso-8859-1', 415],
    ['application/json; charset=utf-16', 415],
    ['application/json; charset=', 415],
    ['application/vnd.api+json', 415],
    ['application/jsonp', 415],
    ['text/json', 415],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['nonsense', 415],
    ['', 415],
  ])('of type "%s" is a %d', async (type, status) => {
    const answer = await post('{"title":"abc"}', [`Content-Type: ${type}`]);
    expect(answer.status).toBe(status);
    if (status === 415) expect(answer.json.error).toEqual({ code: 'UNSUPPORTED_MEDIA_TYPE' });
  });

  it('without a type is a 415', async () => {
    expect((await post('{"title":"abc"}', [])).status).toBe(415);
  });

  it('that is not there is a 400, with or without a type', async () => {
    for (const headers of [[], [JSON_TYPE]]) {
      const answer = await exchange(rest.origin, rawRequest('POST /api/tasks', [bearer(), ...headers]));
      expect(answer.status).toBe(400);
    }
  });

  it.each<[string, number, Buffer]>([
    ['gzip', 201, gzipSync('{"title":"abc"}')],
    ['GZIP', 201, gzipSync('{"title":"abc"}')],
    ['deflate', 201, deflateSync('{"title":"abc"}')],
    ['br', 415, brotliCompressSync('{"title":"abc"}')],
    ['identity', 201, Buffer.from('{"title":"abc"}')],
    ['gzip', 413, gzipSync(Buffer.alloc(50 * LIMIT))],
    ['br', 415, brotliCompressSync(Buffer.alloc(50 * LIMIT))],
    ['deflate', 413, deflateSync(Buffer.alloc(50 * LIMIT))],
    ['gzip', 400, Buffer.from('{"title":"abc"}')],
    ['gzip, gzip', 415, gzipSync(gzipSync('{"title":"abc"}'))],
    ['gzip', 400, gzipSync('{"title":"abc"}').subarray(0, 12)],
    ['zstd', 415, Buffer.from('{"title":"abc"}')],
    ['gzip, gzip', 415, gzipSync(gzipSync('{"title":"abc"}'))],
  ])('encoded as %s is a %d (%#)', async (encoding, status, body) => {
    expect((await post(body, [JSON_TYPE, `Content-Encoding: ${encoding}`])).status).toBe(status);
  });

  it('may come in chunks, and is bounded in the same way', async () => {
    const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
    const headers = [bearer(), JSON_TYPE, 'Transfer-Encoding: chunked'];
    for (const [body, status] of [
      ['{"title":"abc"}', 201],
      [padded(LIMIT + 1), 413],
      [' ', 400],
    ] as const) {
      expect((await exchange(rest.origin, rawRequest('POST /api/tasks', headers, chunked(body)))).status).toBe(status);
    }
  });
});
