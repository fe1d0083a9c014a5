// A small right conversation of Claude Code with compactions, and any mixture of what crashes and Claude itself make of its file.
import fc from 'fast-check';

type Fields = Readonly<Record<string, unknown>>;

/** A record that a reader must find, and what is true of it. */
interface Written {
  readonly id: string;
  readonly record: Fields;
  readonly kind: 'prompt' | 'answer' | 'call' | 'result' | 'notice' | 'compaction' | 'summary';
  readonly text: string;
  /** the user has gone back from it */
  readonly isLeft: boolean;
}

/** What the conversation is: in its order, each record once. */
export interface Truth {
  readonly records: readonly Written[];
  /** ids of what each compaction kept, by its id */
  readonly kept: ReadonlyMap<string, readonly string[]>;
  /** used tokens in the last answer */
  readonly usedTokens: number;
  /** parts of lines that are no record, behind which a newline follows */
  readonly damaged: number;
  /** some records name a parent that was never written */
  readonly hasOrphans: boolean;
}

const SESSION = '0a0a0a0a-0000-4000-8000-000000000001';
const START = Date.UTC(2026, 8, 1, 10);

/** What happens between two compactions. */
interface Part {
  readonly turns: readonly {
    readonly edits: boolean;
    readonly isLeft: boolean;
    readonly twoCalls: boolean;
  }[];
  readonly kept: number;
}

const anyTurn = fc.record({
  edits: fc.boolean(),
  isLeft: fc.nat({ max: 5 }).map((n) => n === 0),
  twoCalls: fc.boolean(),
});
const anyPart: fc.Arbitrary<Part> = fc.record({
  turns: fc.array(anyTurn, { minLength: 1, maxLength: 3 }),
  kept: fc.nat({ max: 3 }),
});

/** Which faults, and where: the numbers are taken modulo what there is. */
export interface Faults {
  /** in each part but the first: how many old records come again, before which record, and whether with empty texts */
  readonly replays: readonly { readonly part: number; readonly count: number; readonly at: number }[];
  readonly areReplaysEmpty: boolean;
  /** single records that are written twice in a row */
  readonly doubles: readonly number[];
  /** compactions whose boundary and summary come twice, after that many records, with new ids or their own */
  readonly twice: readonly { readonly part: number; readonly after: number; readonly isRenamed: boolean }[];
  /** parts whose compaction comes before what it has kept */
  readonly late: readonly number[];
  readonly keptIn: 'uuids' | 'allUuids' | 'both' | 'half';
  readonly orphans: readonly number[];
  readonly emptied: readonly number[];
  readonly glued: readonly number[];
  /** lines that begin with the half of a record */
  readonly halves: readonly number[];
  readonly end: 'newline' | 'none' | 'half' | 'half and newline';
}

const someOf = (most: number): fc.Arbitrary<readonly number[]> => fc.array(fc.nat(), { maxLength: most });

const anyFaults: fc.Arbitrary<Faults> = fc.record({
  replays: fc.array(fc.record({ part: fc.nat(), count: fc.nat(), at: fc.nat() }), { maxLength: 2 }),
  areReplaysEmpty: fc.boolean(),
  doubles: someOf(2),
  twice: fc.array(fc.record({ part: fc.nat(), after: fc.nat({ max: 3 }), isRenamed: fc.boolean() }), {
    maxLength: 1,
  }),
  late: someOf(2),
  keptIn: fc.constantFrom('uuids', 'allUuids', 'both', 'half'),
  orphans: someOf(2),
  emptied: someOf(2),
  glued: someOf(3),
  halves: someOf(2),
  end: fc.constantFrom('newline', 'none', 'half', 'half and newline'),
});

export const anyBroken = fc.record({
  parts: fc.array(anyPart, { minLength: 3, maxLength: 4 }),
  faults: anyFaults,
});

export const noFaults: Faults = {
  replays: [],
  areReplaysEmpty: false,
  doubles: [],
  twice: [],
  late: [],
  keptIn: 'both',
  orphans: [],
  emptied: [],
  glued: [],
  halves: [],
  end: 'newline',
};

/** A right conversation, as the records of its parts: each but the first begins with boundary and summary. */
const rightParts = (parts: readonly Part[]): readonly (readonly Written[])[] => {
  let count = 0;
  let parent: string | null = null;
  let keptBefore: readonly string[] = [];
  const write = (kind: Written['kind'], text: string, more: Fields, isLeft = false): Written => {
    count += 1;
    const id = `${kind}-${count}`;
    const record = {
      parentUuid: parent,
      isSidechain: false,
      cwd: '/proj',
      sessionId: SESSION,
      version: '2.1.250',
      uuid: id,
      timestamp: new Date(START + count * 60_000).toISOString(),
      ...more,
    };
    parent = id;
    return { id, record, kind, text, isLeft };
  };
  const user = (text: string, isLeft: boolean): Written =>
    write('prompt', text, { type: 'user', message: { role: 'user', content: text } }, isLeft);
  const answer = (block: Fields, kind: 'answer' | 'call', text: string, isLeft: boolean): Written =>
    write(
      kind,
      text,
      {
        type: 'assistant',
        message: {
          id: `m${count}`,
          role: 'assistant',
          model: 'claude-opus-4-1',
          content: [block],
          stop_reason: kind === 'answer' ? 'end_turn' : 'tool_use',
          usage: { input_tokens: 1_000 + count, output_tokens: 1 },
        },
      },
      isLeft,
    );
  const result = (callId: string, isLeft: boolean): Written =>
    write(
      'result',
      `done ${callId}`,
      {
        type: 'user',
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: callId, content: `done ${callId}` }],
        },
      },
      isLeft,
    );
  const turn = ({ edits, isLeft, twoCalls }: Part['turns'][number]): readonly Written[] => {
    const before = parent;
    const made = [user(`request ${count + 1}`, isLeft)];
    for (let call = 0; call < (edits ? 1 + Number(twoCalls) : 0); call += 1) {
      const callId = `t${count}`;
      const file = `/proj/src/file${count}.ts`;
      const use = { type: 'tool_use', id: callId, name: 'Edit', input: { file_path: file } };
      made.push(answer(use, 'call', file, isLeft), result(callId, isLeft));
    }
    const said = `answer ${count + 1}`;
    made.push(answer({ type: 'text', text: said }, 'answer', said, isLeft));
    if (isLeft) parent = before;
    return made;
  };
  return parts.map((part, index) => {
    const begin: Written[] = [];
    if (index > 0) {
      const logicalParentUuid = parent;
      parent = null;
      begin.push(
        write('compaction', '', {
          type: 'system',
          subtype: 'compact_boundary',
          content: 'Conversation compacted',
          logicalParentUuid,
          compactMetadata: { trigger: 'manual', preTokens: 90_000 + index, kept: keptBefore },
        }),
      );
      const text = `This session is being continued from a previous conversation that ran out of context.\nSummary:\nsummary ${index}`;
      const message = { role: 'user', content: text };
      begin.push(write('summary', text, { type: 'user', isCompactSummary: true, message }));
    }
    const turns = part.turns.flatMap((each, place) =>
      turn({ ...each, isLeft: each.isLeft && place < part.turns.length - 1 }),
    );
    const own = turns.filter(({ isLeft }) => !isLeft);
    keptBefore = part.kept === 0 ? [] : own.slice(-part.kept).map(({ id }) => id);
    return [...begin, ...turns];
  });
};

const keptOf = ({ record }: Written): readonly string[] =>
  (record['compactMetadata'] as { kept?: readonly string[] } | undefined)?.kept ?? [];

/** A record in the file. */
interface Line {
  readonly of: Written;
  record: Fields;
  readonly isCopy: boolean;
}

const withParent = (line: Line | undefined, parentUuid: unknown): void => {
  if (line) line.record = { ...line.record, parentUuid };
};

const withoutText = (record: Fields): Fields => {
  const message = record['message'] as { content?: unknown } | undefined;
  if (!message) return record;
  const content =
    typeof message.content === 'string'
      ? ''
      : (message.content as readonly Fields[]).map((block) =>
          'text' in block ? { ...block, text: '' } : block,
        );
  return { ...record, message: { ...message, content } };
};

const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(1, list.length)];

/** The first record that goes on with the conversation from here: nobody has gone back to it or from it. */
const goesOn = (lines: readonly Line[], place: number): boolean => {
  const [before, line] = [lines[place - 1], lines[place]];
  return before !== undefined && line !== undefined && line.record['parentUuid'] === before.record['uuid'];
};

const metadataOf = ({ record }: Line, keptIn: Faults['keptIn']): Fields => {
  const { kept = [], ...rest } = record['compactMetadata'] as { kept?: readonly string[] };
  const half = Math.ceil(kept.length / 2);
  const lists = {
    uuids: { uuids: kept },
    allUuids: { allUuids: kept },
    both: { uuids: kept, allUuids: kept },
    half: { uuids: kept.slice(0, half), allUuids: kept.slice(half) },
  }[keptIn];
  const preservedMessages = {
    ...lists,
    anchorUuid: `summary-${Number(String(record['uuid']).slice(11)) + 1}`,
  };
  return { ...record, compactMetadata: kept.length === 0 ? rest : { ...rest, preservedMessages } };
};

/** What a compaction has kept, behind its summary. */
const moveLate = (parts: Line[][], part: number): void => {
  const [before, after] = [parts[part - 1], parts[part]];
  const kept = after?.[0] ? keptOf(after[0].of) : [];
  if (!before || !after || kept.length === 0) return;
  const tail = before.slice(-kept.length);
  if (tail.length < kept.length || before.length <= kept.length + 2) return;
  if (tail.some(({ of }) => !kept.includes(of.id)) || !goesOn(before, before.length - kept.length)) return;
  before.length -= kept.length;
  withParent(tail[0], after[1]?.record['uuid']);
  withParent(after[2], tail.at(-1)?.record['uuid']);
  after.splice(2, 0, ...tail);
};

/** Old records once more, and the next one names the last of them. */
const replay = (parts: Line[][], { part, count, at }: Faults['replays'][number], isEmpty: boolean): void => {
  const into = 1 + (part % (parts.length - 1));
  const lines = parts[into] ?? [];
  const old = parts
    .slice(0, into)
    .flat()
    .filter(({ isCopy, of }) => !isCopy && !of.isLeft);
  const places = [...lines.keys()].filter((place) => place >= 3 && goesOn(lines, place));
  const place = pick(places, at);
  const copies = old.slice(0, 1 + (count % old.length)).map((line) => ({
    ...line,
    record: isEmpty ? withoutText(line.record) : line.record,
    isCopy: true,
  }));
  if (place === undefined) return;
  withParent(lines[place], copies.at(-1)?.record['uuid']);
  lines.splice(place, 0, ...copies);
};

const compactTwice = (parts: Line[][], { part, after, isRenamed }: Faults['twice'][number]): void => {
  const into = 1 + (part % (parts.length - 1));
  const lines = parts[into] ?? [];
  const left = lines.findLastIndex(({ of }) => of.isLeft); // going back to the summary later could not be told from this
  const places = [...lines.keys()].filter((each) => each >= 2 && each > left && goesOn(lines, each));
  const place = pick(places, after);
  const [boundary, summary] = lines;
  if (place === undefined || !boundary || !summary) return;
  const renamed = (line: Line): Line => {
    const uuid = isRenamed ? `${String(line.record['uuid'])}-again` : line.record['uuid'];
    return { ...line, record: { ...line.record, uuid }, isCopy: true };
  };
  const copies = [renamed(boundary), renamed(summary)];
  withParent(copies[1], copies[0]?.record['uuid']);
  withParent(lines[place], copies[1]?.record['uuid']);
  lines.splice(place, 0, ...copies);
};

const HALF = '{"parentUuid":"x","type":"user","message":{"role":"user","content":[{"type":"text","text":"lo';

/** Lines of the file: some records glued together, some behind the half of one. */
const linesOf = (lines: readonly Line[], { glued, halves, end }: Faults): string => {
  const join = new Set(glued.map((at) => 1 + (at % (lines.length - 1))));
  const half = new Set(halves.map((at) => at % lines.length));
  const text = lines.map(({ record }, place) => {
    const own = `${half.has(place) ? HALF : ''}${JSON.stringify(record)}`;
    return place === 0 || join.has(place) ? own : `\n${own}`;
  });
  const ends = { newline: '\n', none: '', half: `\n${HALF}`, 'half and newline': `\n${HALF}\n` };
  return text.join('') + ends[end];
};

const asFields = (value: unknown): Fields => (value ?? {}) as Fields;

/** The file, and what is true of it. */
export const breakTranscript = (
  given: readonly Part[],
  faults: Faults,
): { readonly text: string; readonly truth: Truth } => {
  const right = rightParts(given);
  const all = right.flat();
  const emptied = new Set(
    faults.emptied.map(
      (at) =>
        pick(
          all.filter(({ kind }) => kind === 'prompt' || kind === 'answer'),
          at,
        )?.id,
    ),
  );
  const records = all.map((each) => (emptied.has(each.id) ? { ...each, text: '' } : each));
  const parts = right.map((part) =>
    part.map((of): Line => {
      const record = emptied.has(of.id) ? withoutText(of.record) : of.record;
      return { of, record, isCopy: false };
    }),
  );
  for (const part of faults.late) moveLate(parts, 1 + (part % (parts.length - 1)));
  for (const each of faults.replays) replay(parts, each, faults.areReplaysEmpty);
  for (const each of faults.twice) compactTwice(parts, each);
  let lines = parts.flat();
  lines = lines.map((line) =>
    line.of.kind === 'compaction' ? { ...line, record: metadataOf(line, faults.keptIn) } : line,
  );
  for (const at of faults.orphans) {
    const places = [...lines.keys()].filter(
      (place) => goesOn(lines, place) && lines[place]?.isCopy === false,
    );
    withParent(lines[pick(places, at) ?? -1], `never-written-${at}`);
  }
  const doubles = new Set(faults.doubles.map((at) => at % lines.length));
  lines = lines.flatMap((line, place) => (doubles.has(place) ? [line, { ...line, isCopy: true }] : [line]));
  const last = all.findLast(({ kind }) => kind === 'answer' || kind === 'call');
  const usage = asFields(asFields(last?.record['message'])['usage']);
  const halves = new Set(faults.halves.map((at) => at % lines.length)).size;
  return {
    text: linesOf(lines, faults),
    truth: {
      records,
      kept: new Map(all.filter(({ kind }) => kind === 'compaction').map((each) => [each.id, keptOf(each)])),
      usedTokens: Number(usage['input_tokens']),
      hasOrphans: faults.orphans.length > 0,
      damaged: halves + Number(faults.end === 'half and newline'),
    },
  };
};
