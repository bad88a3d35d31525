import { lossesOf, type Unsaved } from './losses.ts';

const NOTHING: Unsaved = {
  pendingWrites: 0,
  edits: { conflicts: [] },
  editing: { open: undefined, isChanged: false },
  adding: { title: ' ' },
};
const open = { base: { title: 'Buy bread' } } as NonNullable<Unsaved['editing']['open']>; // `lossesOf` reads nothing else
const conflict = { title: 'Water the plants' } as Unsaved['edits']['conflicts'][number];

it('reports no losses if everything is saved', () => {
  expect(lossesOf(NOTHING)).toEqual([]);
  expect(lossesOf({ ...NOTHING, editing: { open, isChanged: false } })).toEqual([]);
});

it.each<[Partial<Unsaved>, string]>([
  [{ pendingWrites: 1 }, 'One change has not reached the server yet.'],
  [{ pendingWrites: 3 }, '3 changes have not reached the server yet.'],
  [{ editing: { open, isChanged: true } }, 'What you typed in “Buy bread” is not saved.'],
  [{ adding: { title: 'half a ti' } }, 'The new task “half a ti” is not added.'],
  [{ edits: { conflicts: [conflict] } }, 'Your change of “Water the plants” waits for your decision.'],
])('reports that %j would be lost', (unsaved, sentence) => {
  expect(lossesOf({ ...NOTHING, ...unsaved })).toEqual([sentence]);
});
