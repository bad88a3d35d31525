/** What a server answered: status, headers, and the body as JSON. */
export interface Answer<Body = Record<string, unknown>> {
  status: number;
  headers: Headers;
  body: Body;
}

export interface RestRequest {
  token?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** A client that knows the interface document and nothing else. `path` is relative to `/api`. */
export function createRest(url: string) {
  return async function rest<Body = Record<string, unknown>>(
    method: string,
    path: string,
    { token, body, headers }: RestRequest = {},
  ): Promise<Answer<Body>> {
    const response = await fetch(`${url}/api${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body }; // typed by the test
  };
}

export type Rest = ReturnType<typeof createRest>;

export interface GraphqlAnswer<Data> {
  data: Data;
  errors?: { message: string; path?: (string | number)[]; extensions: { code: string } & Record<string, unknown> }[];
}

/** A GraphQL client over POST. */
export function createGraphql(url: string) {
  return async function graphql<Data = Record<string, never>>(
    query: string,
    { token, variables }: { token?: string; variables?: Record<string, unknown> } = {},
  ): Promise<GraphqlAnswer<Data>> {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ query, variables }),
    });
    return (await response.json()) as GraphqlAnswer<Data>; // typed by the test
  };
}
