/** As the API writes times: UTC, with milliseconds or without. */
const TIME = /(\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A text and the times in it, in their order. */
export function timesIn(text: string): ({ text: string } | { at: string })[] {
  return text
    .split(TIME)
    .map((part, index) => (index % 2 === 1 ? { at: part } : { text: part }))
    .filter((part) => 'at' in part || part.text !== '');
}
