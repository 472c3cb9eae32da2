import { createInterface } from 'node:readline/promises'
import { ChoiceError, CHOICES, type Choice, type Choices } from './choices.ts'

/** Asks for what was not given. Without a terminal, throws a `ChoiceError` that names the missing flags. */
export async function ask(given: Partial<Choices>): Promise<Choices> {
  const names = Object.keys(CHOICES) as (keyof typeof CHOICES)[]
  const missing = names.filter(name => given[name] === undefined)
  const { directory = 'payments-api' } = given
  if (missing.length === 0) return { ...(given as Choices), directory }
  if (!process.stdin.isTTY)
    throw new ChoiceError(
      `add ${missing.map(name => `--${name}`).join(', ')}: there is no terminal to ask on`,
    )
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const question = async <V extends string>({ question, suggested, check }: Choice<V>): Promise<V> => {
      for (;;) {
        const answer = await terminal.question(`${question} [${suggested}]: `)
        try {
          return check(answer.trim() || suggested)
        } catch (error) {
          if (!(error instanceof ChoiceError)) throw error
          console.error(error.message)
        }
      }
    }
    return {
      directory:
        given.directory ?? ((await terminal.question(`Folder [${directory}]: `)).trim() || directory),
      framework: given.framework ?? (await question(CHOICES.framework)),
      issuer: given.issuer ?? (await question(CHOICES.issuer)),
      audience: given.audience ?? (await question(CHOICES.audience)),
      store: given.store ?? (await question(CHOICES.store)),
    }
  } finally {
    terminal.close()
  }
}
