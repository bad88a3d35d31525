import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a file atomically, readable by its owner only. A kill at any time leaves the old or the new content. */
export function writeAtomically(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.new`;
  rmSync(temporary, { force: true }); // otherwise an existing file would keep its mode
  try {
    writeFileSync(temporary, text, { mode: 0o600, flush: true });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

export function writeJson(file: string, content: unknown): void {
  writeAtomically(file, `${JSON.stringify(content, undefined, 2)}\n`);
}
