// The commands that mend a file which is not read. What a folder holds was not put there by the user: nothing there is written to, followed
// or given more rights, only moved away.
import type { LayerName } from '../../core/config/setting.js';
import { shellWord } from '../../core/shell-word.js';
import type { RefusedFile } from '../../storage/config-file.js';
import { ownCommand } from './path.js';
import type { Options } from '../request.js';

export const fixOfFile = (
  { path, fault }: RefusedFile,
  layer: LayerName,
  options: Pick<Options, 'config'>,
): string => {
  const word = shellWord(path);
  switch (fault.kind) {
    case 'open-to-all':
      return `chmod o-w ${word}`;
    case 'foreign':
      return `sudo chown -h "$USER" ${word}`;
    case 'closed':
      return `chmod u+${fault.path === path ? 'r' : 'x'} ${shellWord(fault.path)}`;
    case 'device':
      return naming(layer, 'FILE', options);
    case 'link':
      return layer === 'project' ? away(word) : naming(layer, `"$(readlink -f ${word})"`, options);
    case 'unusable':
      return layer === 'project'
        ? away(word)
        : `mv ${word} ${shellWord(`${path}.old`)} && ${anew(layer, word, options)}`;
  }
};

/** Into a folder that nobody has prepared. */
const away = (word: string): string => `mv ${word} "$(mktemp -d)"`;

const naming = (layer: LayerName, file: string, { config }: Pick<Options, 'config'>): string => {
  if (layer === 'env') return `export CTXWRAP_ENV_FILE=${file}`;
  return config === undefined ? `export CTXWRAP_CONFIG=${file}` : `ctxwrap --config ${file} config check`;
};

const anew = (layer: LayerName, word: string, options: Pick<Options, 'config'>): string =>
  layer === 'env' ? `touch ${word}` : ownCommand('config init', options);
