import { timesIn } from './times-in.ts';
import { Moment } from './times.tsx';

/** A message of the server, with its times in the page's format. */
export function Sentence({ text }: { text: string }) {
  return <>{timesIn(text).map((part, index) => ('at' in part ? <Moment key={index} at={part.at} /> : part.text))}</>;
}
