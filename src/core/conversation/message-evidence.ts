// What a message of the user's holds that a summary should keep: demands, names and numbers. It is copied word for word.

// What the user demands: sentences with "never", "always", "must" and the like, in English. Sentences that only use these words, such as
// questions, complaints and what was pasted, are no demands: a list of them would hide the real ones.

const LONGEST_SENTENCE = 400; // characters

/** The sentences of a user's message that demand something, word for word, without the marks of lists. */
export const demandsIn = (message: string): readonly string[] =>
  withoutPasted(message)
    .split(SENTENCE_END)
    .map((sentence) => sentence.replace(MARK, '').trim())
    .filter((sentence) => sentence.length <= LONGEST_SENTENCE && isDemand(sentence));

/** A sentence ends with a full stop or the like, or with its line. */
const SENTENCE_END =
  /(?<!\b(?:e\.g|i\.e|etc|vs|cf|approx|no)\.)(?<=[.!?…。！？]["'”’)]?)(?:\s+|(?<=[。！？]))|\n+/i;
const MARK = /^\s*(?:(?:[-*•+]+|\d{1,2}[.)]|\[[ x]\]|#{1,6})\s+)+/i; // of a list or a heading

const FENCED = /^[ \t]*(`{3,}|~{3,})[\s\S]*?(?:^[ \t]*\1`*~*[ \t]*$|$(?![\s\S]))/gm;
const COMMENT_OR_QUOTE = /^\s*(?:>|\/\/|\/\*|<!--|#!).*$/gm;

/** Without code, quotations and comments of programs, which are words of others. */
const withoutPasted = (message: string): string =>
  message.replace(FENCED, '\n').replace(COMMENT_OR_QUOTE, '\n');

const isDemand = (given: string): boolean => {
  const sentence = given.replace(IDIOM, ' ');
  if (/[?？]["'”’)]?$/.test(sentence) && !POLITE.test(sentence)) return false;
  return DEMAND.test(sentence) || PROHIBITION.test(sentence) || isRule(sentence);
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
    '\\bmust (?:have been|be \\w+ing)\\b', // a guess
    '["“][^"”]{0,200}["”]', // what somebody said
  ].join('|'),
  'gi',
);

const POLITE = /^(?:please|(?:can|could|would|will) (?:you|we))\b/i;

const DEMAND = /\b(?:must|mustn['’]t|no matter what|under no circumstances|make sure|ensure|only ever)\b/i;

/** "don't" at the start of a clause; elsewhere it tells something: "I don't know". */
const PROHIBITION =
  /(?:^|[^\w\s'’]\s*|\b(?:and|but|so|or|then|please|also|just|again|instead|however)\s+)(?:do not|don['’]t)(?!\s+(?:know|think so|understand|remember|see why)\b)/i;

/** "never" and "always" where they do not tell what somebody or something does or did. */
const isRule = (sentence: string): boolean =>
  [...sentence.matchAll(/\b(?:never|always)\b/gi)].some(({ index }) => {
    const [before, after] = [sentence.slice(0, index), sentence.slice(index)];
    return !TELLING_SUBJECT.test(before) && !TELLING_VERB.test(after) && !TELLING_PAST.test(before + after);
  });

const TELLING_SUBJECT =
  /\b(?:I|he|she|it|they|this|that|which|who|there)(?:['’]\w+)?(?:\s+\w+n['’]t|\s+(?:is|are|was|were|has|have|had|can|could|do|does|did|would|will|not))*\s+$/i;
const TELLING_VERB =
  /^\w+\s+(?:is|was|were|has|had|fails|crashes|hangs|finishes|ends|stops|works|returns|shows|appears|happens|breaks|exits|times out|gets|goes|comes|loads|starts|opens|closes|runs|does)\b/i;
const TELLING_PAST =
  /\b(?:we|you)\s+(?:never|always)\s+(?:\w+ed|had|were|got|saw|did|found|knew|made|went|said)\b/i;

// Names and numbers in a user's message: what stands in backquotes, addresses, paths, names in the forms of programming languages, ids,
// versions, dates, and numbers of three digits or with a unit. A part of a longer one is none of its own.

/** In the order of the forms; each may occur several times. */
export const identifiersIn = (message: string): readonly string[] => {
  let rest = message;
  return FORMS.flatMap((form) => {
    const found = [...rest.matchAll(form)].map(([whole, name = whole]) => name);
    rest = rest.replace(form, ' ');
    return found.filter((name) => !BRANDS.has(name));
  });
};

const UNIT = '(?:ms|s|min|h|px|kB|MB|GB|MiB|GiB|%)';
/** Not within a word, a path, an address or a longer number. */
const [BEFORE, AFTER] = ['(?<![\\w./\\\\@-])', '(?![\\w/\\\\@-]|\\.\\w)'];
const name = (pattern: string): RegExp => new RegExp(`${BEFORE}(${pattern})${AFTER}`, 'g');

// the longest forms first: what they take is not looked at again
const FORMS: readonly RegExp[] = [
  /`([^`\n]{2,80})`/g,
  /\bhttps?:\/\/[^\s<>"'`)\]}]{1,200}[^\s<>"'`)\]}.,;:!?]/g,
  /(?<![\w./~:@-])((?:~|\.{1,2})?\/?(?:[\w.@-]{1,60}\/){1,12}[\w@-]{1,60}(?:\.[\w-]{1,20}){1,3}|(?:~|\.{1,2})?\/(?:[\w.@-]{1,60}\/){1,12}[\w@-]{1,60})(?![\w/@-])/g,
  name('\\d{4}-\\d{2}-\\d{2}(?:[T ]\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?Z?)?'),
  name('[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'),
  name('[A-Z][A-Z0-9]{1,9}-\\d{2,7}(?:-\\d{1,7})?'), // of a tracker
  name('--[a-z][a-z0-9]*(?:-[a-z0-9]+)*'),
  name('(?:[A-Za-z_]\\w{0,60}\\.){0,4}[A-Za-z_]\\w{0,60}(?=\\(\\))'),
  name(
    '[A-Za-z]\\w{0,60}_\\w{1,60}|[a-z][a-z0-9]{0,40}(?:[A-Z][a-z0-9]{1,40}){1,6}|[A-Z][a-z0-9]{1,40}(?:[A-Z][a-z0-9]{1,40}){1,6}',
  ),
  name('(?=[0-9a-f]{0,40}\\d)(?=[0-9a-f]{0,40}[a-f])[0-9a-f]{7,40}'),
  name('\\d{1,3}(?:\\.\\d{1,3}){3}|v?\\d{1,4}\\.\\d{1,4}\\.\\d{1,6}'),
  new RegExp(
    `(?<![\\w.,-])(\\d{1,9}(?:\\.\\d{1,4})? ?${UNIT}|\\d{1,3}(?:,\\d{3})+|\\d{3,12})(?![\\w-]|[.,]\\d)`,
    'g',
  ),
];

/** Names of products in such a form: their loss is none. */
const BRANDS = new Set(
  'JavaScript TypeScript GitHub GitLab BitBucket PostgreSQL MySQL MongoDB OpenAI ChatGPT LinkedIn YouTube WordPress iPhone iPad macOS'.split(
    ' ',
  ),
);
