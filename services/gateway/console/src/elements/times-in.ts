/** UTC times in the format of the API, with or without fractions of a second. */
const TIME = /(\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** Splits a text into its times and the text between them. */
export function timesIn(text: string): ({ text: string } | { at: string })[] {
  return text
    .split(TIME)
    .map((part, index) => (index % 2 === 1 && !isNaN(Date.parse(part)) ? { at: part } : { text: part }))
    .filter((part) => 'at' in part || part.text !== '');
}
