import type { StreamFormat } from './stream-format.ts';

const DELIMITER = '\r\n--graphql';

/** A part is whole for its reader when the next delimiter is there: so that is written at once, not before the next part. */
const part = (json: string) => `\r\ncontent-type: application/json\r\n\r\n${json}${DELIMITER}`;

/** Apollo's multipart protocol: https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol */
export const multipart: StreamFormat = {
  protocol: 'multipart',
  accepts: (accept) => /multipart\/mixed/.test(accept) && /subscriptionSpec="?1\.0"?/.test(accept),
  contentType: 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0',
  opening: `${DELIMITER}${part('{}')}`,
  heartbeat: part('{}'),
  next: (json) => part(`{"payload":${json}}`),
  ending: '--\r\n',
  failure: (errors) => `${part(JSON.stringify({ payload: null, errors }))}--\r\n`,
};
