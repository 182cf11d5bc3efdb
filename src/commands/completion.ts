// `whetstone completion`: a script for a shell that completes commands and flags, generated from the commands themselves. It does not
// know the names of models and jobs.
import { Argument, type Command } from 'commander';
import { say } from './output.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText(
      'after',
      '\nbash: source <(whetstone completion bash)\nzsh: source <(whetstone completion zsh)\nfish: whetstone completion fish | source',
    )
    .action((shell: Shell) => say(shell === 'fish' ? forFish(program) : forBash(program, shell)));
}

interface CompletedCommand {
  /** The words after `whetstone`, separated by spaces. */
  readonly path: string;
  readonly commands: readonly string[];
  /** These, and their other names, such as `ls`: not suggested, but known once they are typed. */
  readonly words: readonly string[];
  readonly flags: readonly string[];
}

function places(command: Command, path = ''): CompletedCommand[] {
  const below = command.commands.filter((each) => each.name() !== 'help');
  const flags = [...command.options.map(({ long }) => long!), '--help'];
  const wordsOf = (each: Command) => [each.name(), ...each.aliases()];
  const inside = below.flatMap((each) =>
    wordsOf(each).flatMap((word) => places(each, path === '' ? word : `${path} ${word}`)),
  );
  return [{ path, commands: below.map((each) => each.name()), words: below.flatMap(wordsOf), flags }, ...inside];
}

/** The command words before the cursor determine the suggestions; for a word without a leading dash, files are suggested as well. */
function forBash(program: Command, shell: Shell): string {
  const cases = places(program).map(
    ({ path, commands, flags }) => `    "${path}") commands="${commands.join(' ')}"; flags="${flags.join(' ')}" ;;`,
  );
  const parents = places(program).filter(({ commands }) => commands.length > 0);
  const steps = parents.flatMap(({ path, words }) => words.map((word) => `"${path}/${word}"`));
  return [
    ...(shell === 'zsh' ? ['autoload -U +X compinit && compinit', 'autoload -U +X bashcompinit && bashcompinit'] : []),
    '_whetstone() {',
    '  local word path="" commands="" flags="" i',
    '  for ((i = 1; i < COMP_CWORD; i++)); do',
    '    word="${COMP_WORDS[i]}"',
    '    case "$path/$word" in',
    `      ${steps.join('|')}) path="\${path:+$path }$word" ;;`,
    '    esac',
    '  done',
    '  case "$path" in',
    ...cases,
    '  esac',
    '  word="${COMP_WORDS[COMP_CWORD]}"',
    '  if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$word"))',
    '  else COMPREPLY=($(compgen -W "$commands" -- "$word")); fi',
    '}',
    'complete -o default -F _whetstone whetstone',
  ].join('\n');
}

function forFish(program: Command): string {
  return places(program)
    .flatMap(({ path, commands, words, flags }) => {
      const before = path === '' ? [] : path.split(' ');
      const seen = before.map((word) => `__fish_seen_subcommand_from ${word}`);
      const none = commands.length > 0 ? [`not __fish_seen_subcommand_from ${words.join(' ')}`] : [];
      const here = [...seen, ...none].join('; and ') || 'true';
      return [
        ...(commands.length > 0 ? [`complete -c whetstone -n '${here}' -f -a '${commands.join(' ')}'`] : []),
        ...flags.map((flag) => `complete -c whetstone -n '${here}' -l ${flag.slice(2)}`),
      ];
    })
    .join('\n');
}
