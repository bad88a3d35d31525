import type { TraceCollector } from '@taskmesh/testing/trace-collector';
import { eventually } from '@taskmesh/testing';
import { randomBytes, randomUUID } from 'node:crypto';
import { createGraphql, createRest } from '../../http.ts';
import { subscribe } from '../../feed/streams/protocols.ts';
import { openSocket } from '../../feed/raw-socket.ts';

/** Settings that record every trace. */
export const tracesTo = ({ url }: TraceCollector) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
});

const TOPIC = 'taskmesh.tasks.changes';

/** The spans of a change's trace, from request to frames, and what it never contains. `isSplit`: services over HTTP. */
export function describeTraces(platform: () => { urls: string[]; collector: TraceCollector; isSplit: boolean }) {
  const collector = () => platform().collector;
  const rest = createRest(() => platform().urls[0] ?? '');
  /** Secrets that a client sends, which no trace may contain. */
  const planted = () => `planted${randomBytes(8).toString('hex')}`;
  const secrets = {
    ...{ email: `${planted()}@example.com`, password: planted(), name: planted(), title: planted() },
    ...{ description: planted(), category: planted(), operation: planted(), alias: planted(), query: planted() },
  };
  let token: string;

  const toTasks = (isSplit: boolean) => (isSplit ? ' > gateway: fetch tasks > tasks: POST /graphql' : '');
  const newTrace = () => {
    const traceId = randomBytes(16).toString('hex');
    return { traceId, headers: { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` } };
  };
  const spansOf = (id: string) => collector().spans.filter(({ traceId }) => traceId === id);
  /** Returns the path to each span from the root, as `service: name` joined by ` > `. */
  const pathsOf = (id: string) => {
    const spans = spansOf(id);
    const path = (span: (typeof spans)[number]): string[] => {
      const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
      return [...(parent ? path(parent) : []), `${span.service.replace('taskmesh-', '')}: ${span.name}`];
    };
    return spans.map((span) => path(span).join(' > '));
  };

  beforeAll(async () => {
    const { email, password, name } = secrets;
    const { body } = await rest<{ access_token: string }>('POST', '/auth/signup', { body: { email, password, name } });
    token = body.access_token;
  });

  it('covers the request, the service, the statement, the event log and the delivered frames in one trace', async () => {
    const { urls, isSplit } = platform();
    const subscriber = await subscribe(urls.slice(-1), token);
    const channel = await openSocket(`${urls.at(-1)}/realtime/v1/websocket?apikey=public-key&vsn=2.0.0`);
    const config = { postgres_changes: [{ event: '*', schema: 'public', table: 'tasks' }] };
    channel.send(['1', '1', 'realtime:tasks', 'phx_join', { access_token: token, config }]);
    await channel.frame(([, , , event]: [unknown, unknown, unknown, string]) => event === 'phx_reply');
    const { title, description, category } = secrets;
    const { traceId, headers } = newTrace();

    await eventually(async () => {
      await rest('POST', '/tasks', { token, headers, body: { title, description, category } });
      expect(subscriber.changes()).not.toHaveLength(0);
    });

    const inTasks = `gateway: POST /api/tasks${toTasks(isSplit)} > tasks: mutation`;
    const process = `${inTasks} > tasks: send ${TOPIC} > gateway: process ${TOPIC}`;
    await eventually(() => {
      const paths = pathsOf(traceId);
      expect(paths).toContain(`${inTasks} > tasks: task-create`);
      expect(paths).toContain(`${process} > gateway: deliver graphql-ws`);
      expect(paths).toContain(`${process} > gateway: deliver channel`);
    });
    expect(spansOf(traceId).find(({ name }) => name === 'task-create')?.attributes).toMatchObject({
      'db.system.name': 'postgresql',
      'db.query.text': expect.stringContaining('insert into changes'),
    });
    const [sent] = spansOf(traceId).filter(({ name }) => name === `send ${TOPIC}`);
    expect(sent?.attributes).toMatchObject({ 'messaging.system': isSplit ? 'kafka' : 'memory' });
    channel.close();
    await subscriber.close();
  });

  it('covers GraphQL, REST paths with parameters, refused requests and the ORM, too', async () => {
    const { email, password, operation, alias, query } = secrets;
    const document = `query ${operation} { ${alias}: taskStatistics { total } me { name tasks { totalCount } } }`;
    await createGraphql(platform().urls[0] ?? '')(document, { token });
    const listed = newTrace();
    await rest('GET', `/tasks?category=${query}`, { token, headers: listed.headers });
    const missing = newTrace();
    await rest('GET', `/tasks/${randomUUID()}`, { token, headers: missing.headers });
    const loggedIn = newTrace();
    await rest('POST', '/auth/login', { body: { email, password }, headers: loggedIn.headers });
    await rest('POST', '/auth/login', { body: { email, password: `${password} no` } });
    await rest('POST', '/auth/signup', { body: { email, password, name: secrets.name } });
    await eventually(() => {
      expect(pathsOf(listed.traceId)).toContain('gateway: GET /api/tasks');
      const attributes = expect.objectContaining({ 'http.response.status_code': 404 });
      const found = expect.objectContaining({ name: 'GET /api/tasks/:id', isError: false, attributes });
      expect(spansOf(missing.traceId)).toContainEqual(found);
      expect(pathsOf(loggedIn.traceId).some((path) => /auth: .*mutation > auth: \w+/.test(path))).toBe(true);
    });
  });

  it('contains no data that a client sent, and no health checks', async () => {
    await fetch(`${platform().urls[0]}/readyz`);
    const last = newTrace();
    await rest('GET', '/tasks/stats', { token, headers: last.headers });
    // Each step is recorded once: the request, the service's part, and its statement.
    const inTasks = `gateway: GET /api/tasks/stats${toTasks(platform().isSplit)} > tasks: query`;
    await eventually(() => {
      expect(pathsOf(last.traceId)).toContain('gateway: GET /api/tasks/stats');
      expect(pathsOf(last.traceId)).toContain(`${inTasks} > tasks: task-statistics`);
      expect(pathsOf(last.traceId)).toHaveLength(platform().isSplit ? 5 : 3);
    });
    const exported = String(collector().exports.map(({ body }) => body.toString()));
    for (const [name, secret] of Object.entries({ ...secrets, token }))
      expect([name, exported.includes(secret)]).toEqual([name, false]);
    expect(exported).not.toMatch(/\/(ready|live)z"/); // neither as a name nor as a route
  });
}
