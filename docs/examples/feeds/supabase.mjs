/**
 * The Supabase client, as it is. Beyond what Supabase does, the channel is told where to begin (`resume`), and tells where
 * it stands, in a `system` message behind the changes: what is sent with the next join. A connection that breaks between a
 * change and its cursor brings that change once more; the page shows the same task again, and nothing is lost.
 */
export function follow({ url, token, after, onChange, onState, onEnd }) {
  const client = globalThis.supabase.createClient(url, 'public-key', { accessToken: async () => token });
  const channel = client
    .channel('tasks')
    .on('postgres_changes', { event: '*', schema: 'public', table: 'tasks' }, ({ eventType, new: row, old }) =>
      onChange({ kind: eventType, task: eventType === 'DELETE' ? old : row }),
    )
    .on('system', {}, ({ extension, status, message, cursor }) => {
      if (extension === 'resume' && cursor) channel.updateJoinPayload({ resume: { since: cursor } });
      else if (status === 'error' && message.startsWith('CURSOR_EXPIRED')) onEnd('CURSOR_EXPIRED');
      else if (status === 'error' && /session has ended|token/i.test(message)) onEnd('UNAUTHENTICATED');
    });
  channel.updateJoinPayload({ resume: { since: after } });
  void client.realtime.setAuth(token).then(() =>
    channel.subscribe((status) => {
      if (status === 'SUBSCRIBED') onState('live');
      else if (status !== 'CLOSED') onState('reconnecting'); // the client comes back by itself
    }),
  );
  return async () => {
    await client.removeAllChannels();
    client.realtime.disconnect();
  };
}
