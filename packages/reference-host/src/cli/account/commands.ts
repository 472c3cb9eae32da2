import type { CommandArguments, StartCommand } from '@gatewright/host/cli'
import { dollarsArgument } from '../../modules/command-arguments.ts'
import { call, rowsOf, sessionOf, textsOf } from './host-client.ts'
import { approvalCommands } from './approvals-command.ts'
import { MAX_CENTS, policyOf, POLICY_OPTIONS } from './key-policy.ts'
import { loginCommand, logoutCommand } from './login-command.ts'
import { readLogin } from './login-file.ts'
import { payCommand } from './pay-command.ts'
import { tailCommand } from './requests-command.ts'
import { limitsOf, limitWords } from '../../product/limit-words.ts'

type Row = Readonly<Record<string, unknown>>

const listKeys: StartCommand = {
  name: 'my-keys list',
  takes: [],
  flags: { consoles: 'list the keys behind console sign-ins instead, which no program can use' },
  summary: 'List your API keys, newest first, at most 100. * marks the key of this login',
  example: '',
  async start({ env, args: { flags } }) {
    const login = await readLogin(env)
    const headers = await sessionOf(login)
    const { data } = await call(login.host, '/user/v1/keys?limit=100', { method: 'GET', headers })
    const listed = rowsOf(login.host, data, 'keys')
    const keys = listed.filter(key => (key['console'] === true) === flags.has('consoles'))
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
          { head: 'LIMITS', kind: 'text' },
          { head: 'SCOPES', kind: 'list' },
        ],
        rows: keys.map(key => [
          key['id'],
          `${key['id'] === login.keyId ? '* ' : ''}${typeof key['label'] === 'string' ? key['label'] : '-'}`,
          stateOf(key),
          key['lastUsedAt'],
          limitWords(policiesThatBind(key, listed).flatMap(limitsOf)) || null,
          key['scopes'],
        ]),
        dropFirst: ['SCOPES', 'LAST USED'],
      },
      empty: 'No keys.',
    }
  },
}

/** The most keys above a key; a host that says otherwise is not followed further. */
const MAX_ABOVE = 8

/** The policies that bind a key: its own, and those of the keys above it that are listed. */
function policiesThatBind(key: Row, listed: readonly Row[]): unknown[] {
  const policies: unknown[] = []
  let above: Row | undefined = key
  for (let n = 0; above !== undefined && n <= MAX_ABOVE; n++) {
    policies.push(...[above['policy']].flat())
    const lineageId: unknown = above['parentLineageId']
    // The newest of a lineage is listed first: it has the policies that bind.
    above = lineageId === null ? undefined : listed.find(each => each['lineageId'] === lineageId)
  }
  return policies
}

function newKeyOf({ positional: [label = ''], options }: CommandArguments) {
  const { scopes, 'approve-above': approveAbove } = options
  return {
    label,
    ...(scopes === undefined ? {} : { scopes: scopes.split(',').map(scope => scope.trim()) }),
    policy: {
      ...policyOf(options),
      ...(approveAbove === undefined
        ? {}
        : { approveAboveCents: dollarsArgument('--approve-above', approveAbove, MAX_CENTS) }),
    },
  }
}

const CREATE_OPTIONS = {
  ...POLICY_OPTIONS,
  'approve-above': 'a payment of more waits until you approve it, in US dollars such as 20.00',
} as const

const createKey: StartCommand = {
  name: 'my-keys create',
  takes: ['NAME'],
  options: {
    scopes: 'comma-separated; default: those of your login',
    ...CREATE_OPTIONS,
  },
  summary: 'Create a key below that of your login, for a program. NAME is what you call it',
  example: 'agent-shopping --daily 50.00 --payment 10.00',
  check: newKeyOf,
  async start({ env, args }) {
    const login = await readLogin(env)
    const headers = await sessionOf(login)
    const { data } = await call(login.host, '/user/v1/keys', { headers, body: newKeyOf(args) })
    const { userKeyId, userApiKey } = textsOf(login.host, data, ['userKeyId', 'userApiKey'])
    return {
      data,
      lines: [`Key ${userKeyId}: ${userApiKey}`, 'The key is shown only now.'],
      ifUnprinted: `Key ${userKeyId} was made, but not shown. Revoke it, and create another: npx gatewright my-keys revoke ${userKeyId}`,
    }
  },
}

const revokeKey: StartCommand = {
  name: 'my-keys revoke',
  takes: ['KEY_ID'],
  summary: 'Revoke a key below that of your login, and end its sessions',
  example: '4fJ2sVbXq81TzKpL',
  asks: true,
  async start({
    env,
    args: {
      positional: [keyId = ''],
    },
    confirm,
  }) {
    const login = await readLogin(env)
    await confirm(
      `Revoke your key ${keyId} at ${login.host}. Whoever uses it is locked out at once, and cards that it made or revealed are locked.`,
    )
    const path = `/user/v1/keys/${encodeURIComponent(keyId)}?cards=lock`
    await call(login.host, path, { method: 'DELETE', headers: await sessionOf(login) })
    return { data: { keyId, revoked: true }, lines: [`${keyId} is revoked.`] }
  },
}

/** Commands of a person on the own account, at any host, over its public API. They open no stores. */
export const accountCommands: readonly StartCommand[] = [
  loginCommand,
  logoutCommand,
  listKeys,
  createKey,
  revokeKey,
  ...approvalCommands,
  payCommand,
  tailCommand,
]
