import type { StreamFormat } from './http-streams.ts';

const PART = '\r\n--graphql\r\ncontent-type: application/json\r\n\r\n';
const END = '\r\n--graphql--\r\n';

/** Apollo's multipart protocol: https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol */
export const multipart: StreamFormat = {
  accepts: (accept) => /multipart\/mixed/.test(accept) && /subscriptionSpec="?1\.0"?/.test(accept),
  contentType: 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0',
  opening: `${PART}{}`,
  heartbeat: `${PART}{}`,
  next: (json) => `${PART}{"payload":${json}}`,
  ending: END,
  failure: (errors) => `${PART}${JSON.stringify({ payload: null, errors })}${END}`,
};
