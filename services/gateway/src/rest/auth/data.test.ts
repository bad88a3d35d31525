import { type Readable, Writable } from 'node:stream';
import type { Exchange } from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import { dataEndpoints } from './data.ts';

it('an export reads no page of tasks before its client has read the previous one', async () => {
  let pages = 0;
  const edges = [{ node: { id: '1', title: 'x', priority: 'LOW' } }];
  const answers = new Map<string, () => object>([
    [OPERATIONS.personalTokens, () => ({ tokens: [] })],
    [OPERATIONS.auditEntries, () => ({ entries: [] })],
    [
      OPERATIONS.exportTasks,
      () => ({ tasks: { edges, pageInfo: { hasNextPage: ++pages < 3, endCursor: String(pages) } } }),
    ],
  ]);
  const run = async (operation: string) => answers.get(operation)?.() ?? {};
  const exportAccount = dataEndpoints.find(({ name }) => name === 'exportAccount');
  const exchange = { isHead: false, claims: { userId: 'ada' }, run } as unknown as Exchange; // all that is read
  const { body } = (await exportAccount?.handle(exchange)) ?? {};

  let taken = 0;
  const ahead: number[] = [];
  let text = '';
  const slow = new Writable({
    highWaterMark: 1,
    write(chunk, _encoding, done) {
      text += String(chunk);
      if (String(chunk).includes('"title"')) taken++;
      setTimeout(() => {
        ahead.push(pages - taken);
        done();
      }, 20);
    },
  });
  await new Promise((resolve, reject) => (body as Readable).on('error', reject).pipe(slow).on('finish', resolve));
  expect(new Set(ahead)).toEqual(new Set([0]));
  expect(JSON.parse(text)).toMatchObject({ audit: [], tasks: [{ id: '1' }, { id: '1' }, { id: '1' }] });
});
