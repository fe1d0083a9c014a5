// Random output, with the footer and without: what differs is printed with its seed and the smallest output that shows it.
import { parseArgs } from 'node:util';
import { caseOf, type Case } from './case.js';
import { play, type Fault } from './play.js';
import { smallest } from './smallest.js';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    /** a terminal that has not told its name: only the footer is looked at, for what it shows is its own business */
    unknown: { type: 'boolean', default: false },
    /** a case as it was printed */
    replay: { type: 'string' },
  },
});

const AT_ONCE = 16; // the emulator takes pauses

const print = (text: string): void => void process.stdout.write(`${text}\n`);

const faultOf = (each: Case): Promise<Fault> => play(each).catch(String);

const show = ({ steps }: Case): string =>
  JSON.stringify(
    steps
      .map(({ bytes, isEnd, isPainted }) => `${bytes}${isPainted ? '‹paint›' : isEnd ? '‹cut›' : ''}`)
      .join(''),
  );

const packed = (each: Case): string => Buffer.from(JSON.stringify(each)).toString('base64');

const tell = async (seed: number, each: Case, fault: string): Promise<void> => {
  const small = await smallest(each);
  print(`seed ${seed}: ${fault}`);
  print(`  ${small.columns} × ${small.rows}: ${show(small)}: ${await faultOf(small)}`);
  print(`  npm run fuzz -- --replay ${packed(small)}`);
};

const fuzz = async (first: number, runs: number): Promise<number> => {
  let failed = 0;
  for (let seed = first; seed < first + runs; seed += AT_ONCE) {
    const count = Math.min(AT_ONCE, first + runs - seed);
    const cases = Array.from({ length: count }, (_, index) => caseOf(seed + index, !values.unknown));
    const faults = await Promise.all(cases.map(faultOf));
    for (const [index, each] of cases.entries()) {
      const fault = faults[index];
      if (fault === undefined) continue;
      failed += 1;
      await tell(seed + index, each, fault);
    }
  }
  print(`${failed} of ${runs} failed`);
  return failed;
};

if (values.replay !== undefined) {
  const fault = await faultOf(JSON.parse(Buffer.from(values.replay, 'base64').toString()) as Case);
  print(fault ?? 'nothing is wrong');
  process.exitCode = fault === undefined ? 0 : 1;
} else {
  process.exitCode = (await fuzz(Number(values.seed), Number(values.runs))) === 0 ? 0 : 1;
}
