import type { CommandArguments, StartCommand } from '@gatewright/host/cli'
import { CommandError, printLine, UsageError } from '@gatewright/host/internal/commands'
import { hostArgument } from '../account/host-client.ts'
import { readLogin } from '../account/login-file.ts'
import { runBridge } from './bridge.ts'
import { type Credential, type HostSession, Sessions } from './sessions.ts'

const hostOf = ({ positional: [host] }: CommandArguments): string | undefined =>
  host === undefined ? undefined : hostArgument(host)

/** Lets the client of an agent that starts programs use the tools of a host, under the limits of a key. */
export const mcpCommand: StartCommand = {
  name: 'mcp',
  takes: ['[HOST]'],
  summary:
    'Serve the tools of a host to an agent whose client starts this command (MCP over stdio). USER_KEY holds the key for HOST; default: your login',
  example: 'http://127.0.0.1:3000',
  check: hostOf,
  async start({ env, args, json, progress }) {
    if (json) throw new UsageError('mcp writes messages of the protocol only: leave --json out')
    const credential = credentialOf(env, hostOf(args))
    await credential()
    await runBridge(process.stdin, {
      sessions: new Sessions(credential),
      write: printLine,
      report: progress,
      grant: env['USER_KEY'] ? grantByKey : grantByLogin,
    }).finally(() => process.stdin.destroy())
    return { data: {}, lines: [] }
  },
}

/** Returns the function that reads the key: that of `USER_KEY`, or of the login, which may be another one later. */
function credentialOf(env: NodeJS.ProcessEnv, host: string | undefined): () => Promise<Credential> {
  const key = env['USER_KEY']
  if (key) {
    if (host === undefined) throw new UsageError('With USER_KEY, name the host of the key: mcp HOST')
    return async () => ({ host, key })
  }
  return async () => {
    const login = await readLogin(env)
    if (host !== undefined && host !== login.host)
      throw new CommandError(
        `You are logged in at ${login.host}: run npx gatewright login ${host}, or set USER_KEY`,
        'not_logged_in',
      )
    return login
  }
}

const all = (scopes: readonly string[], session: HostSession): string =>
  [...new Set([...session.scopes, ...scopes])].join(',')

const grantByLogin = (scopes: readonly string[], session: HostSession): string =>
  `npx gatewright login ${session.host} --scopes ${all(scopes, session)} gives the scope, after an approval in the browser.`

const grantByKey = (scopes: readonly string[], session: HostSession): string =>
  `A key with the scopes ${all(scopes, session)} in USER_KEY gives the scope. The console of ${session.host} makes it, or npx gatewright my-keys create.`
