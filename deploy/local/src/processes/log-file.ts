import { copyFile, rename, rm, stat, truncate } from 'node:fs/promises';

const MAX_BYTES = 10 * 1024 * 1024;
const MAX_FORMER = 3;
const CHECK_MS = 10_000;

/**
 * Keeps a log file, which some process has open for appending, at about 10 MiB: it is copied to `<file>.1` and emptied,
 * and up to three former ones are kept. Copied and not renamed, because the writer goes on with the file that it has.
 * Lines that are written within the moment between the two are lost.
 * @returns a function that stops the checks
 */
export function limitLogFile(file: string, { maxBytes = MAX_BYTES, checkMs = CHECK_MS } = {}): () => void {
  let checking = Promise.resolve();
  const timer = setInterval(() => {
    checking = checking.then(() => limit(file, maxBytes));
  }, checkMs).unref();
  return () => clearInterval(timer);
}

async function limit(file: string, maxBytes: number): Promise<void> {
  try {
    if ((await stat(file)).size < maxBytes) return;
    await rm(`${file}.${MAX_FORMER}`, { force: true });
    for (let age = MAX_FORMER - 1; age > 0; age -= 1)
      await rename(`${file}.${age}`, `${file}.${age + 1}`).catch(() => undefined); // fewer former ones
    // On a full disk the space is worth more than the copy.
    await copyFile(file, `${file}.1`).catch(() => rm(`${file}.1`, { force: true }));
    await truncate(file);
  } catch {
    // The file or its folder is gone, or may not be changed: the next check tries again.
  }
}
