import { requiredAddress } from '@taskmesh/testing';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const EXAMPLES = readFileSync(new URL('../README.md', import.meta.url), 'utf8').matchAll(/```js\n([^]*?)```/g);
const PROGRAM = [...EXAMPLES].map(([, code]) => code).join('\n');

it.each(['Kafka', 'memory'])('the examples of the README run with %s', async (kind) => {
  const KAFKA_BROKERS = kind === 'Kafka' ? requiredAddress('KAFKA_BROKERS') : '';
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    cwd: new URL('.', import.meta.url),
    env: { ...process.env, KAFKA_BROKERS },
  });
  expect(stdout).toBe('en: hello\nthe outbox is empty\nread 2, 3, 4, 5\n');
});
