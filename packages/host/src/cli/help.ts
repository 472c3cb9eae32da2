import { Help, type Command as Program } from 'commander'
import { styled, wrap, type Terminal } from '../observability/terminal.ts'

/** Sections of a help text: titles, each with the first words of its commands. */
export type Sections = Readonly<Record<string, readonly string[]>>

/** What the help texts of a program look like. */
export interface HelpOptions {
  readonly sections: Sections
  readonly terminal: Terminal | undefined
}

/** The title of commands that no section names. */
const OTHERS = 'More'

/** The help of a command-line program. That of the program lists its commands by sections; the verbs of a group share a line. */
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
    const [usage = '', ...lines] = super.formatHelp(command, helper).split('\n')
    return [...wrap(usage, helper.helpWidth ?? 80), ...lines].join('\n')
  }

  #overview(parser: Program, helper: Help): string {
    const { sections } = this.#options
    const named = new Set(Object.values(sections).flat())
    const rest = parser.commands.map(each => each.name()).filter(name => !named.has(name))
    const parts = Object.entries(rest.length === 0 ? sections : { ...sections, [OTHERS]: rest })
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
        const commands = words.flatMap(word => parser.commands.find(each => each.name() === word) ?? [])
        const items = commands.map(each => helper.formatItem(termOf(each), width, meaningOf(each), helper))
        return items.length === 0 ? [] : helper.formatItemList(title, items, helper)
      }),
      ...helper.formatItemList('Options of every command', [...options, help], helper),
    ].join('\n')
  }
}

function termOf(command: Program): string {
  const takes = command.registeredArguments.map(each => ` ${each.name()}`)
  return `${command.name()}${takes.join('')}`
}

/** The verbs of a group, or the summary of a command that is none. */
function meaningOf(command: Program): string {
  return command.commands.length > 0
    ? command.commands.map(each => each.name()).join(', ')
    : command.description()
}
