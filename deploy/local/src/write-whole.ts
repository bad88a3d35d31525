import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a file for its owner's eyes, and for their tools: whole or not at all, whenever we are killed. */
export function writeWhole(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  rmSync(`${file}.new`, { force: true }); // whose mode would stay
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

export function writeJson(file: string, content: unknown): void {
  writeWhole(file, `${JSON.stringify(content, undefined, 2)}\n`);
}
