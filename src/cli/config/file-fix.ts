// The commands that mend a file which is not read. What came with a folder was not put there by the user: nothing there is written to,
// followed or given more rights, only moved away.
import { dirname } from 'node:path';
import type { LayerName } from '../../core/config/setting.js';
import { shellWord } from '../../core/shell-word.js';
import type { FileFault, RefusedFile } from '../../storage/config-file.js';
import { ownCommand } from './path.js';
import type { Options } from '../request.js';

type Named = Partial<Pick<Options, 'config' | 'envFile'>>;

export const fixOfFile = ({ path, fault }: RefusedFile, layer: LayerName, options: Named): string => {
  const word = shellWord(path);
  if (layer === 'project')
    return fault.kind === 'open-to-all' && fault.isOwn ? `chmod o-w ${word}` : away(word);
  switch (fault.kind) {
    case 'open-to-all':
      return `${fault.isOwn ? '' : 'sudo '}chmod o-w ${word}`;
    case 'foreign':
      return `sudo chown -h "$USER" ${word}`;
    case 'closed':
      return opening(fault, path);
    case 'device':
      return unnaming(layer, options);
    case 'link':
      return fault.leadsTo === undefined
        ? `rm ${word} && ${anew(layer, word, options)}`
        : naming(layer, shellWord(fault.leadsTo), options);
    case 'unusable':
      return `mv ${word} ${word}.$(date +%s) && ${anew(layer, word, options)}`;
  }
};

/** The command that makes a dotenv file. */
export const envFileMade = (path: string): string =>
  `mkdir -p ${shellWord(dirname(path))} && touch ${shellWord(path)}`;

/** Into a folder that nobody has prepared. */
const away = (word: string): string => `mv ${word} "$(mktemp -d)"`;

const opening = ({ path, isOwn }: Extract<FileFault, { kind: 'closed' }>, file: string): string => {
  const word = shellWord(path);
  return isOwn ? `chmod u+${path === file ? 'r' : 'x'} ${word}` : `sudo chown -h "$USER" ${word}`;
};

const naming = (layer: LayerName, word: string, { config, envFile }: Named): string => {
  if (layer === 'env')
    return envFile === undefined
      ? `export CTXWRAP_ENV_FILE=${word}`
      : `ctxwrap --env-file ${word} config check`;
  return config === undefined ? `export CTXWRAP_CONFIG=${word}` : `ctxwrap --config ${word} config check`;
};

const unnaming = (layer: LayerName, { config, envFile }: Named): string => {
  if ((layer === 'env' ? envFile : config) !== undefined) return 'ctxwrap config check';
  return layer === 'env' ? 'unset CTXWRAP_ENV_FILE' : 'unset CTXWRAP_CONFIG';
};

const anew = (layer: LayerName, word: string, options: Named): string =>
  layer === 'env' ? `touch ${word}` : ownCommand('config init', options);
