import { randomUUID } from 'node:crypto'
import type { HostServices } from '@gatewright/host'
import {
  listCommand,
  type Command,
  CommandError,
  UsageError,
  type CommandArguments,
} from '@gatewright/host/cli'
import { integerArgument, unwrap, heldKeysOf, isName } from '@gatewright/host/internal'
import type { ApiKey, KeyRecord } from '@gatewright/session-issuer'
import { partnerScopes } from '../../product/scopes.ts'
import { checkPolicy } from '../credential-fields.ts'
import { describeKey, revokedKeyOutput } from '../keys/key-output.ts'
import type { PartnerStore } from './store.ts'

/** What the commands work with. */
interface PartnerCommandServices extends Pick<HostServices, 'backend' | 'clock' | 'issuer'> {
  readonly partners: PartnerStore
}

/** Maximum length of a partner's name, in characters. */
const MAX_NAME = 120

/** Commands on partners and their keys. */
export const commands: readonly Command<PartnerCommandServices>[] = [
  {
    name: 'partner-keys create',
    takes: ['NAME'],
    options: {
      scopes: 'comma-separated scopes that its sessions may have; default: all partner scopes',
      policy: 'a policy object as JSON that limits the key and its sessions',
    },
    summary: 'Create a partner and its first key, which is shown once',
    example: '"Acme Wallets" --scopes users.read,cards.read',
    check: newPartnerOf,
    async run({ issuer, partners, clock }, args) {
      const { name, scopes, policy: document } = newPartnerOf(args)
      const accountId = `ptn_${randomUUID().replaceAll('-', '')}`
      const owner = { surface: 'partner', accountId, userId: null, walletAddress: null } as const
      const policy = unwrap(checkPolicy(document, 'policy'))
      const created = unwrap(await issuer.createKey({ ...owner, scopes, ...policy }))
      await partners.add(accountId, name, clock.now())
      const { data, lines, ifUnprinted } = newKeyOutput(created, `Partner ${name} (${accountId})`)
      const shown = policy.policy ? JSON.stringify(policy.policy) : 'no policy'
      return {
        data: { ...data, policy: policy.policy ?? null },
        lines: [...lines, `  policy  ${shown}`],
        ifUnprinted,
      }
    },
  },
  listCommand({
    name: 'partner-keys list',
    takes: [],
    summary: 'List partners and their keys',
    example: '',
    async rows({ backend, partners, clock }) {
      const all = await partners.list()
      const entries = await Promise.all(
        all.map(async partner => {
          const { keys } = await backend.issuer.keys.load(partner.id)
          const held = await heldKeysOf(backend.sql, partner.id)
          const validated = await partners.validatedKeys(keys.map(key => key.id))
          return keys.map(key => ({
            partnerId: partner.id,
            name: partner.name,
            keyId: key.id,
            keyPrefix: key.prefix,
            scopes: key.scopes,
            createdAt: key.createdAt,
            lastUsedAt: key.lastUsedAt,
            revokedAt: key.revokedAt,
            state: describeKey(key, clock.now(), held).state,
            validated: validated.has(key.id),
          }))
        }),
      )
      return entries.flat()
    },
    columns: {
      PARTNER: 'name',
      KEY: 'keyId',
      VALIDATED: ({ validated }) => (validated ? 'yes' : 'no'),
      STATE: 'state',
    },
    empty: 'No partners.',
  }),
  {
    name: 'partner-keys validate',
    takes: ['KEY_ID'],
    summary: 'Activate a partner key on a live host, which denies it until then',
    example: '4fJ2sVbXq81TzKpL',
    async run(context, { positional: [keyId = ''] }) {
      await partnerKey(context, keyId)
      await context.partners.validate(keyId, context.clock.now())
      return { data: { keyId, validated: true }, lines: [`${keyId} is validated.`] }
    },
  },
  {
    name: 'partner-keys revoke',
    takes: ['KEY_ID'],
    summary: 'Revoke a partner key and end its sessions',
    example: '4fJ2sVbXq81TzKpL',
    confirm: 'The partner is locked out at once.',
    async subject(context, { positional: [keyId = ''] }) {
      const { accountId } = await partnerKey(context, keyId)
      return `Revoke partner key ${keyId} of ${accountId}.`
    },
    async run(context, { positional: [keyId = ''] }) {
      await partnerKey(context, keyId)
      return revokedKeyOutput(unwrap(await context.issuer.revokeKey('operator', keyId)))
    },
  },
  {
    name: 'partner-keys rotate',
    takes: ['KEY_ID'],
    options: { overlap: 'seconds for which the old key still works; default 86400' },
    summary: 'Replace a partner key by a successor, which is shown once',
    example: '4fJ2sVbXq81TzKpL --overlap 3600',
    confirm: 'With --overlap 0 the old key stops working at once.',
    check: overlapOf,
    needsConfirmation: args => overlapOf(args) === 0,
    async run(context, args) {
      const { issuer, partners, clock } = context
      const [keyId = ''] = args.positional
      const overlapSeconds = overlapOf(args)
      await partnerKey(context, keyId)
      const created = unwrap(await issuer.rotateKey('operator', keyId, { overlapSeconds }))
      if ((await partners.validatedKeys([keyId])).has(keyId))
        await partners.validate(created.key.id, clock.now())
      return newKeyOutput(created, `Successor of ${keyId}`)
    },
  },
]

function newPartnerOf({ positional: [name = ''], options }: CommandArguments) {
  assertName(name)
  const scopes = options['scopes']?.split(',').map(scope => scope.trim()) ?? partnerScopes.names
  const unknown = scopes.find(scope => !partnerScopes.has(scope))
  if (unknown !== undefined) throw new UsageError(`unknown scope "${unknown}"`)
  return { name, scopes, policy: policyOption(options['policy']) }
}

function assertName(name: string): void {
  if (!isName(name))
    throw new UsageError('NAME must be in normal form C (NFC) and have no control characters')
  if (name.trim() === '' || [...name].length > MAX_NAME)
    throw new UsageError(`NAME must be 1 to ${MAX_NAME} characters, not only spaces`)
}

/** Reads the policy. The JSON text `null` is an error, too: it would mean no policy. */
function policyOption(text: string | undefined): object | undefined {
  if (text === undefined) return undefined
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed
  } catch {
    // The error is thrown below.
  }
  throw new UsageError(`--policy must be a policy object as JSON, got ${JSON.stringify(text)}`)
}

function overlapOf({ options }: CommandArguments): number {
  return integerArgument('--overlap', options['overlap'] ?? '86400', 0)
}

async function partnerKey({ backend }: PartnerCommandServices, keyId: string): Promise<KeyRecord> {
  const key = await backend.issuer.keys.find(keyId)
  if (key?.surface !== 'partner')
    throw new CommandError(`no partner key ${keyId}: see npx gatewright partner-keys list`)
  return key
}

function newKeyOutput({ key, text }: { key: ApiKey; text: string }, title: string) {
  return {
    data: { partnerId: key.accountId, keyId: key.id, keyPrefix: key.prefix, scopes: key.scopes, key: text },
    lines: [title, `  key id  ${key.id}`, `  key     ${text}`, 'The key is shown only now.'],
    ifUnprinted: `Key ${key.id} of ${key.accountId} was made, but not shown. Replace it: npx gatewright partner-keys rotate ${key.id} --overlap 0`,
  }
}
