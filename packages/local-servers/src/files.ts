import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a file atomically, readable by its owner only. A kill at any time leaves the old or the new content. */
export function writeWhole(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.new`;
  rmSync(unfinished, { force: true }); // otherwise an existing file would keep its mode
  try {
    writeFileSync(unfinished, text, { mode: 0o600, flush: true });
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

export function writeJson(file: string, content: unknown): void {
  writeWhole(file, `${JSON.stringify(content, undefined, 2)}\n`);
}
