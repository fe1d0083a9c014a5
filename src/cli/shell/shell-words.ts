/**
 * Words that bash, zsh or fish keeps for itself: its syntax, and what a function of that name would take away from every script and from
 * the functions themselves (bash(1) RESERVED WORDS and SHELL BUILTIN COMMANDS, zshbuiltins(1), fish's `builtin --names`).
 */
export const shellWords: ReadonlySet<string> = new Set(
  `alias and argparse autoload begin bg bind break breakpoint builtin bye caller case cd chdir command compgen complete compopt continue
  coproc count declare dirs disable disown do done echo echotc echoti elif else emacs emulate enable end esac eval exec exit export false
  fc fg fi for foreach function functions getln getopts hash help history if in integer jobs kill let limit local logout mapfile math
  nocorrect noglob not or path popd print printf pushd pushln pwd random read readarray readonly realpath rehash repeat return sched select
  set setopt shift shopt source stat status string suspend switch test then time times trap true ttyctl type typeset ulimit umask unalias
  unfunction unhash unlimit unset unsetopt until vared wait whence where which while zle zmodload zparseopts zstyle`.split(
    /\s+/,
  ),
);
