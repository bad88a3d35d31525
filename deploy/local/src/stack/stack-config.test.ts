import { UsageError } from '../command.ts';
import { readStackArguments, readStackSettings } from './stack-config.ts';

it.each([
  ['', { gateways: 1, restart: true }],
  ['--gateways 3 --no-restart', { gateways: 3, restart: false }],
])("the stack's arguments %j are read", (line, read) => {
  expect(readStackArguments(line.split(' ').filter(Boolean))).toEqual(read);
});

it.each(['--gateways 0', '--gateways two', '--gateways=1.5', '--gateways', '--unknown', 'word'])(
  "the stack's arguments %s are rejected",
  (line) => expect(() => readStackArguments(line.split(' '))).toThrow(UsageError),
);

it("the stack's settings have defaults that do not conflict with the embedded platform, and are all checked at once", () => {
  const dataDir = expect.stringMatching(/\.data.stack$/);
  expect(readStackSettings({})).toMatchObject({ port: 4000, host: '127.0.0.1', dataDir });
  expect(() => readStackSettings({ PORT: 'http', ADMIN_PORT: '-1', DATABASE_PREFIX: 'Not-A-Name' })).toThrow(
    /PORT must be[^]*ADMIN_PORT must be[^]*DATABASE_PREFIX must be/,
  );
});
