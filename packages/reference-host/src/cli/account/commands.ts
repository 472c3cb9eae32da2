import { randomUUID } from 'node:crypto'
import {
  type CommandArguments,
  CommandError,
  money,
  type StartCommand,
  UsageError,
} from '@gatewright/host/internal'
import { call, sessionOf } from './host-client.ts'
import { dollarsArgument, policyOf, POLICY_OPTIONS } from './key-policy.ts'
import { loginCommand, logoutCommand } from './login-command.ts'
import { readLogin } from './login-file.ts'
import { tailCommand } from './requests-command.ts'

type Row = Readonly<Record<string, unknown>>

const listKeys: StartCommand = {
  name: 'my-keys list',
  takes: [],
  summary: 'List your API keys, newest first, at most 100',
  example: '',
  async start({ env }) {
    const login = await readLogin(env)
    const headers = await sessionOf(login)
    const { data } = await call(login.host, '/user/v1/keys?limit=100', { method: 'GET', headers })
    const keys = data['keys'] as readonly Row[]
    const stateOf = ({ revokedAt, expiresAt }: Row): string => {
      if (revokedAt !== null) return 'revoked'
      return typeof expiresAt === 'string' && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'live'
    }
    return {
      data: keys,
      table: {
        columns: [
          { head: 'KEY', kind: 'id' },
          { head: 'LABEL', kind: 'text' },
          { head: 'STATE', kind: 'state' },
          { head: 'LAST USED', kind: 'instant' },
          { head: 'SCOPES', kind: 'list' },
        ],
        rows: keys.map(key => [key['id'], key['label'], stateOf(key), key['lastUsedAt'], key['scopes']]),
        dropFirst: ['SCOPES', 'LAST USED'],
      },
      empty: 'No keys.',
    }
  },
}

function newKeyOf({ options }: CommandArguments) {
  const { label, scopes } = options
  return {
    ...(label === undefined ? {} : { label }),
    ...(scopes === undefined ? {} : { scopes: scopes.split(',').map(scope => scope.trim()) }),
    policy: policyOf(options),
  }
}

const createKey: StartCommand = {
  name: 'my-keys create',
  takes: [],
  options: {
    label: 'what you call it',
    scopes: 'comma-separated; default: those of your login',
    ...POLICY_OPTIONS,
  },
  summary: 'Create a key below that of your login, for a program',
  example: '--label agent-shopping --daily 50 --payment 10',
  check: newKeyOf,
  async start({ env, args }) {
    const login = await readLogin(env)
    const headers = await sessionOf(login)
    const { data } = await call(login.host, '/user/v1/keys', { headers, body: newKeyOf(args) })
    const { userKeyId, userApiKey } = data
    return {
      data,
      lines: [`Key ${String(userKeyId)}: ${String(userApiKey)}`, 'The key is shown only now.'],
    }
  },
}

const revokeKey: StartCommand = {
  name: 'my-keys revoke',
  takes: ['KEY_ID'],
  summary: 'Revoke a key below that of your login, and end its sessions',
  example: '4fJ2sVbXq81TzKpL',
  async start({
    env,
    args: {
      positional: [keyId = ''],
    },
    confirm,
  }) {
    const login = await readLogin(env)
    await confirm(`Revoke your key ${keyId} at ${login.host}. Whoever uses it is locked out at once.`)
    const path = `/user/v1/keys/${encodeURIComponent(keyId)}`
    await call(login.host, path, { method: 'DELETE', headers: await sessionOf(login) })
    return { data: { keyId, revoked: true }, lines: [`${keyId} is revoked.`] }
  },
}

function paymentOf({ positional: [wallet = '', amount = ''], options }: CommandArguments) {
  if (!/^0x[0-9a-fA-F]{40}$/.test(wallet))
    throw new UsageError(`WALLET must be 0x and 40 hex digits, got ${JSON.stringify(wallet)}`)
  const { memo, 'idempotency-key': idempotencyKey = randomUUID() } = options
  return { wallet, amountCents: dollarsArgument('AMOUNT', amount), memo, idempotencyKey }
}

const pay: StartCommand = {
  name: 'pay',
  takes: ['WALLET', 'AMOUNT'],
  options: {
    memo: 'what the receiver reads',
    'idempotency-key': 'repeats a payment whose outcome is not known: it is made at most once',
  },
  summary: 'Pay another wallet user of the host. AMOUNT is in US dollars',
  example: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8 12.50 --memo Lunch',
  check: paymentOf,
  async start({ env, args, confirm }) {
    const { wallet, amountCents, memo, idempotencyKey } = paymentOf(args)
    const login = await readLogin(env)
    await confirm(`Pay ${money(amountCents)} to ${wallet} at ${login.host}. It cannot be taken back.`)
    const session = await sessionOf(login)
    const body = { to: { walletAddress: wallet }, amountCents, ...(memo === undefined ? {} : { memo }) }
    const headers = { ...session, 'idempotency-key': idempotencyKey }
    const { data } = await call(login.host, '/user/v1/payments', { headers, body }).catch(
      (error: unknown) => {
        if (!(error instanceof CommandError && error.code === 'no_answer')) throw error
        throw new CommandError(
          `${error.message}\nWhether it was paid is not known. Repeat the command with --idempotency-key ${idempotencyKey}`,
          'outcome_unknown',
        )
      },
    )
    const { id } = data['payment'] as Row
    return { data: data['payment'], lines: [`Paid ${money(amountCents)} to ${wallet}: ${String(id)}.`] }
  },
}

/** Commands of a person on the own account, at any host, over its public API. They open no stores. */
export const accountCommands: readonly StartCommand[] = [
  loginCommand,
  logoutCommand,
  listKeys,
  createKey,
  revokeKey,
  pay,
  tailCommand,
]
