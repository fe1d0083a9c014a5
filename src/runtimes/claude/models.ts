// One name for a model, whoever writes it, and what a name that Claude shows says about the window.

const LARGE_MARK = /\s*(?:\(1m context\)|\[1m\])/i;

/** `Opus 4.8 (1M context)`, `claude-opus-4-8[1m]` and `us.anthropic.claude-opus-4-8-20260101-v1:0` are all `claude-opus-4-8`. */
export const modelKey = (name: string): string => {
  const plain = name.toLowerCase().replace(LARGE_MARK, '').trim();
  const [, family, major, minor] = /^([a-z]+) (\d+)(?:\.(\d+))?$/.exec(plain) ?? [];
  if (family !== undefined && major !== undefined)
    return minor === undefined ? `claude-${family}-${major}` : `claude-${family}-${major}-${minor}`;
  const id = /claude-[a-z0-9.-]+/.exec(plain)?.[0];
  if (id === undefined) return plain;
  return id
    .replace(/-(?:20\d{6}|v\d|latest).*$/, '')
    .replace(/^claude-(\d[\d-]*)-([a-z]+)$/, 'claude-$2-$1') // the order of the third generation
    .replace(/^(claude-[a-z]+-\d)-0$/, '$1');
};

/** The name carries the mark of the large window. */
export const isMarkedLarge = (name: string): boolean => LARGE_MARK.test(name);

// Models whose shown name always tells which of the two windows they run with: they have one million tokens only by the suffix
// (2.1.197's own model table). Opus 4.7 and newer have it without, and Sonnet 5 is shown without a suffix in any case.
const TOLD_BY_NAME = /^claude-(?:opus-4(?:-[156])?|sonnet-4(?:-[56])?|haiku-4-5)$/;

/** A name without the mark means the standard window. */
export const showsItsWindow = (key: string): boolean => TOLD_BY_NAME.test(key);
