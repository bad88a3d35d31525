import { describeContract } from './contract.ts';
import { embeddedForTests } from './start-embedded.ts';

describe('the embedded platform keeps the contract:', () => {
  describeContract(embeddedForTests());
});
