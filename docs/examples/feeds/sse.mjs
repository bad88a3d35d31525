import { followStream } from './http-stream.mjs';
import { run } from './taskmesh.mjs';

/** Server-sent events: an empty line ends each of them. */
function parser(onResult) {
  let text = '';
  return (piece) => {
    text += piece;
    const events = text.split('\n\n');
    text = events.pop();
    for (const event of events) {
      const fields = Object.fromEntries(event.split('\n').map((line) => line.split(/: ?(.*)/s, 2)));
      if (fields.event === 'next') onResult(JSON.parse(fields.data));
    }
  };
}

// An EventSource cannot send a token in a header, and a token does not belong into a URL: so the stream is read with fetch,
// and resumed as an EventSource would, by the id of the last event. In a browser it works the same way.
const headersFor = (cursor) => ({ accept: 'text/event-stream', 'last-event-id': cursor });

await run((after) => followStream(after, { headersFor, parser }));
