import { typescriptOf } from './typescript-of.ts';

it('every kind of schema becomes the type of what it describes', () => {
  const text = { type: 'string' };
  const written = typescriptOf({
    Archive: {
      type: 'object',
      properties: {
        file: { ...text, description: 'Its name.' },
        origin: { type: 'string', enum: ['request', 'schedule'] },
        verifiedAt: { anyOf: [text, { type: 'null' }] },
        unfitAt: { type: ['string', 'null'] },
        keep: { type: 'object', additionalProperties: { type: 'integer' } },
        isFit: { type: 'boolean' },
      },
      required: ['file', 'origin', 'verifiedAt'],
    },
    ArchiveList: {
      type: 'object',
      properties: {
        success: { type: 'boolean', const: true },
        data: { type: 'array', items: { $ref: '#/components/schemas/Archive' } },
        tags: { type: 'array', items: { anyOf: [text, { type: 'number' }] } },
      },
      required: ['success', 'data', 'tags'],
      additionalProperties: false,
    },
  });
  expect(written).toBe(`export type Archive = {
  /** Its name. */
  file: string;
  origin: "request" | "schedule";
  verifiedAt: string | null;
  unfitAt?: string | null;
  keep?: Record<string, number>;
  isFit?: boolean;
};

export type ArchiveList = {
  success: true;
  data: Array<Archive>;
  tags: Array<string | number>;
};
`);
});

it('what has no type is reported', () => {
  expect(() => typescriptOf({ Strange: { type: 'tuple' } })).toThrow('There is no type for {"type":"tuple"}.');
});
