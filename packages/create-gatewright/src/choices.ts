/** The frameworks that a project can use. */
export const FRAMEWORKS = ['express', 'fastify', 'koa', 'hono', 'nest', 'next', 'node', 'fetch'] as const
/** The stores that a project can use. */
export const STORES = ['memory', 'redis', 'postgres', 'sqlite'] as const

/** The name of a framework. */
export type FrameworkName = (typeof FRAMEWORKS)[number]
/** The name of a store. */
export type StoreName = (typeof STORES)[number]

/** What a project is made from. */
export interface Choices {
  /** The folder of the project, absolute or relative to the current one. */
  readonly directory: string
  readonly framework: FrameworkName
  /** The `iss` of the tokens. */
  readonly issuer: string
  /** The `aud` of the tokens. */
  readonly audience: string
  readonly store: StoreName
}

/** A wrong answer, flag or folder. Its message says what to write, and is shown without a stack. */
export class ChoiceError extends Error {}

/** One choice: its flag, its question, and what is accepted. */
export interface Choice<Value extends string> {
  readonly question: string
  readonly suggested: Value
  /** Returns the value. Throws a `ChoiceError` for one that cannot be used. */
  check(text: string): Value
}

function oneOf<Value extends string>(
  flag: string,
  question: string,
  values: readonly [Value, ...Value[]],
): Choice<Value> {
  return {
    question: `${question} (${values.join(', ')})`,
    suggested: values[0],
    check(text) {
      const found = values.find(value => value === text)
      if (found !== undefined) return found
      throw new ChoiceError(`${flag} must be one of ${values.join(', ')}, got ${JSON.stringify(text)}`)
    },
  }
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

function checkIssuer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname))
  if (url && isSafe && !/[?#\s]/.test(text) && url.username === '') return text
  throw new ChoiceError(
    `--issuer must be the https URL of your identity provider, exactly as in the iss of its tokens, such as https://auth.example/, got ${JSON.stringify(text)}`,
  )
}

function checkAudience(text: string): string {
  if (/^[\x21-\x7e]{1,200}$/.test(text)) return text
  throw new ChoiceError(
    `--audience must be the aud of the tokens for your API, such as https://payments.example, got ${JSON.stringify(text)}`,
  )
}

/** The choices, in the order in which they are asked for. */
export const CHOICES: {
  readonly [Name in Exclude<keyof Choices, 'directory'>]: Choice<Choices[Name]>
} = {
  framework: oneOf('--framework', 'Framework', FRAMEWORKS),
  issuer: {
    question: 'Issuer: the iss of the access tokens of your identity provider',
    suggested: 'https://auth.example/',
    check: checkIssuer,
  },
  audience: {
    question: 'Audience: the aud of the access tokens for this API',
    suggested: 'https://payments.example',
    check: checkAudience,
  },
  store: oneOf('--store', 'Store', STORES),
}
