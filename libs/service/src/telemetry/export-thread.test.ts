import { eventually } from '@taskmesh/testing';
import type { Worker } from 'node:worker_threads';
import { createExportThread, type ExportThread } from './export-thread.ts';
import { startTraceCollector, type TraceCollector } from '@taskmesh/testing/trace-collector';

let collector: TraceCollector;
let thread: ExportThread;

beforeEach(async () => {
  collector = await startTraceCollector();
  thread = createExportThread({ url: `${collector.url}/v1/traces`, contentType: 'application/json' });
});
afterEach(async () => {
  await thread.stop();
  await collector.stop();
});

const body = (text: string) => new TextEncoder().encode(JSON.stringify({ resourceSpans: [], text }));
const sent = () => collector.exports.map((each) => each.body.toString());

it('posts what it is given, as it is, and tells when it is there', async () => {
  await thread.post(body('one'));
  expect(sent()).toEqual(['{"resourceSpans":[],"text":"one"}']);
  await Promise.all([thread.post(body('two')), thread.post(body('three'))]);
  expect(sent()).toHaveLength(3);
});

it('tells what the collector answered, each its own', async () => {
  const said = async (text: string) => {
    collector.say(text);
    return new TextDecoder().decode(await thread.post(body(text)));
  };
  expect([await said('one'), await said(''), await said('two')]).toEqual(['one', '', 'two']);
});

it('tells the one whose body was refused, and no other', async () => {
  collector.answerWith(413);
  await expect(thread.post(body('large'))).rejects.toMatchObject({ code: '413' });
  collector.answerWith(200);
  await thread.post(body('small'));
});

it('tells the reason where the exporter names no status', async () => {
  collector.answerWith(503, { 'retry-after': '3600' }); // later than the exporter goes on trying
  const error = await thread.post(body('late')).catch((reason: Error) => reason);
  expect(error).toEqual(new Error('Export failed with retryable status'));
  expect(error).not.toHaveProperty('code');
});

it('fails what is on its way when it ends, and is there again for the next', async () => {
  collector.answerWith(503); // makes the exporter retry for a while
  const waiting = thread.post(body('waiting')).catch((error: Error) => error.message);
  await eventually(() => expect(collector.exports).toHaveLength(1));
  await thread.stop();
  expect(await waiting).toBe('The thread that sends traces has ended.');
  collector.answerWith(200);
  await thread.post(body('next'));
  expect(sent().at(-1)).toContain('next');
});

it('takes nothing of the next one with it when it has failed', async () => {
  const first = new Promise<Worker>((resolve) => process.once('worker', resolve));
  await thread.post(body('one'));
  const failed = await first;
  failed.emit('error', new Error('planted')); // a moment before its end
  const next = thread.post(body('next'));
  await failed.terminate();
  await next;
  expect(sent().at(-1)).toContain('next');
});
