/** The address of a real server for tests; `npm test` starts the servers and exports these. */
export function requiredAddress(name: 'POSTGRES_URL' | 'REDIS_URL' | 'KAFKA_BROKERS'): string {
  const address = process.env[name];
  if (!address)
    throw new Error(`${name} is not set: run the tests with "npm test -- <path>", which starts the servers.`);
  return address;
}
