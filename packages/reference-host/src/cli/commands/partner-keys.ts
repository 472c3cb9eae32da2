import { randomUUID } from 'node:crypto'
import type { Verdict } from '@gatewright/kernel'
import type { ApiKey } from '@gatewright/session-issuer'
import { checkPolicy } from '../../modules/credential-fields.ts'
import { partnerScopes } from '../../product/scopes.ts'
import { isName } from '../../schemas/names.ts'
import { UsageError, type Command, type CommandOutput } from '../command.ts'

/** Commands on partners and their keys. */
export const partnerKeyCommands: readonly Command[] = [
  {
    name: 'partner-keys create',
    takes: ['NAME'],
    options: {
      scopes: 'comma-separated scopes that its sessions may have; default: all partner scopes',
      policy: 'a policy object as JSON that limits the key and its sessions',
    },
    summary: 'Create a partner and its first key, which is shown once',
    example: '"Acme Wallets" --scopes users.read,cards.read',
    async run({ issuer, partners, clock }, { positional: [name = ''], options }) {
      if (!isName(name))
        throw new UsageError('NAME must be in normal form C (NFC) and have no control characters')
      const scopes = options['scopes']?.split(',').map(scope => scope.trim()) ?? partnerScopes.names
      const unknown = scopes.find(scope => !partnerScopes.has(scope))
      if (unknown !== undefined) throw new UsageError(`unknown scope "${unknown}"`)
      const accountId = `ptn_${randomUUID().replaceAll('-', '')}`
      const owner = { surface: 'partner', accountId, userId: null, walletAddress: null } as const
      const policy = unwrap(checkPolicy(jsonOption(options['policy']), 'policy'))
      const created = unwrap(await issuer.createKey({ ...owner, scopes, ...policy }))
      await partners.add(accountId, name, clock.now())
      return newKeyOutput(created, `Partner ${name} (${accountId})`)
    },
  },
  {
    name: 'partner-keys list',
    takes: [],
    summary: 'List partners and their keys',
    example: '',
    async run({ backend, partners }) {
      const all = await partners.list()
      const entries = await Promise.all(
        all.map(async partner => {
          const { keys } = await backend.issuer.keys.load(partner.id)
          const validated = await partners.validatedKeys(keys.map(key => key.id))
          return keys.map(({ id, prefix, scopes, createdAt, lastUsedAt, revokedAt }) => ({
            ...{ partnerId: partner.id, name: partner.name, keyId: id, keyPrefix: prefix, scopes },
            ...{ createdAt, lastUsedAt, revokedAt, validated: validated.has(id) },
          }))
        }),
      )
      const data = entries.flat()
      const rows = data.map(key => [
        ...[key.name, key.keyId, key.keyPrefix, key.validated ? 'yes' : 'no'],
        key.revokedAt === null ? 'live' : 'revoked',
      ])
      return { data, table: [['PARTNER', 'KEY', 'PREFIX', 'VALIDATED', 'STATE'], ...rows] }
    },
  },
  {
    name: 'partner-keys validate',
    takes: ['KEY_ID'],
    summary: 'Let a live host accept a partner key',
    example: '4fJ2sVbXq81TzKpL',
    async run({ backend, partners, clock }, { positional: [keyId = ''] }) {
      const key = await backend.issuer.keys.find(keyId)
      if (key?.surface !== 'partner') throw new UsageError(`no partner key ${keyId}`)
      await partners.validate(keyId, clock.now())
      return { data: { keyId, validated: true }, lines: [`${keyId} is validated.`] }
    },
  },
  {
    name: 'partner-keys revoke',
    takes: ['KEY_ID'],
    summary: 'Revoke a partner key and end its sessions',
    example: '4fJ2sVbXq81TzKpL',
    confirm: 'The partner is locked out at once.',
    run: async ({ issuer }, { positional: [keyId = ''] }) =>
      revokedKeyOutput(await issuer.revokeKey('operator', keyId)),
  },
  {
    name: 'partner-keys rotate',
    takes: ['KEY_ID'],
    options: { overlap: 'seconds for which the old key still works; default 86400' },
    summary: 'Replace a partner key by a successor, which is shown once',
    example: '4fJ2sVbXq81TzKpL --overlap 3600',
    async run({ issuer, partners, clock }, { positional: [keyId = ''], options }) {
      const overlapSeconds = Number(options['overlap'] ?? 86_400)
      const created = unwrap(await issuer.rotateKey('operator', keyId, { overlapSeconds }))
      if ((await partners.validatedKeys([keyId])).has(keyId))
        await partners.validate(created.key.id, clock.now())
      return newKeyOutput(created, `Successor of ${keyId}`)
    },
  },
]

function jsonOption(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown)
  } catch {
    throw new UsageError(`--policy must be a policy object as JSON, got ${JSON.stringify(text)}`)
  }
}

/** Returns the value of a verdict. Throws a `UsageError` with the message of a denial. */
export function unwrap<T>(verdict: Verdict<T>): T {
  if (!verdict.ok) throw new UsageError(verdict.message)
  return verdict.value
}

/** The output of a command that revoked a key. */
export function revokedKeyOutput(verdict: Verdict<ApiKey>): CommandOutput {
  const { id, revokedAt } = unwrap(verdict)
  return { data: { keyId: id, revokedAt }, lines: [`${id} is revoked; its sessions end within a second.`] }
}

function newKeyOutput({ key, text }: { key: ApiKey; text: string }, title: string): CommandOutput {
  return {
    data: { partnerId: key.accountId, keyId: key.id, keyPrefix: key.prefix, scopes: key.scopes, key: text },
    lines: [title, `  key id  ${key.id}`, `  key     ${text}`, 'The key is shown only now.'],
  }
}
