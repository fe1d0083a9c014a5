// What a message of the user's holds that a summary should keep: demands, names and numbers. It is copied word for word.

// What the user demands: sentences with "never", "always", "must" and the like, in English. Sentences that only use these words, such as
// questions, complaints and what was pasted, are no demands: a list of them would hide the real ones.

const LONGEST_SENTENCE = 400; // characters

/** The sentences of a user's message that demand something, word for word, without the marks of lists. */
export const demandsIn = (message: string): readonly string[] => {
  const own = withoutPasted(message);
  const end = endOfIntroduction(own);
  return [
    ...sentencesIn(own.slice(0, end)).filter(isDemand),
    ...sentencesIn(own.slice(end)).filter((sentence) => FIRST.test(sentence) && isDemand(sentence)),
  ];
};

const sentencesIn = (text: string): readonly string[] =>
  text
    .split(SENTENCE_END)
    .map((sentence) => sentence.replace(MARK, '').trim())
    .filter((sentence) => sentence.length <= LONGEST_SENTENCE);

/** A sentence ends with a full stop or the like, or with its line. */
const SENTENCE_END =
  /(?<!\b(?:e\.g|i\.e|etc|vs|cf|approx|no)\.)(?<=[.!?…。！？]["'”’)]?)(?:\s+|(?<=[。！？]))|\n+/i;
const MARK = /^\s*(?:(?:[-*•+]+|\d{1,2}[.)]|\[[ x]\]|#{1,6})\s+)+/i; // of a list or a heading

const FENCED = /^[ \t]*(`{3,}|~{3,})[\s\S]*?(?:^[ \t]*\1`*~*[ \t]*$|$(?![\s\S]))/gm;
const COMMENT_OR_QUOTE = /^[ \t]*(?:>|(?:[+-][ \t]*)?(?:\/\/|\{?\/\*|<!--)|#!).*$/gm;
const TABLE_ROW = /^[ \t]*\|.*\|[ \t]*$/gm;
const PATCH_LINE = /^[+-].*$/gm;
/** A line that a program has printed: with a time, a level, the signs of an agent's screen, a commit, or as JSON. */
const PRINTED = new RegExp(
  // the blanks in one piece: tried again with fewer of them, a line of blanks would take the square of its length
  `^(?=(?<blanks>[ \\t]*))\\k<blanks>(?:${[
    '\\[?\\d{4}[-/]\\d\\d[-/]\\d\\d[T ]\\d\\d:\\d\\d',
    '\\[?\\d\\d:\\d\\d:\\d\\d',
    '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\\d{1,2} \\d\\d:\\d\\d',
    '(?:\\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\\]?[ :|]|\\w+(?:\\[\\d+\\])?: (?:error|warning|fatal):)',
    '[⎿⏺❯│╭╰├└┌●✓✗✔✘✖☐☒▶]',
    '[{[]"',
    '"[\\w.-]+": *["{[\\dtfn-].*[,{[]$',
    '(?:commit |[>|│╰├][>|│╰├─ \\t*-]*)(?=[a-f]*\\d)[0-9a-f]{7,40}[ \\t]',
    '\\[[\\w/.-]+ (?:\\([\\w-]+\\) )?[0-9a-f]{7,40}\\]',
    '(?:---|===) (?:FAIL|PASS|RUN|SKIP|NAME|Step)|(?:FAIL|PASS|ok)[ \\t]',
    '(?:[\\w.@~-]*/)*[\\w.@-]+\\.\\w{1,5}:\\d+(?::\\d+)?:? ',
    'at .*:\\d+:\\d+\\)?$',
    '(?:fatal|error|Error|Error Trace|Messages|warning|panic|remote|hint):[ \\t]',
    '(?:\\$|%|>>>) ',
    '.*(?:[ \\t][\\w.-]+=[^ \\t]+){3}',
  ].join('|')}).*$`,
  'gm',
);

/** Without code, quotations, tables, comments of programs and what programs have printed, which are words of others. */
const withoutPasted = (message: string): string =>
  withoutPrinted(message.replace(FENCED, '\n').replace(COMMENT_OR_QUOTE, '\n').replace(TABLE_ROW, '\n'));

const withoutPrinted = (message: string): string => {
  const text = message.replace(PRINTED, '\n');
  return /^(?:diff --git |@@ )/m.test(text) ? text.replace(PATCH_LINE, '\n') : text;
};

const [LONGEST_INTRODUCTION, LEAST_PASTED] = [400, 1_500]; // characters
const INTRODUCTION = /^\s*(\S(?:[^\n]|\n(?![ \t]*\n)){0,400}?[:?])[ \t]*\n[ \t]*\n/;

/** Where a short first paragraph ends that only presents the rest, such as a plan or the words of another agent. */
const endOfIntroduction = (message: string): number => {
  const end = INTRODUCTION.exec(message)?.[0].length ?? Infinity;
  const isIntroduced = end <= LONGEST_INTRODUCTION && message.length - end >= LEAST_PASTED;
  return isIntroduced ? end : message.length;
};

/** A demand from its first word on. */
const FIRST = /^(?:please |you )?(?:never|always|must|do not|don['’]t|make sure|ensure|only)\b/i;

const isDemand = (given: string): boolean => {
  const sentence = given.replace(IDIOM, ' ');
  if (/[?？]["'”’)]?$/.test(sentence) && !POLITE.test(sentence)) return false;
  return (
    DEMAND.test(sentence) ||
    (PROHIBITION.test(sentence) && !TELLING.test(sentence)) ||
    ORDER.test(sentence) ||
    isRule(sentence)
  );
};

/** Phrases that only contain the words. */
const IDIOM = new RegExp(
  [
    "\\b(?:never|don['’]t|do not) mind\\b",
    "\\b(?:don['’]t|do not) worry\\b",
    '\\b(?:almost|nearly|hardly) (?:always|never)\\b',
    '\\b(?:as always|never again)\\b',
    '\\b(?:a|an absolute) must\\b',
    '\\bmust-\\w+',
    '\\bmust (?:have been|be (?:\\w+ing|an?|some\\w*|because|that|due|why))\\b', // a guess
    '(?<!\\b(?:need|want|have|has|needs|try|remember|ought|like) )\\bto (?:ensure|make sure)\\b', // what something is for
    "\\b(?:where|when|if|because|since|that|which|who) (?:I|we|you|they|it)\\b[^,.;]{0,80}\\b(?:but|and|or) (?:do not|don['’]t)\\b", // what we do
    "\\bif I\\b[^.;]{0,120}\\b(?:do not|don['’]t)\\b", // and what I do
    '["“][^"”]{0,200}["”]', // what somebody said
  ].join('|'),
  'gi',
);

const POLITE = /^(?:please|(?:can|could|would|will) (?:you|we))\b/i;

const DEMAND =
  /\b(?:must|mustn['’]t|no matter what|under no circumstances|make sure|ensure|only ever(?! \w+(?:ed|s)\b)|from now on|(?:I|we) (?:don['’]t|do not) want)\b/i;

/** A clause begins here: at the start, after a sign, or after a word that can stand in front of an order. */
const CLAUSE =
  "(?:^|[^\\w\\s'’`/.→-]\\s*|\\s[-–—]\\s+|\\b(?:and|but|so|or|then|please|instead|however|no|yes|ok|okay)\\s+|(?<!\\b(?:I|you|we|they|he|she|it|which|that|who|can|could|to) )\\b(?:also|just|again)\\s+)";

/** "don't" at the start of a clause; elsewhere it tells something: "I don't know". */
const PROHIBITION = new RegExp(
  `${CLAUSE}(?:do not|don['’]t)\\b(?!\\s+(?:know|think so|understand|remember|see why|need|have to)\\b)|` +
    "\\blet(?:['’]s| us) not\\b|" +
    "(?<!\\b(?:it|this|that) )\\bshould(?:n['’]t(?! (?:it|this|that|there|we|you|I|they)\\b)| (?:still |also |really )?not)\\b(?! happen| be (?:an? |any |too |that |so |hard|difficult|needed|necessary))",
  'i',
);

/** What this or it does. */
const TELLING = /^(?:this|that|these|it|they)\b/i;

/** An order that sets bounds, at the start of a clause. */
const ORDER = new RegExp(
  `${CLAUSE}(?:let['’]s )?(?:${[
    'keep (?:it|them|this|these|those|the|all|everything)\\b',
    '(?:only|always) (?:use|change|edit|touch|modify|run|add|commit|include|update|fix|work)\\b',
    'use \\S+(?: \\S+)?,? (?:instead of|rather than|not)\\b',
    '(?:stick (?:to|with)|(?:just )?limit (?:\\w+ )?to|be careful)\\b',
    'leave \\S.{0,60}\\b(?:alone|untouched|unchanged|as (?:it )?is|as they are)\\b',
    '(?:tell|ask|show|answer|run|check|confirm|wait|write)\\b(?:[^.!?]{0,80}\\b)?before (?:chang|continu|consider|commit|push|merg|start|edit|touch|do|implement|proceed|finish|mov)ing\\b',
  ].join('|')})|^avoid\\b|\\bplease (?:use|keep|avoid|only)\\b`,
  'i',
);

/** "never" and "always" where a rule has them: at the start of a clause, or after whom it binds. Elsewhere they tell what happens. */
const isRule = (sentence: string): boolean =>
  [...sentence.matchAll(/\b(?:never|always)\b/gi)].some(({ index }) => {
    const [before, after] = [sentence.slice(0, index), sentence.slice(index)];
    return BOUND.test(before) && !TELLING_VERB.test(after) && !TELLING_PAST.test(before + after);
  });

const BOUND = new RegExp(
  `(?:${CLAUSE}|(?<!\\b(?:if|when|what|that|which|why|how) )\\b(?:we|you)\\s+|\\b(?:should|shall|must)\\s+|` +
    '\\b(?:want|need|needs|like|prefer|remember|try|ask|asked|told|ought|have|has)\\b[^,.;]{0,60}\\bto\\s+|["\'“‘(]\\s*)$',
  'i',
);
/** "never fires", "always crashed": an order has the plain form. */
const TELLING_VERB =
  /^\w+,?\s+(?:\w+ly\s+)?(?:\w+(?:[^s\W]s|ed)|had|got|saw|did|found|knew|made|went|said|done|been)(?![\w-])(?!\s+(?:and|or)\s+\w+\s+before\b)/i;
const TELLING_PAST =
  /\b(?:we|you)\s+(?:never|always)\s+(?:\w+ed|had|were|got|saw|did|found|knew|made|went|said)\b/i;

// Names and numbers in a user's message: what stands in backquotes, addresses, paths, names in the forms of programming languages, ids,
// versions, dates, references such as #12, and numbers with a unit. A part of a longer one is none of its own. A bare number or a time says
// nothing without its sentence.

/** In the order of the forms; each may occur several times. */
export const identifiersIn = (message: string): readonly string[] => {
  let rest = withoutPrinted(message).replace(PLACEHOLDER, ' ');
  return FORMS.flatMap((form) => {
    const found = [...rest.matchAll(form)].map(([whole, name = whole]) => name);
    rest = rest.replace(form, ' ');
    return found.filter((name) => !BRANDS.has(name));
  });
};

/** What agents show of pasted pictures and texts (docs/facts): `[Image #1]`, `[Pasted text #1 +11 lines]`. */
const PLACEHOLDER = /\[[^\]\n]{0,30}#\d+[^\]\n]{0,30}\]/g;

const UNIT = '(?:ms|s|min|h|px|kB|MB|GB|MiB|GiB|%)';
/** Not within a word, a path, an address or a longer number. */
const [BEFORE, AFTER] = ['(?<![\\w./\\\\@-])', '(?![\\w/\\\\@-]|\\.\\w)'];
const name = (pattern: string): RegExp => new RegExp(`${BEFORE}(${pattern})${AFTER}`, 'g');

// the longest forms first: what they take is not looked at again
const FORMS: readonly RegExp[] = [
  /`([^`\n]{2,80})`/g,
  /\bhttps?:\/\/[^\s<>"'`)\]}]{1,200}[^\s<>"'`)\]}.,;:!?]/g,
  /(?<![\w./~:@-])((?:~|\.{1,2})?\/?(?:[\w.@-]{1,60}\/){1,12}[\w@-]{1,60}(?:\.[\w-]{1,20}){1,3}|(?:~|\.{1,2})?\/(?:[\w.@-]{1,60}\/){1,12}[\w@-]{1,60})(?![\w/@-])/g,
  name('\\d{4}-\\d{2}-\\d{2}(?![T ]\\d{2}:\\d{2})'),
  name('[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'),
  name('[A-Z][A-Z0-9]{1,9}-\\d{2,7}(?:-\\d{1,7})?'), // of a tracker
  name('--[a-z][a-z0-9]*(?:-[a-z0-9]+)*'),
  name('(?:[A-Za-z_]\\w{0,60}\\.){0,4}[A-Za-z_]\\w{0,60}(?=\\(\\))'),
  name(
    '[A-Za-z]\\w{0,60}_\\w{1,60}|[a-z][a-z0-9]{0,40}(?:[A-Z][a-z0-9]{1,40}){1,6}|[A-Z][a-z0-9]{1,40}(?:[A-Z][a-z0-9]{1,40}){1,6}',
  ),
  name('(?=[0-9a-f]{0,40}\\d)(?=[0-9a-f]{0,40}[a-f])[0-9a-f]{7,40}'),
  name('\\d{1,3}(?:\\.\\d{1,3}){3}|v?\\d{1,4}\\.\\d{1,4}\\.\\d{1,6}'),
  /(?<![\w&])#\d{1,7}(?![\w-])/g,
  new RegExp(
    `(?<![\\w.,:-])((?:\\d{1,3}(?:,\\d{3})+|\\d{1,9}(?:\\.\\d{1,4})?) ?${UNIT}|(?<=\\bports? )\\d{2,5})(?![\\w-]|[.,]\\d)`,
    'g',
  ),
];

/** Names of products in such a form: their loss is none. */
const BRANDS = new Set(
  'JavaScript TypeScript GitHub GitLab BitBucket PostgreSQL MySQL MongoDB OpenAI ChatGPT LinkedIn YouTube WordPress iPhone iPad macOS'.split(
    ' ',
  ),
);
