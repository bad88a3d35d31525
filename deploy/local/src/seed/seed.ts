import { PlainError } from '@taskmesh/local-servers';
import { demoTasks } from './demo-tasks.ts';

/** Its password is public: never create it on a Taskmesh that others can reach. */
export const DEMO_ACCOUNT = { email: 'demo@example.com', password: 'a list for everybody', name: 'Demo' };

const SIGN_UP = 'mutation SeedSignUp($input: SignUpInput!) { session: signUp(input: $input) { accessToken } }';
const LOGIN = 'mutation SeedLogin($input: LoginInput!) { session: login(input: $input) { accessToken } }';
const COUNT = 'query SeedCount { tasks(first: 1) { totalCount } }';
const CREATE = 'mutation SeedTask($input: CreateTaskInput!) { createTask(input: $input) { id } }';

interface GraphqlResponse<Data> {
  data?: Data | null;
  errors?: { message: string; extensions?: { code?: string } }[];
}

/**
 * Creates the demo account if it is missing, and its tasks if it has none.
 * @returns how many tasks were created
 * @throws PlainError when Taskmesh does not respond, or refuses
 */
export async function seed(url: string): Promise<number> {
  const accessToken = await openSession(url);
  const { tasks } = dataOf(await request<{ tasks: { totalCount: number } }>(url, { query: COUNT, accessToken }));
  if (tasks.totalCount > 0) return 0;
  const inputs = demoTasks(new Date());
  for (const input of inputs) dataOf(await request(url, { query: CREATE, variables: { input }, accessToken }));
  return inputs.length;
}

async function openSession(url: string): Promise<string> {
  type Session = { session: { accessToken: string } };
  const signedUp = await request<Session>(url, { query: SIGN_UP, variables: { input: DEMO_ACCOUNT } });
  if (signedUp.errors?.[0]?.extensions?.code !== 'CONFLICT') return dataOf(signedUp).session.accessToken;
  const { email, password } = DEMO_ACCOUNT;
  const loggedIn = await request<Session>(url, { query: LOGIN, variables: { input: { email, password } } });
  return dataOf(loggedIn).session.accessToken;
}

async function request<Data>(
  url: string,
  { accessToken, ...payload }: { query: string; variables?: object; accessToken?: string },
): Promise<GraphqlResponse<Data>> {
  const headers = {
    'content-type': 'application/json',
    ...(accessToken && { authorization: `Bearer ${accessToken}` }),
  };
  try {
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify(payload) });
    return (await response.json()) as GraphqlResponse<Data>; // the API of Taskmesh
  } catch (cause) {
    const remedy = 'Start one, or name its address: TASKMESH_URL, --url or PORT.';
    throw new PlainError(`There is no Taskmesh at ${url}. ${remedy}`, { cause });
  }
}

function dataOf<Data>({ data, errors }: GraphqlResponse<Data>): Data {
  if (!data || errors)
    throw new PlainError(`Taskmesh rejected the demo data: ${errors?.[0]?.message ?? 'no reason given'}`);
  return data;
}
