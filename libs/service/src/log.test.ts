import { execFileSync } from 'node:child_process';
import { atEnd, makeTempDir } from '@taskmesh/testing';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { createRecordingLog } from '../tests/index.ts';
import { createFailureLog, lostLogLines, openLogOutput } from './log.ts';

const CIRCLE = new Error('a');
CIRCLE.cause = new Error('b', { cause: CIRCLE });
const strange = (fields: object) => Object.assign(new Error('strange'), fields);

describe('a log', () => {
  it('reports an error and its causes in one sentence', () => {
    const { log, lines } = createRecordingLog();
    log.error({ err: new Error('The service is away; try again.', { cause: new Error('timeout expired') }) }, 'no');
    log.error({ err: 'no error at all' }, 'no');
    const message = 'The service is away; try again: timeout expired';
    const stack = expect.stringContaining('caused by: Error: timeout expired');
    expect(lines).toMatchObject([{ err: { type: 'Error', message, stack } }, { err: 'no error at all' }]);
  });

  it.each([
    ['is frozen', Object.freeze(strange({})), 'strange'],
    ['contains a frozen one', strange({ inner: Object.freeze(new Error('in it')) }), 'strange'],
    ['has a message that is not a string', strange({ message: 5 }), '5'],
    ['has no message', strange({ message: undefined }), 'undefined'],
    ['has itself as its cause', strange({ message: 'round', cause: CIRCLE }), /^round: a: b: a/],
  ])('also reports an error that %s', (_what, err, message) => {
    const { log, lines } = createRecordingLog();
    log.error({ err }, 'no');
    const reported = { type: 'Error', message: expect.stringMatching(message), stack: expect.any(String) };
    expect(lines).toMatchObject([{ msg: 'no', err: reported }]);
  });

  it('suppresses a flood of equal warnings, and reports how many', async () => {
    jest.useFakeTimers();
    atEnd(() => jest.useRealTimers());
    const { log, lines } = createRecordingLog();
    for (let count = 0; count < 1_000; count += 1) log.warn({ count }, 'no database');
    log.warn('another');
    log.info('no database');
    expect(lines).toHaveLength(22);
    jest.advanceTimersByTime(10_000);
    expect(lines.slice(22)).toMatchObject([{ level: 'warn', msg: 'no database', suppressed: 980 }]);
    log.warn('no database');
    expect(lines).toHaveLength(24);
  });

  it('contains neither secrets nor rows that PostgreSQL quotes in an error', () => {
    const { log, lines } = createRecordingLog();
    const refused = { detail: 'Key (a)=(hidden) exists.', where: 'COPY t, line 1: "hidden"', internalQuery: 'hidden' };
    log.error({ err: Object.assign(new Error('refused'), refused), token: 'hidden', user: { email: 'hidden' } }, 'no');
    expect(JSON.stringify(lines)).toContain('refused');
    expect(JSON.stringify(lines)).not.toContain('hidden');
  });
});

describe('the output of a log', () => {
  it('counts the lines that a full disk refuses, and does not throw', () => {
    const before = lostLogLines();
    const output = openLogOutput('/dev/full');
    for (let count = 0; count < 3; count += 1) output.write('line\n');
    output.close();
    expect(lostLogLines() - before).toBe(3);
  });

  const itAsRoot = process.getuid?.() === 0 ? it : it.skip; // it mounts a small disk
  itAsRoot('continues with complete lines when the disk has space again, and reports how many are missing', () => {
    const dir = makeTempDir();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dir]);
    atEnd(() => execFileSync('umount', [dir]));
    const file = join(dir, 'a.log');
    const output = openLogOutput(file);
    const before = lostLogLines();
    const line = `${JSON.stringify({ msg: 'x'.repeat(3_000) })}\n`;
    for (let count = 0; count < 50; count += 1) output.write(line);
    const lost = lostLogLines() - before;
    expect(lost).toBeGreaterThan(20);
    execFileSync('truncate', ['--size=6100', file]); // cuts off the file in the middle of a line
    output.write('{"msg":"again"}\n');
    output.close();
    const written = readFileSync(file, 'utf8');
    expect(written).toContain('{"msg":"again"}\n');
    expect(JSON.parse(written.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ level: 'warn', lines: lost });
  });

  it('neither waits for a stalled reader nor loses lines that it can still receive', () => {
    const fifo = join(makeTempDir(), 'pipe');
    execFileSync('mkfifo', [fifo]);
    const program = `
      import { openLogOutput, lostLogLines } from ${JSON.stringify(join(import.meta.dirname, 'log.ts'))};
      const output = openLogOutput();
      for (let count = 0; count < 400; count += 1) output.write('x'.repeat(9_999) + '\\n');
      process.stderr.write(String(lostLogLines()));`;
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    atEnd(() => closeSync(reader));
    // The shell passes on a blocking pipe, as services inherit it. Nothing is read until the end.
    const command = `'${process.execPath}' --input-type=module-typescript -e "$PROGRAM" 2>&1 >'${fifo}'`;
    const options = { env: { PROGRAM: program }, encoding: 'utf8', timeout: 10_000 } as const;
    const lost = Number(execFileSync('sh', ['-c', command], options));
    expect(lost).toBeGreaterThan(200); // 64 KiB are in the pipe, and 1 MiB is pending
    expect(lost).toBeLessThan(320);
    expect(readSync(reader, Buffer.alloc(200_000))).toBeGreaterThan(60_000);
  });
});

it('a failure log reports the same cause once a minute, and another one at once, even with the same message', () => {
  let nowMs = 0;
  const reported: unknown[] = [];
  const { failed } = createFailureLog((error) => reported.push(error), { monotonicMs: () => nowMs });
  for (; nowMs < 150_000; nowMs += 1_000) failed(new Error('unavailable', { cause: new Error('timeout') }));
  expect(reported).toHaveLength(3);
  failed(new Error('unavailable', { cause: new Error('relation "feeds" does not exist') }));
  expect(reported).toHaveLength(4);
});
