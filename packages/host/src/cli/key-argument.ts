import { UsageError, type CommandArguments } from './command.ts'

/** The name of an argument that is the id of an API key. */
const KEY_ID = 'KEY_ID'
/** The text of a key: the id is between its surface and its secret. */
const KEY_TEXT = /^\w+_(?:live|sandbox)_(?:user|partner)_([0-9A-Za-z]{16})_[0-9A-Za-z]+$/
const ID = /^[0-9A-Za-z]{16}$/

/** What the help of a command says that takes the id of a key. */
export const KEY_ARGUMENT_HELP = `${KEY_ID} may be the whole text of a key. With - it is read from the standard input, so that no history keeps it.`

/** Whether a command takes the id of a key. */
export const takesKey = (takes: readonly string[]): boolean => takes.includes(KEY_ID)

/**
 * Puts the id of a key in the place of its whole text, which people paste in an incident, and of `-`, for which `input` is read. The rest of the
 * text is forgotten: no message repeats it. Throws a `UsageError` if the standard input has neither the text nor the id of a key.
 */
export async function withKeyId(
  takes: readonly string[],
  args: CommandArguments,
  input: () => Promise<string>,
): Promise<CommandArguments> {
  const at = takes.indexOf(KEY_ID)
  const given = args.positional[at]
  if (given === undefined) return args
  const text = (given === '-' ? await input() : given).trim()
  const id = KEY_TEXT.exec(text)?.[1] ?? text
  if (given === '-' && !ID.test(id))
    throw new UsageError('the standard input has neither the text of a key nor its id of 16 characters')
  return { ...args, positional: args.positional.with(at, id) }
}
