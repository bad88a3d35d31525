/** For a list of whose writes nothing is to be seen. */
export const noWrites = {
  pending: () => [],
  subscribe: () => () => undefined,
  confirm: () => undefined,
  wake: () => undefined,
  hold: () => () => undefined,
};
