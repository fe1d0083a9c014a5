// What a shell needs to ask us for completions. All that is known of the command line stays in one place: each shell asks `ctxwrap
// complete` with the words so far, a `=` before each so that none is taken for an option, and gets lines of `WORD<Tab>DESCRIPTION`.
import type { Shell } from './shells.js';

export const completionText = (shell: Shell): string => scripts[shell];

const bash = `_ctxwrap() {
  local line words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(command ctxwrap complete "\${words[@]/#/=}" 2>/dev/null)
}
complete -o default -F _ctxwrap ctxwrap
`;

const zsh = `#compdef ctxwrap
_ctxwrap() {
  local line about
  local -a found words_so_far
  words_so_far=("\${(@)words[2,CURRENT]}")
  for line in "\${(@f)$(command ctxwrap complete "\${(@)words_so_far/#/=}" 2>/dev/null)}"; do
    about=\${line#*$'\\t'}
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}\${about:+:$about}")
  done
  if (( $#found )); then _describe ctxwrap found; else _files; fi
}
(( $+functions[compdef] )) && compdef _ctxwrap ctxwrap || true
`;

const fish = `function __ctxwrap_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (command ctxwrap complete '='$words[2..-1] 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c ctxwrap -e
complete -c ctxwrap -f -a '(__ctxwrap_complete)'
`;

const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
