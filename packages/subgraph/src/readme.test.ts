import { atEnd } from '@taskmesh/testing';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

const EXAMPLE = /```js\n([^]*?)```/.exec(readFileSync(new URL('../README.md', import.meta.url), 'utf8'))?.[1] ?? '';

it('the example in the README serves operations and entities', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', EXAMPLE], {
    cwd: new URL('.', import.meta.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atEnd(() => child.kill());
  const [url] = (await once(child.stdout, 'data')) as [Buffer];
  const ask = async (query: string) => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch(String(url).trim(), { method: 'POST', headers, body: JSON.stringify({ query }) })).json();
  };
  expect(await ask('{ product(id: "1") { name } }')).toEqual({ data: { product: { name: 'Chair' } } });
  expect(await ask('{ products { all { id } n: count } }')).toEqual({
    data: { products: { all: [{ id: '1' }], n: 1 } },
  });
  const reference = '{ __typename: "Product", id: "1" }';
  expect(await ask(`{ _entities(representations: [${reference}]) { ... on Product { name } } }`)).toEqual({
    data: { _entities: [{ name: 'Chair' }] },
  });
  for (const body of ['{', 'null']) {
    const { status } = await fetch(String(url).trim(), { method: 'POST', body });
    expect(status).toBe(400);
  }
});
