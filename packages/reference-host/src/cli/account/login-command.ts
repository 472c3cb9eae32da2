import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CommandArguments, CommandError, money, type StartCommand } from '@gatewright/host/internal'
import { call, hostArgument, sessionOf } from './host-client.ts'
import { readLogin, removeLogin, writeLogin } from './login-file.ts'
import { policyOf, POLICY_OPTIONS } from './key-policy.ts'

/** What the commands of an account need. */
const SCOPES = [
  'users.read',
  'balances.read',
  'transactions.read',
  'payments.read',
  'payments.write',
  'keys.read',
  'keys.write',
]
const DEFAULT_DAILY = '50.00'

function requestOf({ positional: [host = ''], options }: CommandArguments) {
  return { host: hostArgument(host), policy: policyOf({ daily: DEFAULT_DAILY, ...options }) }
}

/** Signs a person in: a browser approves a request, and its web token makes one key with limits. */
export const loginCommand: StartCommand = {
  name: 'login',
  takes: ['HOST'],
  options: { ...POLICY_OPTIONS, daily: `${POLICY_OPTIONS.daily}; default ${DEFAULT_DAILY}` },
  summary: 'Sign in at a host by a browser, with a key that has a limit',
  example: 'http://127.0.0.1:3000 --daily 50.00',
  check: requestOf,
  async start({ env, args, progress }) {
    const { host, policy } = requestOf(args)
    const label = `gatewright on ${hostname()}`.slice(0, 60)
    const started = await call(host, '/auth/cli/start', { body: { clientName: label } })
    const { url, code, requestToken, pollIntervalMs } = started.data
    progress(`Open ${String(url)}\nand type this code: ${String(code)}`)
    const token = await approved(host, String(requestToken), Number(pollIntervalMs))
    const { data } = await call(host, '/identity/user-api-keys', {
      headers: { authorization: `Bearer ${token}` },
      body: { label, scopes: SCOPES, policy },
    })
    const walletAddress = (data['walletAddress'] ?? null) as string | null
    const login = { host, keyId: String(data['userKeyId']), key: String(data['userApiKey']), walletAddress }
    const file = await writeLogin(env, login)
    const { keyId } = login
    return {
      data: { host, keyId, walletAddress, policy, file },
      lines: [
        `Signed in at ${host} as ${walletAddress ?? 'a user'}.`,
        `Key ${keyId} is kept in ${file}. It may pay up to ${money(policy.dailySpendCapCents ?? 0)} a day.`,
      ],
    }
  },
}

/** Polls until the person has approved the request. */
async function approved(host: string, requestToken: string, intervalMs: number): Promise<string> {
  for (;;) {
    await sleep(intervalMs)
    const { data } = await call(host, '/auth/cli/poll', { body: { requestToken } })
    if (data['status'] === 'completed') return String(data['token'])
    if (data['status'] !== 'pending') throw new CommandError('The host answers no sign-in.')
  }
}

/** Revokes the key of the login, and forgets it. */
export const logoutCommand: StartCommand = {
  name: 'logout',
  takes: [],
  flags: { forget: 'only delete the file, without a request to the host: the key still works' },
  summary: 'Revoke the key of gatewright login, and delete it here',
  example: '',
  async start({ env, args: { flags } }) {
    const login = await readLogin(env)
    const { host, keyId } = login
    if (!flags.has('forget'))
      await call(host, `/user/v1/keys/${keyId}`, { method: 'DELETE', headers: await sessionOf(login) })
    await removeLogin(env)
    const revoked = !flags.has('forget')
    return {
      data: { host, keyId, revoked },
      lines: [
        revoked
          ? `Key ${keyId} is revoked and deleted here.`
          : `Key ${keyId} is deleted here. It still works.`,
      ],
    }
  },
}
