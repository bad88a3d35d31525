import { ArgumentError, readArguments } from './arguments.mjs';

const options = {
  observe: { type: 'boolean', short: 'o' },
  gateways: { type: 'string' },
  'safety-backup': { type: 'boolean' },
} as const;
const read = (line: string) =>
  readArguments({ args: line.split(' ').filter(Boolean), options, allowPositionals: true });

describe('the arguments of a command', () => {
  it('are read as Node reads them', () => {
    const { values, positionals } = read('-o --gateways 2 file -- --last');
    expect({ ...values }).toEqual({ observe: true, gateways: '2' });
    expect(positionals).toEqual(['file', '--last']);
    expect(read('--gateways=-1').values.gateways).toBe('-1');
  });

  it.each([
    ['--frob', 'There is no option --frob.'],
    ['-x', 'There is no option -x.'],
    ['--gateway 2', 'There is no option --gateway: is --gateways meant?'],
    ['--obsreve', 'There is no option --obsreve: is --observe meant?'],
    ['--safety', 'There is no option --safety: is --safety-backup meant?'],
    ['--toString', 'There is no option --toString.'],
    ['--gateways', '--gateways needs a value.'],
    ['--gateways --observe', '--gateways needs a value.'],
    ['--observe=yes', '--observe takes no value.'],
  ])('"%s" are refused', (line, message) => expect(() => read(line)).toThrow(new ArgumentError(message)));

  it('are options only, where nothing else is asked for', () => {
    expect(() => readArguments({ args: ['file'], options })).toThrow('"file" is too much');
  });
});
