/**
 * Runs in a pod: signs up users, opens sockets for each, subscribes on every socket, creates one task per user and waits until
 * every socket has received it. Arguments: host, users, sockets per user. Prints the number of events received.
 */
export const READERS = `
  const { WebSocket } = require('ws');
  const [host, users, sockets] = process.argv.slice(1);
  const call = async (path, body, token) => {
    const headers = { 'content-type': 'application/json', ...(token && { authorization: 'Bearer ' + token }) };
    const answer = await fetch('http://' + host + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(path + ' was answered ' + answer.status + ' ' + (await answer.text()));
    return answer.json();
  };
  let received = 0;
  const query = 'subscription($after: String) { taskChanges(after: $after) { sequence task { id title } } }';
  const open = (token, after) => new Promise((resolve, reject) => {
    const socket = new WebSocket('ws://' + host + '/graphql', 'graphql-transport-ws');
    const send = (message) => socket.send(JSON.stringify(message));
    socket.on('open', () => send({ type: 'connection_init', payload: { authorization: 'Bearer ' + token } }));
    socket.on('error', reject).on('close', (code) => reject(new Error('closed with ' + code)));
    socket.on('message', (data) => {
      const { type } = JSON.parse(data);
      if (type === 'ping') send({ type: 'pong' });
      if (type === 'next') received++;
      if (type !== 'connection_ack') return;
      send({ id: '1', type: 'subscribe', payload: { query, variables: { after } } });
      resolve();
    });
  });
  const user = async (index) => {
    const email = 'reader-' + index + '@example.com';
    const { access_token: token } = await call('/api/auth/signup', { email, password: 'correct horse battery staple', name: 'Ada' });
    const { data } = await call('/graphql', { query: '{ tasks { changesCursor } }' }, token);
    for (let count = 0; count < sockets; count++) await open(token, data.tasks.changesCursor);
    return token;
  };
  const run = async () => {
    const tokens = [];
    const waiting = Array.from({ length: Number(users) }, (_, index) => index);
    await Promise.all(Array.from({ length: 8 }, async () => { while (waiting.length) tokens.push(await user(waiting.pop())); }));
    for (const token of tokens) await call('/api/tasks', { title: 'for every reader' }, token);
    const deadline = Date.now() + 120_000;
    while (received < users * sockets && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 200));
    console.log(JSON.stringify({ received }));
    process.exit();
  };
  run().catch((error) => { console.error(error.message); process.exit(1); });`;

/**
 * Runs in a pod: users who each list, create, read and change tasks, one request after another. Arguments: host, users,
 * seconds. Prints the requests per second, and the number of failed ones.
 */
export const REQUESTS = `
  const [host, users, seconds] = process.argv.slice(1);
  let count = 0;
  let failed = 0;
  const call = async (method, path, body, token) => {
    const headers = { ...(body && { 'content-type': 'application/json' }), ...(token && { authorization: 'Bearer ' + token }) };
    const answer = await fetch('http://' + host + '/api' + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    count++;
    if (!answer.ok) failed++;
    return answer.json();
  };
  const user = async (index, until) => {
    const email = 'worker-' + index + '@example.com';
    const { access_token: token } = await call('POST', '/auth/signup', { email, password: 'correct horse battery staple', name: 'Ada' });
    while (Date.now() < until) {
      const { data } = await call('POST', '/tasks', { title: 'made among others' }, token);
      await call('GET', '/tasks?limit=50', undefined, token);
      await call('GET', '/tasks/' + data.id, undefined, token);
      await call('PATCH', '/tasks/' + data.id, { completed: true }, token);
      await call('GET', '/tasks/stats', undefined, token);
    }
  };
  const until = Date.now() + seconds * 1_000;
  Promise.all(Array.from({ length: Number(users) }, (_, index) => user(index, until))).then(() => {
    console.log(JSON.stringify({ perSecond: Math.round(count / seconds), failed }));
    process.exit();
  });`;
