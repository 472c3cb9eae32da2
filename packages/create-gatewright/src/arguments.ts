import { parseArgs } from 'node:util'
import { ChoiceError, CHOICES, FRAMEWORKS, STORES, type Choices } from './choices.ts'

/** What `--help` prints. */
export const HELP: string = `npm create gatewright@latest [DIR] -- [options]

  --framework NAME   ${FRAMEWORKS.join(', ')}
  --issuer URL       the iss of the access tokens of your identity provider
  --audience TEXT    the aud of the access tokens for this API
  --store NAME       ${STORES.join(', ')}
  --help             prints this

What is not given is asked for.`

/** The arguments of a call: what they choose, checked. */
export type Arguments = Partial<Choices> | 'help'

/** Reads the arguments. Throws a `ChoiceError` that says what to write. */
export function readArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parsed(args)
  if (values.help === true) return 'help'
  const [directory, ...more] = positionals
  if (more.length > 0) throw new ChoiceError(`write one folder, got ${positionals.join(', ')}\n\n${HELP}`)
  const { framework, issuer, audience, store } = values
  return {
    ...(directory === undefined ? {} : { directory }),
    ...(framework === undefined ? {} : { framework: CHOICES.framework.check(framework) }),
    ...(issuer === undefined ? {} : { issuer: CHOICES.issuer.check(issuer) }),
    ...(audience === undefined ? {} : { audience: CHOICES.audience.check(audience) }),
    ...(store === undefined ? {} : { store: CHOICES.store.check(store) }),
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        framework: { type: 'string' },
        issuer: { type: 'string' },
        audience: { type: 'string' },
        store: { type: 'string' },
        help: { type: 'boolean' },
      },
    })
  } catch (error) {
    throw new ChoiceError(`${(error as Error).message}\n\n${HELP}`)
  }
}
