// The options that stand before an agent's name.
import { Option } from 'commander';
import type { Command } from 'commander';
import { footerItems } from '../core/footer-items.js';
import { logLevels } from '../core/log-levels.js';
import { notificationKinds } from '../core/notifications.js';
import { parseItems } from './item-list.js';
import { defaultHotkey } from '../core/control-key.js';
import { parseHotkey } from './hotkey.js';
import {
  parseBound,
  parseChoice,
  parseFocus,
  parseFile,
  parseMode,
  parsePreset,
  parseRuntime,
  parseStatusLine,
  parseText,
  parseWindow,
} from './values.js';

/** Adds them; a wrong value throws what is wrong, and the nearest right one. */
export const addOptions = (program: Command): Command =>
  addOwn(addFooter(addCompacting(addReading(program))));

const addReading = (program: Command): Command =>
  program
    .option(
      '--mode <mode>',
      'at a full window: auto compacts, ask asks, warn shows; off: nothing is observed',
      parseMode,
      'auto',
    )
    .option('--window <tokens>', 'the size of the context window: 200000, 200k, 1M', parseWindow)
    .option(
      '--ladder <name>',
      'where the tiers begin: ladder, percent (70/85/95), handoff (70/85)',
      parsePreset,
    )
    .option('--warn <bound>', 'where warn begins: 80%, 150k, 150000', parseBound('--warn'))
    .option('--auto <bound>', 'where auto begins', parseBound('--auto'))
    .option('--hard <bound>', 'where hard begins', parseBound('--hard'))
    .option('--runtime <name|file>', 'which agent a command is, or a JSON file that defines it', parseRuntime)
    .option(
      '--claude-status-line <when>',
      'ask Claude for exact numbers through its status line: auto (where you have one, or the window is not known), on, off',
      parseStatusLine,
      'auto',
    );

const addCompacting = (program: Command): Command =>
  program
    .option(
      '--draft <what>',
      'a draft in the prompt: hold (wait until it is gone), stash (put it aside, where the agent can)',
      parseChoice('--draft', 'hold', 'stash'),
    )
    .option(
      '--when-busy <what>',
      "while the agent works: wait, queue (in the agent's own queue)",
      parseChoice('--when-busy', 'wait', 'queue'),
    )
    .option('--focus <text>', 'what the summary must keep, where the agent takes that', parseFocus)
    .option('--no-proactive', 'at warn, text since the last number does not count')
    .option('--watch-omc', "also compact when OMC asks for it in the session's folder");

const addFooter = (program: Command): Command =>
  program
    .option(
      '--notify <list>',
      `call you through the terminal: ${notificationKinds.join(',')}`,
      parseItems('--notify', notificationKinds, 'hard,failure,permission'),
    )
    .option(
      '--notify-command <command>',
      'run this, too, with the notification as JSON on its standard input',
      parseText('--notify-command', "'notify-send ctxwrap'"),
    )
    .option('--no-tips', 'no tips in the footer')
    .option(
      '--no-footer',
      'leave all rows to the agent; compacts by itself only with an explicit --mode auto',
    )
    .option(
      '--footer-items <list>',
      `what the footer shows, in this order: ${footerItems.join(',')}`,
      parseItems('--footer-items', footerItems, 'bar,percent,tier'),
    )
    .option(
      '--theme <name>',
      'colours of the footer: auto, light, dark, mono',
      parseChoice('--theme', 'auto', 'light', 'dark', 'mono'),
    );

const addOwn = (program: Command): Command =>
  program
    .option('--record <file>', 'record the session (asciicast v2)', parseFile('--record', 'session.cast'))
    .option('--record-input', 'record the keys, too')
    .addOption(
      new Option('--hotkey <key>', 'the key that opens the overview: Ctrl-G, ^G, none')
        .argParser(parseHotkey)
        .default(defaultHotkey, 'Ctrl-]'),
    )
    .option('--log <file>', 'append what the wrapper does to a file', parseFile('--log', 'ctxwrap.log'))
    .option(
      '--log-level <level>',
      'what the log has: info (everything), warn, error',
      parseChoice('--log-level', ...logLevels),
    )
    .option(
      '--config <file>',
      'your configuration, in place of ~/.config/ctxwrap/config.jsonc',
      parseFile('--config', 'config.jsonc'),
    )
    .option(
      '--env-file <file>',
      'a dotenv file with names of the environment, such as CONTEXT_WINDOW_SIZE',
      parseFile('--env-file', 'ctxwrap.env'),
    )
    .option('-q, --quiet', 'say nothing but errors');
