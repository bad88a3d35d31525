// The calls of the page that are no streams.

/** Signs up or in; returns the access token. */
export async function authenticate(url, action, { email, password }) {
  const body = { email, password, ...(action === 'signup' && { name: email }) };
  const { access_token } = await rest(url, 'POST', `/auth/${action}`, { body });
  return access_token;
}

export const signOut = ({ url, token }) => rest(url, 'POST', '/auth/logout', { token });

export const addTask = ({ url, token }, title) => rest(url, 'POST', '/tasks', { token, body: { title } });

/** The list, and the cursor behind which its changes begin: together they miss nothing. */
export async function readTasks({ url, token }) {
  const query = '{ tasks(first: 100) { changesCursor edges { node { id title completed version } } } }';
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query }),
  });
  const { data, errors } = await response.json();
  if (errors) throw new Error(errors[0].message);
  return { tasks: data.tasks.edges.map(({ node }) => node), cursor: data.tasks.changesCursor };
}

async function rest(url, method, path, { token, body }) {
  const response = await fetch(`${url}/api${path}`, {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: body && JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message);
  return answer;
}
