import { Ajv2020 } from 'ajv/dist/2020.js';
import { strictSchema } from './support/strict-schema.ts';

describe('the strict schema of a custom kind', () => {
  const spec = {
    type: 'object',
    required: ['size'],
    properties: {
      size: { type: 'integer', nullable: true },
      labels: { type: 'object', additionalProperties: { type: 'object', properties: { a: { type: 'string' } } } },
      parts: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
      free: { type: 'object', properties: { a: {} }, 'x-kubernetes-preserve-unknown-fields': true },
      any: { type: 'object' },
      either: { type: 'object', properties: { a: {}, b: {} }, oneOf: [{ required: ['a'] }, { properties: { b: {} } }] },
    },
  };
  const isValid = new Ajv2020({ strict: false }).compile(strictSchema(spec));

  it.each([
    { size: 1 },
    { size: null },
    { size: 1, labels: { x: { a: '' } }, parts: [{ name: '' }] },
    { size: 1, free: { b: 1 }, any: { b: 1 } },
    { size: 1, either: { b: 1 } },
  ])('takes %j', (object) => expect(isValid(object)).toBe(true));

  it.each([
    {},
    { size: '1' },
    { size: 1, typo: 1 },
    { size: 1, labels: { x: { b: '' } } },
    { size: 1, parts: [{ typo: '' }] },
    { size: 1, either: { b: 1, c: 1 } },
  ])('refuses %j', (object) => expect(isValid(object)).toBe(false));
});
