import { makeTempDir } from '@taskmesh/testing';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { register } from '../http.ts';
import { useProduct } from '../product.ts';

const run = promisify(execFile);
const VERSION = '4.32.5';
/** Without the checks that valid requests succeed: those also need tokens, versions and archives that exist. */
const CHECKS = [
  ...['not_a_server_error', 'status_code_conformance', 'content_type_conformance', 'response_headers_conformance'],
  ...['response_schema_conformance', 'unsupported_method', 'allow_header_conformance', 'ignored_auth'],
];
/**
 * Some of these would end the session that the other requests need. The longest `return_to`, encoded, exceeds the limit
 * of headers: such a request gets a 431 at any path.
 */
const EXCLUDED = '^/api/auth/(logout|profile|change-password|sessions|oidc/start)';

const folder = makeTempDir();
const product = useProduct('start');
beforeAll(async () => {
  await run('python3', ['-m', 'venv', folder]);
  await run(join(folder, 'bin/pip'), ['install', '--quiet', `schemathesis==${VERSION}`]);
}, 300_000);

it('responds to the requests of schemathesis as /api/openapi.json says', async () => {
  const { token } = await register(product().url);
  const args = ['run', `${product().url}/api/openapi.json`, '--checks', CHECKS.join(), '--seed', '1', '--no-shrink'];
  const bounds = ['--max-examples=10', '--max-time=90', '--request-timeout=60', '--phases=examples,coverage,fuzzing'];
  const account = ['-H', `Authorization: Bearer ${token}`, '--exclude-path-regex', EXCLUDED];
  const command = run(join(folder, 'bin/st'), [...args, ...bounds, ...account], { cwd: folder, maxBuffer: 2 ** 26 });
  // A failure shows schemathesis's report.
  const { stdout } = await command.catch((error: { stdout: string }) => Promise.reject(new Error(error.stdout)));
  expect(Number(/(\d+) generated/.exec(stdout)?.[1])).toBeGreaterThan(200);
}, 300_000);
