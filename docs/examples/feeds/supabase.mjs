import { createClient } from '@supabase/supabase-js';
import { run, token, url } from './taskmesh.mjs';

/** Of a message, whether it is useless to come back with the same token. */
const isOfToken = (message) => /session has ended|token/i.test(message ?? '');

/**
 * The Supabase client, as it is. Beyond what Supabase does, the join says where to begin (`resume`), and the channel reports where
 * it stands, in a `system` message behind the changes: what is sent with the next join. A connection that breaks between a
 * change and its cursor brings that change once more.
 */
async function follow(after) {
  const client = createClient(url, 'public-key', { accessToken: async () => token });
  await client.realtime.setAuth(token);
  const code = await new Promise((end) => {
    const channel = client
      .channel('tasks')
      .on('postgres_changes', { event: '*', schema: 'public', table: 'tasks' }, ({ eventType, new: row, old }) =>
        console.log(eventType, (eventType === 'DELETE' ? old : row).title),
      )
      .on('system', {}, ({ extension, status, message, cursor }) => {
        if (extension === 'resume' && cursor) channel.updateJoinPayload({ resume: { since: cursor } });
        else if (status === 'error' && message.startsWith('CURSOR_EXPIRED')) end('CURSOR_EXPIRED');
        else if (status === 'error' && isOfToken(message)) end('UNAUTHENTICATED');
      });
    channel.updateJoinPayload({ resume: { since: after } });
    channel.subscribe((status, error) => {
      if (status === 'SUBSCRIBED') console.log('live');
      else if (isOfToken(error?.message)) end('UNAUTHENTICATED');
      else if (status !== 'CLOSED') console.log('reconnecting'); // the client comes back by itself
    });
  });
  await client.removeAllChannels();
  client.realtime.disconnect();
  return code;
}

await run(follow);
