import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

const OF_NX = ['lint', 'typecheck'];
const OF_JEST = ['test', 'test:long', 'test:image', 'test:charts', 'test:cluster'];
const ours = Object.entries(scripts).filter(([name]) => !OF_NX.includes(name));

/** Runs a command as npm runs a script with arguments. */
function typed(command: string, argument: string): Promise<{ status: number; output: string }> {
  return new Promise((resolve) => {
    execFile('sh', ['-c', `${command} ${argument}`], { cwd: ROOT }, (error, stdout, stderr) =>
      resolve({ status: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}

describe('every command', () => {
  it.each(ours)('prints its help: npm run %s', async (_name, command) => {
    const { status, output } = await typed(command, '--help');
    expect([status, output]).toEqual([0, expect.stringMatching(/^(KUBECONFIG=<file> )?npm (start|test|run [\w:]+)/)]);
  });

  it.each(ours.filter(([name]) => !OF_JEST.includes(name)))(
    'refuses in plain words what it does not know: npm run %s',
    async (name, command) => {
      const { status, output } = await typed(command, '--nonsense');
      expect(status).toBe(2);
      expect(output).toMatch(/--nonsense[^]*--help|^npm run /);
      expect([name, output]).toEqual([name, expect.not.stringMatching(/^ +at /m)]);
    },
  );
});
