import { Help, type Command as Program } from 'commander'

/** The help of the operator command. The top-level help lists every command with its arguments, not only the groups. */
export class OperatorHelp extends Help {
  override formatHelp(command: Program, helper: Help): string {
    return command.parent ? super.formatHelp(command, helper) : overview(command, helper)
  }
}

function overview(parser: Program, helper: Help): string {
  const commands = parser.commands.flatMap(each =>
    each.commands.length > 0 ? each.commands.map(leaf => itemOf(leaf, `${each.name()} `)) : [itemOf(each)],
  )
  const options = helper
    .visibleOptions(parser)
    .map(option => [helper.optionTerm(option), helper.optionDescription(option)] as const)
  const all = [...commands, ['help COMMAND', 'Explain a command: its options and an example'] as const]
  const width = Math.max(...[...all, ...options].map(([term]) => term.length))
  const items = (pairs: typeof options): string[] =>
    pairs.map(([term, description]) => helper.formatItem(term, width, description, helper))
  return [
    'Usage: gatewright COMMAND [ARGUMENTS] [options]\n',
    `${helper.commandDescription(parser)}\n`,
    ...helper.formatItemList('Commands:', items(all), helper),
    ...helper.formatItemList('Options of every command:', items(options), helper),
  ].join('\n')
}

function itemOf(leaf: Program, group = ''): readonly [term: string, description: string] {
  const takes = leaf.registeredArguments.map(each => ` ${each.name()}`)
  return [`${group}${leaf.name()}${takes.join('')}`, leaf.description()]
}
