import { followStream } from './http-stream.mjs';
import { run } from './taskmesh.mjs';

/** Apollo's multipart protocol: a part is complete once the next delimiter arrives. Parts without a payload are heartbeats. */
function parser(onResult) {
  let text = '';
  return (piece) => {
    text += piece;
    const parts = text.split('\r\n--graphql');
    text = parts.pop();
    for (const part of parts) {
      const body = part.split('\r\n\r\n').slice(1).join('\r\n\r\n');
      const { payload, errors } = body ? JSON.parse(body) : {};
      if (payload || errors) onResult(payload ?? { errors });
    }
  };
}

const headersFor = () => ({ accept: 'multipart/mixed;subscriptionSpec=1.0, application/json' });

await run((after) => followStream(after, { headersFor, parser }));
