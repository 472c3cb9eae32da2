import type { HostServices } from '@gatewright/host'
import {
  listCommand,
  type Command,
  CommandError,
  UsageError,
  type CommandArguments,
} from '@gatewright/host/cli'
import { heldKeysOf, keySession, unwrap } from '@gatewright/host/internal'
import { cardChoiceOf, defaultChoice, endCardsOfKeys, type CardChoice } from '../cards/ended-keys.ts'
import type { KeyRecord } from '@gatewright/session-issuer'
import { accountOf } from '../find-account.ts'
import { explainCommand } from './explain-command.ts'
import { limitsOf, limitWords, type Limit } from '../../product/limit-words.ts'
import { pauseCommand, resumeCommand } from './pause-commands.ts'
import { auditCommand } from './audit-command.ts'
import { describeKey, keyFields, revokedKeyOutput } from './key-output.ts'
import { revokedKeySubject } from './revoked-key-subject.ts'

/** Commands on API keys, on the keys that sign sessions, and on the log of their changes. None shows a secret. */
export const commands: readonly Command<HostServices>[] = [
  listCommand({
    name: 'keys list',
    takes: ['ACCOUNT'],
    flags: {
      consoles: 'list the keys behind console sign-ins instead, which no program can use',
    },
    summary: 'List the API keys of an account, newest first',
    example: 'usr_79db7a61096340598de4661d67683883',
    async rows({ backend, clock }, { positional: [owner = ''], flags }) {
      const accountId = await accountOf(backend.sql, owner)
      const { keys } = await backend.issuer.keys.load(accountId)
      const held = await heldKeysOf(backend.sql, accountId)
      const listed = keys.filter(key => key.console === flags.has('consoles'))
      const sorted = listed.toSorted((a, b) => b.createdAt - a.createdAt)
      const policies = await backend.issuer.keys.policies([...new Set(sorted.flatMap(key => key.policyIds))])
      const limitsOfKey = ({ policyIds }: KeyRecord): Limit[] =>
        policies.filter(({ id }) => policyIds.includes(id)).flatMap(({ document }) => limitsOf(document))
      return sorted.map(key => ({
        ...describeKey(key, clock.now(), held),
        limits: limitWords(limitsOfKey(key)) || null,
      }))
    },
    columns: {
      KEY: 'id',
      LABEL: 'label',
      STATE: 'state',
      CREATED: 'createdAt',
      'LAST USED': 'lastUsedAt',
      LIMITS: 'limits',
      SCOPES: 'scopes',
    },
    dropFirst: ['SCOPES', 'CREATED'],
    empty: 'No keys.',
  }),
  {
    name: 'keys show',
    takes: ['KEY_ID'],
    summary: 'Show an API key with its policies, from the root of its chain to its own',
    example: '4fJ2sVbXq81TzKpL',
    async run({ backend, clock, guard }, { positional: [keyId = ''] }) {
      const key = await backend.issuer.keys.find(keyId)
      if (!key) throw new CommandError(`no key ${keyId}`)
      const stored = await backend.issuer.keys.policies(key.policyIds)
      const documentOf = (id: string): unknown => stored.find(policy => policy.id === id)?.document ?? null
      const policies = key.policyIds.map(id => ({ id, document: documentOf(id) }))
      const data = {
        ...describeKey(key, clock.now(), await heldKeysOf(backend.sql, key.accountId)),
        policies,
      }
      return { data, fields: keyFields(data, await guard.caps(keySession(key))) }
    },
  },
  {
    name: 'keys revoke',
    takes: ['KEY_ID'],
    options: {
      cards:
        'lock, cancel or keep the cards that it or keys below it made or revealed. Default: lock if another key made it, else keep',
    },
    summary: 'Revoke any API key, and end its sessions',
    example: '4fJ2sVbXq81TzKpL --cards lock',
    confirm: 'Whoever uses the key is locked out at once.',
    check: cardChoiceOf,
    async subject({ backend, clock }, args) {
      const {
        positional: [keyId = ''],
      } = args
      const key = await backend.issuer.keys.find(keyId)
      if (!key) throw new CommandError(`no key ${keyId}`)
      return revokedKeySubject({ backend, clock }, key, choiceFor(key, args))
    },
    async run({ issuer, backend, clock }, args) {
      const {
        positional: [keyId = ''],
      } = args
      const found = await backend.issuer.keys.find(keyId)
      const choice = found && choiceFor(found, args)
      const key = unwrap(await issuer.revokeKey('operator', keyId))
      if (choice === undefined) return revokedKeyOutput(key)
      const services = { db: backend.sql, backend, clock }
      const ended = await endCardsOfKeys(
        services,
        { accountId: key.accountId, keyIds: [key.id] },
        { choice, reason: 'operator' },
      )
      return revokedKeyOutput(key, { choice, ended })
    },
  },
  pauseCommand,
  resumeCommand,
  explainCommand,
  listCommand({
    name: 'signing-keys list',
    takes: [],
    summary: 'List the keys that sign sessions, with their state',
    example: '',
    rows: ({ issuer }) => issuer.listSigningKeys(),
    columns: { KID: 'kid', ALGORITHM: 'algorithm', STATE: 'state' },
  }),
  {
    name: 'signing-keys rotate',
    takes: [],
    summary: 'Add the next signing key; hosts begin to sign with it without a restart',
    example: '',
    async run({ issuer }) {
      const announced = await issuer.rotateSigningKey()
      return {
        data: { announced },
        lines: [announced ? 'A successor is announced.' : 'A successor is announced already.'],
      }
    },
  },
  {
    name: 'signing-keys revoke',
    takes: ['KID'],
    summary: 'Stop accepting a leaked signing key at once. KID is as signing-keys list prints it',
    example: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
    confirm: 'Every session that it signed fails as soon as verifiers read the key set again.',
    async run({ issuer }, { positional: [kid = ''] }) {
      if (!(await issuer.dropSigningKey(kid)))
        throw new CommandError(`no signing key ${kid}: see npx gatewright signing-keys list`)
      return { data: { kid, dropped: true }, lines: [`${kid} is dropped.`] }
    },
  },
  auditCommand,
]

/** What happens to the cards of a key; undefined for a partner's key, whose cards belong to many accounts. */
function choiceFor(key: KeyRecord, args: CommandArguments): CardChoice | undefined {
  const stated = cardChoiceOf(args)
  if (key.surface === 'user') return stated ?? defaultChoice(key)
  if (stated === undefined) return undefined
  throw new UsageError(`${key.id} is a partner's key: use npx gatewright cards cancel --key ${key.id}`)
}
