import type { StreamFormat } from './stream-format.ts';

const DELIMITER = '\r\n--graphql';

/** A reader takes a part as complete only once it sees the next delimiter, so each part ends with one. */
const part = (json: string) => `\r\ncontent-type: application/json\r\n\r\n${json}${DELIMITER}`;

/** Apollo's multipart protocol: https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol */
export const multipart: StreamFormat = {
  protocol: 'multipart',
  contentType: 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0',
  opening: `${DELIMITER}${part('{}')}`,
  heartbeat: part('{}'),
  next: (json) => part(`{"payload":${json}}`),
  ending: '--\r\n',
  failure: (errors) => `${part(JSON.stringify({ payload: null, errors }))}--\r\n`,
};
