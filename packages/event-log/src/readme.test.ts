import { requiredAddress } from '@taskmesh/testing';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const EXAMPLE = /```js\n([^]*?)```/.exec(readFileSync(new URL('../README.md', import.meta.url), 'utf8'))?.[1] ?? '';

it.each(['Kafka', 'memory'])('the example of the README runs with %s', async (kind) => {
  const KAFKA_BROKERS = kind === 'Kafka' ? requiredAddress('KAFKA_BROKERS') : '';
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', EXAMPLE], {
    cwd: new URL('.', import.meta.url),
    env: { ...process.env, KAFKA_BROKERS },
  });
  expect(stdout).toBe('en: hello\n');
});
