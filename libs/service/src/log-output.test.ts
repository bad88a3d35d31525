import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lostLogLines, openLogOutput } from './log-output.ts';

describe('the output of a log', () => {
  let dir = '';
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'taskmesh-log-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it('appends lines to its file', () => {
    const file = join(dir, 'logs', 'a.log');
    for (const line of ['a\n', 'b\n']) {
      const output = openLogOutput(file);
      output.write(line);
      output.close();
    }
    expect(readFileSync(file, 'utf8')).toBe('a\nb\n');
  });

  it('counts the lines that a full disk refuses, and throws nothing', () => {
    const before = lostLogLines();
    const output = openLogOutput('/dev/full');
    for (let count = 0; count < 3; count += 1) output.write('line\n');
    output.close();
    expect(lostLogLines() - before).toBe(3);
  });

  const itAsRoot = process.getuid?.() === 0 ? it : it.skip; // it mounts a small disk
  itAsRoot('goes on, whole line by whole line, when the disk has room again, and says how many are missing', () => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dir]);
    try {
      const file = join(dir, 'a.log');
      const output = openLogOutput(file);
      const before = lostLogLines();
      const line = `${JSON.stringify({ msg: 'x'.repeat(3_000) })}\n`;
      for (let count = 0; count < 50; count += 1) output.write(line);
      const lost = lostLogLines() - before;
      expect(lost).toBeGreaterThan(20);
      execFileSync('truncate', ['--size=6100', file]); // in the middle of a line
      output.write('{"msg":"again"}\n');
      output.close();
      const written = readFileSync(file, 'utf8');
      expect(written).toContain('{"msg":"again"}\n');
      expect(JSON.parse(written.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ level: 'warn', lines: lost });
    } finally {
      execFileSync('umount', [dir]);
    }
  });

  it('neither waits for a reader that sleeps nor loses what the reader can still have', () => {
    const fifo = join(dir, 'pipe');
    execFileSync('mkfifo', [fifo]);
    const program = `
      import { openLogOutput, lostLogLines } from ${JSON.stringify(join(import.meta.dirname, 'log-output.ts'))};
      const output = openLogOutput();
      for (let count = 0; count < 400; count += 1) output.write('x'.repeat(9_999) + '\\n');
      process.stderr.write(String(lostLogLines()));`;
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      // The shell gives the pipe as it is inherited by services: one that blocks. Nothing is read until the end.
      const command = `'${process.execPath}' --input-type=module-typescript -e "$PROGRAM" 2>&1 >'${fifo}'`;
      const lost = Number(
        execFileSync('sh', ['-c', command], { env: { PROGRAM: program }, encoding: 'utf8', timeout: 10_000 }),
      );
      expect(lost).toBeGreaterThan(200); // 64 KiB are in the pipe, and 1 MiB is pending
      expect(lost).toBeLessThan(320);
      const bytes = readSync(reader, Buffer.alloc(200_000));
      expect(bytes).toBeGreaterThan(60_000);
    } finally {
      closeSync(reader);
    }
  });
});
