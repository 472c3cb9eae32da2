import { Help, type Command as Program } from 'commander'
import { styled, wrap, type Terminal } from '../observability/terminal.ts'

/**
 * Sections of a help text: titles, each with the first words of its commands. A whole command, such as `requests tail`, is listed
 * apart from the other verbs of its group.
 */
export type Sections = Readonly<Record<string, readonly string[]>>

/** What the help texts of a program look like. */
export interface HelpOptions {
  readonly sections: Sections
  readonly terminal: Terminal | undefined
}

/** The title of commands that no section names. */
const OTHERS = 'More'

/**
 * The help of a command-line program. That of the program lists its commands by sections, where the verbs of a group share a line; that
 * of a group lists its commands.
 */
export class SectionedHelp extends Help {
  readonly #options: HelpOptions

  constructor(options: HelpOptions) {
    super()
    this.#options = options
  }

  override styleTitle(title: string): string {
    return styled(title, 'bold', this.#options.terminal)
  }

  override formatHelp(command: Program, helper: Help): string {
    if (!command.parent) return this.#overview(command, helper)
    if (command.commands.length > 0) return this.#group(command, helper)
    const [usage = '', ...lines] = super.formatHelp(command, helper).split('\n')
    return [...wrap(usage, helper.helpWidth ?? 80), ...lines].join('\n')
  }

  #group(group: Program, helper: Help): string {
    const width = helper.helpWidth ?? 80
    const program = group.parent?.name()
    return [
      `Usage: ${program} ${group.name()} COMMAND [ARGUMENTS] [options]\n`,
      ...group.commands.flatMap(each => [
        `  ${termOf(each)}`,
        ...wrap(each.description(), width - 6).map(line => `      ${line}`),
      ]),
      `\nOptions and an example: ${program} help ${group.name()} COMMAND\n`,
    ].join('\n')
  }

  #overview(parser: Program, helper: Help): string {
    const { sections } = this.#options
    const named = new Set(Object.values(sections).flat())
    const rest = parser.commands.map(each => each.name()).filter(name => !named.has(name))
    const parts = Object.entries(rest.length === 0 ? sections : { ...sections, [OTHERS]: rest })
    const apart = new Set([...named].filter(name => name.includes(' ')))
    const listed = [...parser.commands, ...parser.commands.flatMap(each => each.commands)]
    const listedAs = (name: string): Program | undefined => listed.find(each => nameOf(each) === name)
    const width = Math.max(...parser.commands.map(each => termOf(each).length))
    const options = helper
      .visibleOptions(parser)
      .map(option =>
        helper.formatItem(helper.optionTerm(option), width, helper.optionDescription(option), helper),
      )
    const help = helper.formatItem(
      'help COMMAND',
      width,
      'explain a command: its options and an example',
      helper,
    )
    return [
      `Usage: ${parser.name()} COMMAND [ARGUMENTS] [options]\n`,
      `${helper.boxWrap(helper.commandDescription(parser), helper.helpWidth ?? 80)}\n`,
      ...parts.flatMap(([title, words]) => {
        const commands = words.flatMap(word => listedAs(word) ?? [])
        const items = commands.map(each =>
          helper.formatItem(termOf(each), width, meaningOf(each, apart), helper),
        )
        return items.length === 0 ? [] : helper.formatItemList(title, items, helper)
      }),
      ...helper.formatItemList('Options of every command', [...options, help], helper),
    ].join('\n')
  }
}

/** The name of a command with that of its group. */
function nameOf(command: Program): string {
  const group = command.parent
  return group?.parent ? `${group.name()} ${command.name()}` : command.name()
}

function termOf(command: Program): string {
  const takes = command.registeredArguments.map(argument => {
    return argument.required ? ` ${argument.name()}` : ` [${argument.name()}]`
  })
  return `${nameOf(command)}${takes.join('')}`
}

/** The summary of a command. Of a group the verbs, without those of the commands that are listed apart. */
function meaningOf(command: Program, apart: ReadonlySet<string>): string {
  if (command.commands.length === 0) return command.description()
  const verbs = command.commands.filter(each => !apart.has(nameOf(each)))
  return verbs.map(each => each.name()).join(', ')
}
