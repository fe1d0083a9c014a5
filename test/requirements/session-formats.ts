import type { Source } from './requirement.js';

export const sessionFormats: Source = {
  prefix: 'S2',
  title: 'What session files tell of compactions',
  about:
    'An analysis in agent-history of how Claude, Codex and Gemini record compactions, with a common form for them.',
  count: 14,
  items: [
    {
      id: 'S2.01',
      asks: 'Claude has two layers of summaries, Codex one, Gemini none.',
      verdict: 'different',
      why: 'All of them compact, Gemini too. What each one records is read as it is.',
      shownBy: [['session-files/read-history.test.ts', 'of $agent ($file) are those counted by hand']],
    },
    {
      id: 'S2.02',
      asks: 'Read Claude’s record of a compaction from its session file.',
      verdict: 'works',
      shownBy: [
        ['session-files/read-history.test.ts', 'of $agent ($file) are those counted by hand'],
        ['worker/follow-session.test.ts', 'shows each turn, a compaction, and starts again after /clear'],
      ],
    },
    {
      id: 'S2.03',
      asks: 'Take from it who asked, how many tokens there were, and the last message before.',
      verdict: 'works',
      shownBy: [
        ['agents/claude.test.ts', 'tells who asked for a compaction'],
        [
          'core/build-conversation.test.ts',
          'go on before a compaction, whose kept records are in the window behind the summary',
        ],
      ],
    },
    {
      id: 'S2.04',
      asks: 'Read the notes that Claude keeps of a session in a file of ten sections.',
      verdict: 'adapted',
      why: 'Only some sessions have them, and they are of now: they are named beside the summary where they are there, and nothing depends on them.',
      shownBy: [
        ['cli/one-session.test.ts', 'are named by the last compaction, and shown with it'],
        ['cli/one-session.test.ts', 'are not needed where %s'],
      ],
    },
    {
      id: 'S2.05',
      asks: 'Records of the type `summary` seem to hold the summary.',
      verdict: 'different',
      why: 'They hold titles. The summary is the message that Claude marks as one.',
      shownBy: [
        ['session-files/read-history.test.ts', 'of a version without boundaries is known by its summary'],
        ['session-files/read-history.test.ts', 'have their summaries whole when asked'],
      ],
    },
    {
      id: 'S2.06',
      asks: 'Read Codex’ record of a compaction, with the history that was replaced.',
      verdict: 'adapted',
      why: 'The history in it is the new one, not the old. A file packed with zstd is read where Node can, and named otherwise.',
      shownBy: [
        [
          'session-files/read-history.test.ts',
          'the summary of a compaction of Codex is its own, whatever else is left in the window',
        ],
        ['cli/history.test.ts', 'is told and keeps nothing else from being listed'],
      ],
    },
    {
      id: 'S2.07',
      asks: 'Codex’ summaries tell progress, open work, gaps and notes, in one file that resuming continues.',
      verdict: 'adapted',
      why: 'The summary is shown in its own words; the handoff has open work, what is done, and issues as parts of its own.',
      shownBy: [
        [
          'core/handoff.test.ts',
          'takes decisions, patterns and issues from the lists of the last summary, in its words',
        ],
        ['agents/codex-paths.test.ts', 'finds a resumed rollout in its old date folder through its lock'],
      ],
    },
    {
      id: 'S2.08',
      asks: 'Read Gemini’s chats, which have neither compactions nor tokens.',
      verdict: 'different',
      why: 'They have both: tokens with each answer, and a summary after a compaction. The JSON documents of old versions are read, too.',
      shownBy: [
        [
          'agents/gemini.test.ts',
          'takes a new summary for a compaction and the known one for the history written again',
        ],
        [
          'worker/follow-session.test.ts',
          'reads the document of an old version again whenever it is written anew',
        ],
      ],
    },
    {
      id: 'S2.09',
      asks: 'Compare the agents in compactions, summaries, tokens, links and causes.',
      verdict: 'adapted',
      why: 'The comparison was wrong about tokens in Codex and Gemini; all agents give the same record.',
      shownBy: [
        [
          'session-files/read-session-file.test.ts',
          '$name says how full the window is and what was compacted',
        ],
        ['cli/one-session.test.ts', 'of %s are the same in recall, undo and history'],
      ],
    },
    {
      id: 'S2.10',
      asks: 'Notes on the design of each agent: chains of ids, compactions as events, thoughts.',
      verdict: 'record of history',
      why: 'They ask for nothing; the readers follow chains where there are some.',
      shownBy: [
        [
          'core/build-conversation.test.ts',
          'are in the order of the chain, whatever their order in the file',
        ],
      ],
    },
    {
      id: 'S2.11',
      asks: 'One form for the compactions of all agents.',
      verdict: 'works',
      shownBy: [['cli/history.test.ts', 'prints them as boundary records with every field']],
    },
    {
      id: 'S2.12',
      asks: 'Fill its fields from what each agent records, the replaced messages included.',
      verdict: 'works',
      shownBy: [
        [
          'session-files/read-history.test.ts',
          'that keeps nothing replaces every message since the one before, and its summary',
        ],
        [
          'session-files/read-history.test.ts',
          'of a version that names only the first and the last message it keeps',
        ],
      ],
    },
    {
      id: 'S2.13',
      asks: 'Open: a line of its own for each compaction? the summary in it or a reference? estimates where no size is recorded?',
      verdict: 'works',
      shownBy: [
        ['cli/history.test.ts', 'prints the same records one a line'],
        ['cli/published.test.ts', 'of a session file name each compaction as every boundary record does'],
      ],
    },
    {
      id: 'S2.14',
      asks: 'Know where each agent keeps its sessions.',
      verdict: 'works',
      shownBy: [
        [
          'session-files/session-sources.test.ts',
          'are the conversations in their folders, and not those of subagents',
        ],
        ['session-files/session-sources.test.ts', 'are where their environment says'],
      ],
    },
  ],
};
