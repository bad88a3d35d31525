import { decode, encode, type Message } from './frames.ts';

const join: Message = { joinRef: '1', ref: '1', topic: 'realtime:tasks', event: 'phx_join', payload: { config: {} } };

describe('frames of a channel', () => {
  it.each(['1.0.0', '2.0.0'] as const)('read what they wrote, in %s', (version) => {
    expect(decode(version, Buffer.from(encode(version, join)), false)).toEqual(join);
  });

  it('have the form of their version', () => {
    expect(JSON.parse(encode('2.0.0', join))).toEqual(['1', '1', 'realtime:tasks', 'phx_join', { config: {} }]);
    expect(JSON.parse(encode('1.0.0', join))).toEqual({
      topic: 'realtime:tasks',
      event: 'phx_join',
      payload: { config: {} },
      ref: '1',
      join_ref: '1',
    });
  });

  it('read a broadcast in the binary form', () => {
    const parts = ['1', '7', 'realtime:tasks', 'shout', ''];
    const frame = Buffer.concat([
      Buffer.from([3, ...parts.map((part) => part.length), 1]),
      Buffer.from(parts.join('')),
      Buffer.from('{"a":1}'),
    ]);
    expect(decode('2.0.0', frame, true)).toMatchObject({
      joinRef: '1',
      ref: '7',
      topic: 'realtime:tasks',
      event: 'broadcast',
    });
  });

  it.each([
    ['nonsense', 'nonsense', false],
    ['null', 'null', false],
    ['a list that is too short', '["1","1","t","e"]', false],
    ['a topic that is no string', '["1","1",5,"e",{}]', false],
    ['an object in version 2', '{"topic":"t","event":"e","payload":{}}', false],
    ['an empty binary frame', '', true],
    ['a binary frame that ends too early', '\u0003\u00ff\u00ff\u00ff\u00ff\u00ff\u0001', true],
    ['a payload nested deeper than any of ours', `["1","1","t","e",{"a":${'['.repeat(40)}${']'.repeat(40)}}]`, false],
    ['a deep nesting', `["1","1","t","e",${'['.repeat(30_000)}`, false],
  ])('drop %s', (_what, text, isBinary) => {
    expect(decode('2.0.0', Buffer.from(text, 'latin1'), isBinary)).toBeUndefined();
  });
});
