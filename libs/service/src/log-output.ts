import { closeSync, constants, fstatSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

export interface LogOutput {
  write(line: string): void;
  close(): void;
}

const STANDARD_OUTPUT = 1;
/** What waits for a pipe whose reader is slow; lines beyond it are lost. */
const MAX_PENDING_BYTES = 1024 * 1024;
const RETRY_MS = 100;
/** How long a process that exits waits for the reader of its log. */
const EXIT_WAIT_MS = 500;

let lost = 0;

/** How many log lines of this process could not be written. */
export const lostLogLines = (): number => lost;

/**
 * Writes lines to a file, or to standard output. A full disk, a closed pipe or a reader that sleeps costs lines, which are
 * counted, but neither throws nor blocks: no request or stop may depend on the log.
 * @throws when the file cannot be opened
 */
export function openLogOutput(file?: string): LogOutput {
  if (file !== undefined) mkdirSync(dirname(file), { recursive: true });
  const fd = file === undefined ? ownStandardOutput() : openSync(file, 'a', 0o600);
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let lostHere = 0;
  let isLineBroken = false;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** Returns whether nothing is pending any more. */
  const flush = (): boolean => {
    for (let [chunk] = pending; chunk; [chunk] = pending) {
      try {
        const written = writeSync(fd, chunk);
        isLineBroken = written < chunk.length;
        pendingBytes -= written;
        if (isLineBroken) pending[0] = chunk.subarray(written);
        else pending.shift();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false;
        drop();
      }
    }
    return true;
  };

  const drop = () => {
    lost += pending.length;
    lostHere += pending.length;
    pending = [];
    pendingBytes = 0;
  };

  const add = (text: string) => {
    const chunk = Buffer.from(text);
    if (pendingBytes + chunk.length > MAX_PENDING_BYTES) {
      lost += 1;
      lostHere += 1;
      return;
    }
    pending.push(chunk);
    pendingBytes += chunk.length;
  };

  const retryLater = () => {
    retry ??= setTimeout(() => {
      retry = undefined;
      if (!flush()) retryLater();
    }, RETRY_MS).unref();
  };

  const flushAtExit = () => {
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    const end = performance.now() + EXIT_WAIT_MS;
    while (!flush() && performance.now() < end) Atomics.wait(sleeper, 0, 0, 10);
  };
  process.on('exit', flushAtExit);

  return {
    write(line) {
      if (isClosed) return;
      const missing = lostHere;
      // A line of which only a part was written is ended, so that the next one can be read.
      add(isLineBroken && pending.length === 0 ? `\n${line}` : line);
      if (!flush()) return retryLater();
      if (missing === 0 || lostHere > missing) return;
      lostHere = 0;
      const time = new Date().toISOString();
      add(`${JSON.stringify({ level: 'warn', time, lines: missing, msg: 'log lines could not be written' })}\n`);
      flush();
    },
    close() {
      isClosed = true;
      process.off('exit', flushAtExit);
      clearTimeout(retry);
      flush();
      if (fd !== STANDARD_OUTPUT) closeSync(fd);
    },
  };
}

/** A pipe is opened once more, without blocking: setting that on the inherited one would change it for other processes. */
function ownStandardOutput(): number {
  try {
    if (!fstatSync(STANDARD_OUTPUT).isFIFO()) return STANDARD_OUTPUT;
    return openSync(`/proc/self/fd/${STANDARD_OUTPUT}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return STANDARD_OUTPUT; // closed, or another system than Linux
  }
}
