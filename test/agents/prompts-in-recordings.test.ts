import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Activity } from '../../src/core/reading.js';
import { claude } from '../../src/agents/claude/agent.js';
import { codex } from '../../src/agents/codex/agent.js';
import type { Agent } from '../../src/agents/agent.js';
import { playScreens } from '../support/screen-play.js';
import type { PlayedScreen } from '../support/screen-play.js';

const castsOf = (name: string): readonly string[] =>
  readdirSync(fileURLToPath(new URL(`../fixtures/casts/${name}/`, import.meta.url)))
    .filter((file) => file.endsWith('.cast.gz'))
    .map((file) => `${name}/${file.replace('.cast.gz', '')}`);
const recordings = [claude, codex].flatMap((agent) =>
  castsOf(agent.name).map((cast): readonly [string, Agent] => [cast, agent]),
);

// One screen alone does not show vim's normal mode, which Claude marks by nothing: there only the activity keeps keys away.
const isVimNormal = ({ activity }: PlayedScreen): boolean =>
  activity.witnesses.includes('vim without insert mode');

const places: Readonly<Record<Activity, readonly (string | undefined)[] | 'any text'>> = {
  ready: [''],
  draft: 'any text',
  busy: 'any text', // a prompt is there, and what is sent waits behind the turn
  compacting: 'any text',
  dialog: [undefined],
  unknown: [undefined],
  dead: [undefined],
};

const isWrong = (screen: PlayedScreen): boolean => {
  const text = screen.prompt?.text;
  if (screen.activity.activity === 'draft') return text === '';
  const allowed = places[screen.activity.activity];
  return allowed !== 'any text' && !allowed.includes(text) && !isVimNormal(screen);
};

describe('the prompt that is seen', () => {
  it.each(recordings)(
    'in %s is empty whenever the agent is ready, and never where keys could do harm',
    async (cast, agent) => {
      const played = await playScreens(cast, agent);
      expect(played.length).toBeGreaterThan(0);
      const wrong = played.filter(isWrong);
      expect(wrong.map(({ at, activity, prompt, rows }) => ({ at, activity, prompt, rows }))).toEqual([]);
    },
  );
});
