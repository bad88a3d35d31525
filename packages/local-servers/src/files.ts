import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a file for its owner's eyes, and for their tools: whole or not at all, whenever we are killed. */
export function writeWhole(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.new`;
  rmSync(unfinished, { force: true }); // whose mode would stay
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
