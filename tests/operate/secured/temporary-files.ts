import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a temporary folder for one test file. */
export function temporaryFiles(name: string) {
  const dir = mkdtempSync(join(tmpdir(), `taskmesh-secured-${name}-`));
  const path = (file: string) => join(dir, file);
  return {
    path,
    /** Returns the path of the file. */
    write(file: string, content: string): string {
      writeFileSync(path(file), content, { mode: 0o600 });
      return path(file);
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}
