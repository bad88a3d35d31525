import { UsageError } from '../command.ts';
import { readStackArguments, readStackSettings } from './stack-config.ts';

describe("the stack's arguments", () => {
  it('default to one gateway and to restarts', () => {
    expect(readStackArguments([])).toEqual({ gateways: 1, restart: true });
  });

  it('set the number of gateways and switch restarts off', () => {
    expect(readStackArguments(['--gateways', '3', '--no-restart'])).toEqual({ gateways: 3, restart: false });
  });

  it.each(['--gateways 0', '--gateways two', '--gateways=1.5', '--gateways', '--unknown', 'word'])(
    'are rejected if they are invalid: %s',
    (line) => {
      expect(() => readStackArguments(line.split(' '))).toThrow(UsageError);
    },
  );
});

describe("the stack's settings", () => {
  it('have defaults that do not conflict with the embedded platform', () => {
    const { port, host, dataDir } = readStackSettings({});
    expect({ port, host }).toEqual({ port: 4000, host: '127.0.0.1' });
    expect(dataDir).toMatch(/\.data.stack$/);
  });

  it('are all reported at once if they are invalid', () => {
    expect(() => readStackSettings({ PORT: 'http', ADMIN_PORT: '-1', DATABASE_PREFIX: 'Not-A-Name' })).toThrow(
      /PORT must be[^]*ADMIN_PORT must be[^]*DATABASE_PREFIX must be/,
    );
  });
});
