import { timesIn } from './times-in.ts';
import { Moment } from './times.tsx';

/** What the server says; the times in it are told as everywhere in the page. */
export function Sentence({ text }: { text: string }) {
  return <>{timesIn(text).map((part, index) => ('at' in part ? <Moment key={index} at={part.at} /> : part.text))}</>;
}
