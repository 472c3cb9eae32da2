import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { money } from '@gatewright/host/internal'
import { escapedLine } from '@gatewright/host/internal/commands'
import { type CommandArguments, CommandError, type StartCommand } from '@gatewright/host/cli'
import { toChecksumAddress } from '@gatewright/signature-verifier/internal'
import { isEthereumAddress } from '../../chain/addresses.ts'
import { call, hostArgument, sessionOf, textsOf } from './host-client.ts'
import { findLogin, type Login, readLogin, removeLogin, writeLogin } from './login-file.ts'
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
/** The daily limit of a key without `--daily`, in US dollars. */
const DEFAULT_DAILY = '50.00'
/** The shortest and the longest pause between two polls, in ms, whatever the host says. */
const POLL_MS = { least: 500, most: 30_000 }
/** How long a person has to approve, in ms. Hosts end a request earlier. */
const APPROVAL_MS = 1_800_000

function requestOf({ positional: [host = ''], options }: CommandArguments) {
  const more = options['scopes']?.split(',').map(scope => scope.trim()) ?? []
  return {
    host: hostArgument(host),
    scopes: [...new Set([...SCOPES, ...more])],
    policy: policyOf({ ...options, daily: options['daily'] ?? DEFAULT_DAILY }),
  }
}

/** Signs a person in: a browser approves a request, and its web token makes one key with limits. */
export const loginCommand: StartCommand = {
  name: 'login',
  takes: ['HOST'],
  options: {
    ...POLICY_OPTIONS,
    daily: `${POLICY_OPTIONS.daily}; default ${DEFAULT_DAILY}`,
    scopes: 'comma-separated, beside those that the commands of an account need',
  },
  summary: 'Sign in to a host in the browser, and store a key that has a spending limit',
  flags: { 'keep-old': 'do not revoke the key of the login that this one replaces' },
  example: 'http://127.0.0.1:3000 --daily 50.00',
  asks: true,
  check: requestOf,
  async start({ env, args, progress, confirm }) {
    const { host, scopes, policy } = requestOf(args)
    const old = await findLogin(env)
    const revokesOld = old !== undefined && !args.flags.has('keep-old')
    if (revokesOld)
      await confirm(
        `You are logged in at ${old.host}. The new login replaces that one: its key ${old.keyId} and the keys below it are revoked.`,
      )
    const label = `gatewright on ${hostname()}`.slice(0, 60)
    const started = await call(host, '/auth/cli/start', {
      body: { clientName: label, label, scopes, policy },
    })
    const { url, code, requestToken } = textsOf(host, started.data, ['url', 'code', 'requestToken'])
    const msLeft = msUntil(started.data['expiresAt'])
    progress(`Open ${escapedLine(url)}\nand type this code: ${escapedLine(code)}\n${waitingText(msLeft)}`)
    const intervalMs = pollMs(started.data['pollIntervalMs'])
    const { token, limits } = await approved({ host, requestToken, intervalMs, msLeft }, progress)
    const { data } = await call(host, '/identity/user-api-keys', {
      headers: { authorization: `Bearer ${token}` },
      body: {},
    })
    const { userKeyId, userApiKey } = textsOf(host, data, ['userKeyId', 'userApiKey'])
    const { walletAddress: wallet } = data
    const walletAddress =
      typeof wallet === 'string' && isEthereumAddress(wallet) ? toChecksumAddress(wallet) : null
    const login = { host, keyId: userKeyId, key: userApiKey, walletAddress }
    const file = writeLogin(env, login)
    const oldKey = revokesOld ? await revokeOld(old) : undefined
    const { keyId } = login
    return {
      data: { host, keyId, walletAddress, policy: limits, file, ...(oldKey ? { oldKey: oldKey.data } : {}) },
      lines: [
        `Signed in at ${host} as ${walletAddress ?? 'a user'}.`,
        `Key ${keyId} is kept in ${file}. ${limitsInWords(limits)}`,
        ...(oldKey ? [oldKey.line] : []),
      ],
    }
  },
}

/** Revokes the key of the login that was replaced, and says whether that succeeded: nothing else here has that key any more. */
async function revokeOld(old: Login) {
  const { host, keyId } = old
  try {
    await revokeKeyOf(old)
    const line = `Key ${keyId} of the earlier login at ${host} is revoked.`
    return { line, data: { host, keyId, revoked: true } }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const line = `Key ${keyId} of the earlier login could not be revoked: ${error.message}. Unless it has ended, it still works: revoke it in the console of ${host}.`
    return { line, data: { host, keyId, revoked: false } }
  }
}

/** Revokes the key of a login, with the keys below it. */
async function revokeKeyOf(login: Login): Promise<void> {
  const path = `/user/v1/keys/${encodeURIComponent(login.keyId)}`
  await call(login.host, path, { method: 'DELETE', headers: await sessionOf(login) })
}

function pollMs(wanted: unknown): number {
  const ms = typeof wanted === 'number' ? wanted : POLL_MS.least
  return Math.min(Math.max(ms, POLL_MS.least), POLL_MS.most)
}

/** Says what the key may pay at most. */
function limitsInWords({ maxAuthAmountCents, dailySpendCapCents }: KeyLimits): string {
  const atOnce = maxAuthAmountCents === undefined ? '' : `${money(maxAuthAmountCents)} at once and `
  return `It may pay up to ${atOnce}${money(dailySpendCapCents)} a day.`
}

/** The limits that the person approved, which may be lower than those that were requested. */
interface KeyLimits {
  readonly maxAuthAmountCents?: number
  readonly dailySpendCapCents: number
}

/** Reads the limits of the approved key. A host that does not bind them would make a key without limits. */
function limitsOf(host: string, session: unknown): KeyLimits {
  const policy = memberOf(memberOf(session, 'key'), 'policy')
  const daily = memberOf(policy, 'dailySpendCapCents')
  const atOnce = memberOf(policy, 'maxAuthAmountCents')
  if (typeof daily !== 'number')
    throw new CommandError(`${host} does not say which limits were approved, so no key was made.`)
  return {
    dailySpendCapCents: daily,
    ...(typeof atOnce === 'number' ? { maxAuthAmountCents: atOnce } : {}),
  }
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined

/** How long until an instant that a host named, in ms: at most `APPROVAL_MS`, also if it named none. */
function msUntil(expiresAt: unknown): number {
  const left = typeof expiresAt === 'string' ? Date.parse(expiresAt) - Date.now() : Number.NaN
  return left > 0 && left < APPROVAL_MS ? left : APPROVAL_MS
}

/** A request that waits for a person. */
interface OpenRequest {
  readonly host: string
  readonly requestToken: string
  /** The pause between two polls. */
  readonly intervalMs: number
  readonly msLeft: number
}

const minutesOf = (ms: number): number => Math.ceil(ms / 60_000)
const waitingText = (ms: number): string =>
  `Waiting for your approval, ${minutesOf(ms)} min left. Ctrl-C ends it.`

/** Polls until the person has approved the request. Says each minute how much time is left. */
async function approved(
  { host, requestToken, intervalMs, msLeft }: OpenRequest,
  progress: (text: string) => void,
): Promise<{ readonly token: string; readonly limits: KeyLimits }> {
  const endAt = performance.now() + msLeft
  let minutes = minutesOf(msLeft)
  for (let left = msLeft; left > 0; left = endAt - performance.now()) {
    if (minutesOf(left) < minutes) progress(waitingText(left))
    minutes = minutesOf(left)
    await sleep(intervalMs)
    const { data } = await call(host, '/auth/cli/poll', { body: { requestToken } })
    if (data['status'] === 'completed')
      return { token: textsOf(host, data, ['token']).token, limits: limitsOf(host, data['session']) }
    if (data['status'] !== 'pending') throw new CommandError('The host answers no sign-in.')
  }
  throw new CommandError('Nobody has approved the sign-in in time. Run npx gatewright login again.')
}

/** Revokes the key of the login, and forgets it. */
export const logoutCommand: StartCommand = {
  name: 'logout',
  takes: [],
  flags: { forget: 'only delete the file, without a request to the host: the key still works' },
  summary: 'Revoke the key of your login, and delete it here',
  example: '',
  async start({ env, args: { flags } }) {
    const login = await readLogin(env)
    const { host, keyId } = login
    if (!flags.has('forget')) await revokeKeyOf(login)
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
