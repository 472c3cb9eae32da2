// The command `gatewright-dev-issuer`: an identity provider for development, until Ctrl-C.
import { parseArgs } from 'node:util'
import { devIssuer, type DevIssuerOptions } from './dev-issuer.ts'

const USAGE = `Usage: npx gatewright-dev-issuer [options]

Runs an identity provider on this machine, for development, and prints a token.

  --port PORT          default 4400
  --audience AUDIENCE  the audience of your server; default https://api.example
  --provider PROVIDER  the provider of your server, such as auth0; default: none
  --account ACCOUNT    whose tokens; default ann
  --scope SCOPES       with spaces between them; default "payments.read payments.write"
`

const text = { type: 'string' } as const

/** Reads the arguments. Throws an error that says what is wrong. */
function optionsOf(args: readonly string[]): DevIssuerOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: text,
      audience: text,
      provider: text,
      account: text,
      scope: text,
      help: { type: 'boolean', short: 'h' },
    },
  })
  const { port, audience, provider, account, scope, help } = values
  if (help) return 'help'
  return {
    ...(port !== undefined && { port: Number(port) }),
    ...(audience !== undefined && { audience }),
    ...(provider !== undefined && { provider: provider as NonNullable<DevIssuerOptions['provider']> }),
    session: {
      ...(account !== undefined && { accountId: account }),
      ...(scope !== undefined && { scopes: scope.split(' ').filter(Boolean) }),
    },
  }
}

function greeting(url: string, token: string): string {
  return `The issuer for development listens on ${url}, until Ctrl-C.

In your server:  issuer: '${url}'
In a shell:      TOKEN=$(curl -s ${url}/token)

A token, valid for an hour:
${token}
`
}

try {
  const options = optionsOf(process.argv.slice(2))
  if (options === 'help') process.stdout.write(USAGE)
  else {
    const issuer = await devIssuer(options)
    process.stdout.write(greeting(issuer.url, await issuer.token()))
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\nSee npx gatewright-dev-issuer --help\n`)
  process.exitCode = 2
}
