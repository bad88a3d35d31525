import { eventually } from '@taskmesh/testing';
import { request } from 'node:http';
import { PlainError } from '../plain-error.ts';
import { findFreePort } from '../processes/free-port.ts';
import { startObserver, type Observer } from './start-observer.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

describe('the pages of a stack that is observed', () => {
  let observer: Observer;

  beforeAll(async () => {
    observer = await startObserver();
  });
  afterAll(() => observer.stop());

  const get = async (path: string) => {
    const response = await fetch(`${observer.url}${path}`);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const send = (body: unknown) =>
    fetch(`${observer.url}/v1/traces`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const span = (spanId: string, name: string, parentSpanId?: string, fields?: string[]) => ({
    ...{ traceId: TRACE_ID, spanId, name, kind: 2, ...(parentSpanId && { parentSpanId }) },
    ...{ startTimeUnixNano: '1790000000000000000', endTimeUnixNano: '1790000000005000000' },
    attributes: [
      { key: 'http.route', value: { stringValue: '<script>alert(1)</script>' } },
      ...(fields
        ? [
            {
              key: 'taskmesh.graphql.fields',
              value: { arrayValue: { values: fields.map((stringValue) => ({ stringValue })) } },
            },
          ]
        : []),
    ],
  });
  const exportedBy = (service: string, ...spans: object[]) => ({
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
        scopeSpans: [{ spans }],
      },
    ],
  });
  const exported = (...spans: object[]) => exportedBy('taskmesh-gateway', ...spans);
  const inTrace = (traceId: string, one: object) => ({ ...one, traceId });

  it('show what was sent as a tree, and nothing of it as markup', async () => {
    expect((await send(exported(span('b', 'below', 'a'), span('a', 'POST /api/tasks')))).status).toBe(200);
    expect((await get('/')).text).toContain(`<a class="" href="/traces/${TRACE_ID}">POST /api/tasks</a>`);
    const { text } = await get(`/traces/${TRACE_ID}`);
    expect(text).toMatch(
      /<td class="below-0"><span class="">POST \/api\/tasks<[^]*<td class="below-1"><span class="">below</,
    );
    expect((await get('/style.css')).text).toContain('td.below-1 {');
    expect(text).toContain('taskmesh-gateway');
    expect(text).not.toContain('<script>');
  });

  it('name a GraphQL request by the fields that it asks for, and a REST request by its route', async () => {
    const [graphql, rest] = ['a'.repeat(32), 'b'.repeat(32)];
    const asked = span('e', 'query', 'd', ['tasks', 'me']);
    await send(exported(inTrace(graphql, span('d', 'POST /graphql')), inTrace(graphql, asked)));
    await send(exported(inTrace(rest, span('f', 'GET /api/tasks'))));
    await send(exportedBy('taskmesh-tasks', inTrace(rest, span('g', 'query', 'f', ['tasks']))));
    const { text } = await get('/');
    expect(text).toContain(`href="/traces/${graphql}">POST /graphql { tasks me }</a>`);
    expect(text).toContain(`href="/traces/${rest}">GET /api/tasks</a>`);
  });

  it('are where they are wanted, or a sentence says why not', async () => {
    const port = await findFreePort();
    const second = await startObserver({ port });
    expect(second.url).toBe(`http://127.0.0.1:${port}`);
    await expect(startObserver({ port })).rejects.toThrow(
      new PlainError(`Cannot listen on port ${port} (EADDRINUSE): --observe-port says where.`),
    );
    await second.stop();
  });

  it('load nothing from elsewhere, and run no script', async () => {
    const { headers, text } = await get('/');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self'/);
    expect(text).not.toMatch(/https?:|style=|<script/);
  });

  it('say what the processes tell of themselves, or that they do not', async () => {
    observer.scrape(() => ({ tasks: 'http://127.0.0.1:1' }));
    expect((await get('/metrics')).text).toContain('It does not answer.');
  });

  it('are for this machine only', async () => {
    const answered: (number | undefined)[] = [];
    request(`${observer.url}/`, { headers: { host: 'evil.example.com' } }, (response) => {
      answered.push(response.statusCode);
      response.resume();
    }).end();
    await eventually(() => expect(answered).toEqual([403]));
  });

  it('outlive what is no trace', async () => {
    expect((await send('nonsense')).status).toBe(400);
    expect((await get('/traces/nonsense')).status).toBe(404);
    expect((await fetch(observer.url, { method: 'DELETE' })).status).toBe(405);
  });
});
