import { startTestGateway } from './fakes/gateway.ts';

/** The error code of an operation at a gateway with these settings. */
async function answersOf(queries: string[], env: Record<string, string> = {}) {
  const gateway = await startTestGateway({ env });
  const token = await gateway.auth.token('a0000000-0000-4000-8000-000000000001');
  const answers = await Promise.all(queries.map((query) => gateway.graphql(query, { token })));
  return answers.map(({ body }) => body.errors?.[0]?.extensions.code);
}

const filled = (filler: string, times: number) => `{ __typename }${filler.repeat(times)}`;
const costly = (outer: number, inner: number) =>
  `{ me { tasks(first: ${outer}) { edges { node { owner { tasks(first: ${inner}) { edges { cursor } } } } } } } }`;

/** Renames copy nothing that is long. */
const RENAMED = '{ tasks(first: 1000) { edges { node { taskId: id isDone: completed } } } }';

/** 155 of the longest descriptions, 31 times each, have 57 MB as JSON. */
const copies = (page: number) => {
  const aliases = Array.from({ length: 30 }, (_, index) => `a${index}: description`).join(' ');
  return `{ tasks(first: ${page}) { edges { node { description ${aliases} } } } }`;
};

it('a document may have 128,000 characters and 10,000 lines, with any content, and may cost 5,000', async () => {
  const within = [filled('#', 127_986), filled('\r\n', 9_999), costly(30, 30), copies(30), RENAMED];
  const beyond = [filled('#', 127_987), filled('\r\n', 10_000), costly(1_000, 1), copies(155)];
  expect(await answersOf(within)).toEqual(within.map(() => undefined));
  expect(await answersOf(beyond)).toEqual([
    'GRAPHQL_PARSE_FAILED',
    'GRAPHQL_PARSE_FAILED',
    'GRAPHQL_VALIDATION_FAILED',
    'GRAPHQL_VALIDATION_FAILED',
  ]);
});

it('limits that are set to 0 are disabled', async () => {
  const names = ['DEPTH', 'ALIASES', 'TOKENS', 'COST'];
  const off = Object.fromEntries(names.map((name) => [`GRAPHQL_MAX_${name}`, '0']));
  expect(await answersOf([filled('\n', 128_001), costly(1_000, 1_000)], off)).toEqual([undefined, undefined]);
});

it('trusted documents must match their hashes', async () => {
  const files = { TRUSTED_DOCUMENTS_FILE: JSON.stringify({ ['0'.repeat(64)]: '{ __typename }' }) };
  await expect(startTestGateway({ env: { TRUSTED_DOCUMENTS: 'only' }, files })).rejects.toThrow(
    'TRUSTED_DOCUMENTS_FILE',
  );
});
