import { makeTempDir } from '@taskmesh/testing';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Creates a temporary folder for one test file. */
export function temporaryFiles() {
  const dir = makeTempDir();
  const path = (file: string) => join(dir, file);
  return {
    path,
    /** Returns the path of the file. */
    write(file: string, content: string): string {
      writeFileSync(path(file), content, { mode: 0o600 });
      return path(file);
    },
  };
}
