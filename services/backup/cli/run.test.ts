import { listen } from '@taskmesh/testing';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../tests/support/command-line.ts';

const UNDOABLE = {
  ...{ file: 'last.tar.gz', stores: ['tasks'], isUndo: false, replacedKeptMs: 0 },
  ...{ restoredAt: '2026-11-22T10:00:00.000Z', keptUntil: '2026-11-23T10:00:00.000Z' },
};

async function runAsked(args: string[], answer: string | undefined) {
  const done: string[] = [];
  const { url } = await listen(
    createServer((request, response) => {
      if (request.method !== 'GET') done.push(`${request.method} ${request.url}`);
      const body = { success: true, message: `Done at ${UNDOABLE.restoredAt}.`, data: UNDOABLE };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }),
  );
  let asked = '';
  const prompt = answer === undefined ? undefined : async (question: string) => ((asked = question), answer);
  return { ...(await runCommand([...args, '--url', url], { prompt })), asked, done };
}

describe.each([
  [['delete', 'a.tar.gz'], 'DELETE /api/backups/a.tar.gz', 'Delete a.tar.gz of http://'],
  [['undo'], `POST /api/backup/undo?restoredAt=${encodeURIComponent(UNDOABLE.restoredAt)}`, 'Undo the restore of last.tar.gz (tasks) from 2026-11-22'], // prettier-ignore
  [['restore', 'a.tar.gz'], 'POST /api/backup/restore?file=a.tar.gz', 'Replace all data of http://'],
  [['new-epoch'], 'POST /api/backup/new-epoch', 'Make all clients of http://'],
])('%j', (args, request, question) => {
  it('does nothing before the user confirms', async () => {
    expect(await runAsked(args, 'n')).toMatchObject({ status: 1, done: [], asked: expect.stringContaining(question) });
    expect((await runAsked(args, 'y')).done).toEqual([request]);
  });

  it('names the option that a script needs, which cannot confirm', async () => {
    const err = expect.stringContaining(`${args[0]} needs --yes.`);
    expect(await runAsked(args, undefined)).toMatchObject({ status: 2, done: [], err });
    expect(await runAsked([...args, '--yes'], undefined)).toMatchObject({ asked: '', done: [request] });
  });
});

it.each(['undo', 'restore a.tar.gz', 'verify a.tar.gz', 'new-epoch'])(
  'writes times as in lists, except in output for programs: %s',
  async (line) => {
    expect((await runAsked(line.split(' '), 'y')).out).toMatch(/^Done at 2026-11-22 10:00:00 UTC\.$/m);
    expect((await runAsked([...line.split(' '), '--json'], 'y')).out).toContain('2026-11-22T10:00:00.000Z');
  },
);

const HELP = [fileURLToPath(new URL('main.ts', import.meta.url)), '--help'];

const FULL = 'The output could not be written: ENOSPC: no space left on device, write\n';

it.each([
  ['fails if its output cannot be written', FULL, 1],
  ['ends normally if nothing reads its output', '', 0],
])('%s', async (_what, expected, status) => {
  await using full = await open('/dev/full', 'w');
  const child = spawn(process.execPath, HELP, { stdio: ['ignore', status ? full.fd : 'pipe', 'pipe'] });
  child.stdout?.destroy();
  const [said, [code]] = await Promise.all([text(child.stderr as Readable), once(child, 'exit')]);
  expect([said, code]).toEqual([expected, status]);
});
