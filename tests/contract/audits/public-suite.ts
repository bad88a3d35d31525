import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The result of one case of a suite. */
export interface CaseResult {
  name: string;
  /** Undefined if the case passed. */
  problem: string | undefined;
}

/** A copy of a public suite. */
export interface PublicSuite {
  dir: string;
  remove: () => void;
}

/**
 * Finds a checkout or a bare repository of `<owner>/<name>` in `folder`, called `<name>` or `<owner>+<name>`. Returns undefined
 * if there is none.
 */
export function findSuite(folder: string, repository: string): PublicSuite | undefined {
  const [owner = '', name = ''] = repository.split('/');
  const places = [name, `${owner}+${name}`].flatMap((each) => [join(folder, each), join(folder, each, 'repo')]);
  const checkout = places.find((place) => existsSync(join(place, 'package.json')));
  if (checkout) return { dir: realpathSync(checkout), remove: () => {} };
  const bare = places.find((place) => existsSync(join(place, 'objects')));
  return bare === undefined ? undefined : unpack(bare);
}

function unpack(bare: string): PublicSuite {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'taskmesh-audit-')));
  const archive = execFileSync('git', [`--git-dir=${bare}`, 'archive', 'HEAD'], { maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', dir], { input: archive });
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
