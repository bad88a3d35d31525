import { atEnd } from '@taskmesh/testing';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProduct } from '../../product.ts';
import { copyRepository, type Copy } from './copy.ts';
import { stepsOf } from './steps.ts';

const GUIDES = join(import.meta.dirname, '../../../docs/guides');
const NX = 'node_modules/nx/dist/bin/nx.js';
const CHECKS = ['run-many', '--outputStyle=static', '-t', 'typecheck', 'lint', 'format', 'unused'];

const stepsIn = (guide: string) => stepsOf(readFileSync(join(GUIDES, `${guide}.md`), 'utf8'));

describe('following a guide to the letter', () => {
  let copy: Copy;
  beforeEach(() => {
    copy = copyRepository();
  });
  afterEach(() => copy.remove());

  const check = (...projects: string[]) =>
    copy.node(NX, ...CHECKS, '-p', projects.map((name) => (name === 'taskmesh' ? name : `@taskmesh/${name}`)).join());

  it('adds a task field that is stored, restored, published and returned', async () => {
    copy.follow(stepsIn('add-a-field'));
    await copy.node('tools/codegen.ts');
    await check('taskmesh', 'contracts', 'tasks', 'gateway', 'client', 'console', 'bench', 'tests');
    const ofTasks = ['task-fields', 'feed', 'entities', 'import'];
    const ofGateway = ['rest-errors', 'rest-openapi', 'federation'];
    await copy.node(
      ...['scripts/test.mjs', 'libs/contracts', 'packages/client', 'tests/contract/stack', 'tests/backup/releases'],
      ...ofTasks.map((name) => `services/tasks/tests/${name}`),
      ...ofGateway.map((name) => `services/gateway/tests/${name}`),
    );
  }, 900_000);

  it('adds a REST path that is described, validated and tested', async () => {
    copy.follow(stepsIn('add-a-rest-path'));
    await copy.node('tools/codegen.ts');
    await check('gateway');
    await copy.node('scripts/test.mjs', 'services/gateway/tests/rest-', 'tests/contract/stack');
  }, 600_000);

  it('adds a service to the graph, the single process, the stack and the image', async () => {
    copy.follow(stepsIn('add-a-service'));
    await copy.node('tools/codegen.ts');
    await check('taskmesh', 'notes', 'gateway', 'all-in-one', 'local');
    const ofGateway = ['src/config', 'tests/federation', 'tests/supergraph-reload', 'tests/connections'];
    await copy.node(
      ...['scripts/test.mjs', 'services/notes', ...ofGateway.map((name) => `services/gateway/${name}`)],
      ...['tools/settings', 'deploy/image/main'],
    );

    const product = await startProduct('start', {}, copy.root);
    const send = async (query: string, token?: string) => {
      const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
      const body = JSON.stringify({ query });
      const response = await fetch(`${product.url}/graphql`, { method: 'POST', headers, body });
      return (await response.json()) as { data: Record<string, { accessToken: string }> };
    };
    atEnd(() => product.stop());
    const ada = '{ email: "ada@example.com", password: "a long and winding phrase", name: "Ada" }';
    const { data } = await send(`mutation { signUp(input: ${ada}) { accessToken } }`);
    const token = data.signUp?.accessToken;
    await send('mutation { addNote(text: "Water the plants") { id } }', token);
    expect(await send('{ notes { text } }', token)).toEqual({ data: { notes: [{ text: 'Water the plants' }] } });
  }, 900_000);
});
