const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The id as it is stored (lower case), or undefined for what cannot be an id: nothing has it. */
export function parseUuid(value: string): string | undefined {
  return UUID.test(value) ? value.toLowerCase() : undefined;
}
