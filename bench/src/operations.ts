export const OPERATIONS = ['login', 'create', 'get', 'list', 'update', 'statistics'] as const;
export type Operation = (typeof OPERATIONS)[number];

export const PROTOCOLS = ['rest', 'graphql'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export const TARGETS = ['bare', 'embedded', 'separate'] as const;
export type TargetName = (typeof TARGETS)[number];

/** Which protocols a target speaks. */
export const SPOKEN: Record<TargetName, readonly Protocol[]> = {
  bare: ['rest'],
  embedded: PROTOCOLS,
  separate: PROTOCOLS,
};

/** One column of the comparison: an operation at a target over a protocol. */
export interface Cell {
  target: TargetName;
  operation: Operation;
  protocol: Protocol;
}
