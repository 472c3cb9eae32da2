import { asksFirst, UsageError, type CommandHelp, type StartCommand } from './command.ts'

/** Options of every command. */
const COMMON = ['--json', '--help']

/** Makes the command that prints the completions of a program for a shell. `commands` returns all of its commands. */
export function completionCommand(name: string, commands: () => readonly CommandHelp[]): StartCommand {
  return {
    name: 'completion',
    takes: ['SHELL'],
    summary: 'Print completions for bash, zsh or fish',
    example: `bash > ~/.local/share/bash-completion/completions/${name}`,
    check: ({ positional: [shell = ''] }) => writerFor(shell),
    async start({
      args: {
        positional: [shell = ''],
      },
    }) {
      const text = writerFor(shell)(name, completionsOf(commands()))
      return { data: { shell, script: text }, lines: [text.trimEnd()] }
    },
  }
}

/** What may follow words of a command line, by these words. */
type Completions = ReadonlyMap<string, readonly string[]>

function completionsOf(commands: readonly CommandHelp[]): Completions {
  const found = new Map<string, string[]>([['', []]])
  const add = (before: string, word: string): void => {
    const words = found.get(before) ?? []
    if (!words.includes(word)) found.set(before, [...words, word])
  }
  for (const command of commands) {
    const { name, options = {}, flags = {} } = command
    const words = name.split(' ')
    for (const [index, word] of words.entries()) add(words.slice(0, index).join(' '), word)
    for (const option of [...Object.keys(options), ...Object.keys(flags)]) add(name, `--${option}`)
    for (const option of asksFirst(command) ? [...COMMON, '--yes'] : COMMON) add(name, option)
  }
  add('', 'help')
  return found
}

type Writer = (name: string, completions: Completions) => string

function writerFor(shell: string): Writer {
  const writers: Readonly<Record<string, Writer>> = { bash, zsh, fish }
  const writer = Object.hasOwn(writers, shell) ? writers[shell] : undefined
  if (writer) return writer
  throw new UsageError(`SHELL must be bash, zsh or fish, got ${JSON.stringify(shell)}`)
}

/** A shell function that prints what may follow its argument, and fails for an argument that it does not know. */
function caseFunction(name: string, completions: Completions): string {
  const lines = [...completions].map(([before, words]) => `    '${before}') echo '${words.join(' ')}' ;;`)
  return `_${name}_words() {\n  case "$1" in\n${lines.join('\n')}\n    *) return 1 ;;\n  esac\n}`
}

function bash(name: string, completions: Completions): string {
  return `# bash completion of ${name}
${caseFunction(name, completions)}
_${name}() {
  local before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}") words
  words="$(_${name}_words "\${before[*]:0:2}" || _${name}_words "\${before[0]}")"
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${name} ${name}
`
}

function zsh(name: string, completions: Completions): string {
  return `#compdef ${name}
${caseFunction(name, completions)}
_${name}() {
  local -a before=(\${words[2,CURRENT-1]})
  local found
  found="$(_${name}_words "\${before[1,2]}" || _${name}_words "\${before[1]}")"
  compadd -- \${=found}
}
compdef _${name} ${name}
`
}

function fish(name: string, completions: Completions): string {
  const lines = [...completions].map(
    ([before, words]) =>
      `      case '${before}'\n        string split ' ' -- '${words.join(' ')}'\n        return`,
  )
  return `# fish completion of ${name}
function __${name}_words
  set -l before (commandline -opc)
  for known in "$before[2..3]" "$before[2]"
    switch "$known"
${lines.join('\n')}
    end
  end
end
complete -c ${name} -f -a '(__${name}_words)'
`
}
