import { allow, type Verdict } from '@gatewright/kernel'
import { parseInstant } from '@gatewright/kernel/internal'
import type { ApiKey } from '@gatewright/session-issuer'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, type Success, operation } from '@gatewright/host'
import {
  type WebTokens,
  callerOf,
  positionCursor,
  readPositionCursor,
  counted,
} from '@gatewright/host/internal'
import { component, nextCursor, pageParameters } from '@gatewright/host/schemas'
import { PolicySchema } from '../credential-schemas.ts'
import { deny } from '../../product/denials.ts'
import {
  checkPolicy,
  keyLabel,
  newKeyData,
  parseRequestedScopes,
  requestedScopes,
} from '../credential-fields.ts'
import { lowered, rightsOfApproved } from '../web-sign-in/approved-key.ts'
import { denyFrozen } from '../onboarding/requirements.ts'
import { listAudit } from './audit-operation.ts'
import { readKeyCaps } from './caps.ts'
import * as examples from './examples.ts'
import { ChangedKey, keyData, keyPaths, KeySchema, NewKey } from './fields.ts'
import { makeUnlessFrozen } from './make-unless-frozen.ts'
import { pauseOperations } from './pause.ts'
import { keyResponse, revoke, revokeKey } from './revoke.ts'

/** What the operations on API keys work with. */
interface KeyServices
  extends Pick<HostServices, 'issuer' | 'aliases' | 'guard' | 'db' | 'backend' | 'clock' | 'operationRules'> {
  readonly webTokens: WebTokens
}

const KeyList = Type.Object(
  { keys: Type.Array(KeySchema), nextCursor },
  component(
    'ApiKeyList',
    'A page of API keys, newest first, without their texts. It ends early where their policies would pass 32 KiB',
  ),
)
const Rights = {
  scopes: Type.Optional(requestedScopes),
  policy: Type.Optional(PolicySchema),
}
const CreateBody = Type.Object(
  {
    label: Type.Optional(keyLabel),
    ...Rights,
    expiresAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'When the key stops working, in the future. Never later than the key that creates it. Default: never',
      }),
    ),
  },
  component('CreateKeyRequest', 'What a new key may do. Default: what the caller may do'),
)
const ChangeBody = Type.Object(
  {
    label: Type.Optional(keyLabel),
    ...Rights,
    revoke: Type.Optional(Type.Boolean({ description: '`true` revokes the key' })),
  },
  component(
    'ChangeKeyRequest',
    'What to change of a key: at least one member. Another policy for a key below replaces its own, and what was used of a cap stays used',
  ),
)
const RotateBody = Type.Object(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        description: 'How long the old key works besides the new one',
      }),
    ),
  },
  component('RotateKeyRequest', 'How a key is replaced'),
)
const common = { surface: 'user', credential: 'session', topLevel: true } as const

/** Makes the operations on API keys. The issuer decides what a caller may do to which key. */
export function keyOperations(services: KeyServices): Operation[] {
  return [
    createKey(services),
    listKeys(services),
    readKeyCaps(services),
    changeKey(services),
    rotateKey(services),
    ...pauseOperations(services),
    revokeKey(services),
    listAudit(services),
  ]
}

function createKey({
  issuer,
  db,
  aliases,
  webTokens,
  clock,
  operationRules,
}: Pick<KeyServices, 'issuer' | 'db' | 'aliases' | 'webTokens' | 'clock' | 'operationRules'>): Operation {
  return operation({
    ...common,
    id: 'keys.create',
    title: 'Create an API key',
    details: 'Below the calling key, or with a web token one of the wallet.',
    credential: 'session-or-web-token',
    method: 'POST',
    paths: keyPaths(''),
    scopes: ['keys.write'],
    unknownMembers: 'deny',
    body: CreateBody,
    response: NewKey,
    example: {
      body: {
        label: 'agent-shopping',
        scopes: ['subscriptions.write'],
        policy: { maxAuthAmountCents: 5000 },
      },
      response: examples.newKey,
    },
    async handle({ caller: authenticated, body, facts }) {
      const approved = 'webSession' in authenticated ? (authenticated.webSession.key ?? {}) : {}
      const named = rightsOfApproved(approved, body)
      if (!named.ok) return named
      const ownScopes = 'webSession' in authenticated ? undefined : callerOf(authenticated).scopes
      const scopes = parseRequestedScopes('user', named.value.scopes ?? ownScopes, 'scopes', {
        aliases,
        facts,
      })
      if (!scopes.ok) return scopes
      const checked = checkPolicy(named.value.policy, 'policy', operationRules)
      if (!checked.ok) return checked
      const policy = lowered(checked.value.policy, approved.lowerTo)
      const expiresAt = parseExpiry(body.expiresAt, clock.now())
      if (!expiresAt.ok) return expiresAt
      const label = named.value.label ?? null
      const rights = {
        surface: 'user',
        label,
        scopes: scopes.value.scopes,
        ...(policy ? { policy } : {}),
        ...expiresAt.value,
      } as const
      const { ignored } = scopes.value
      if ('webSession' in authenticated) {
        const { webSession } = authenticated
        // The web token is used up before the key is made: a crash in between costs another sign-in, but never makes a second
        // key.
        const first = await webTokens.claim(webSession, 'create a key')
        if (!first.ok) return first
        const { accountId, userId, address: walletAddress } = webSession
        const root = { ...rights, rootBy: 'wallet', accountId, userId, walletAddress } as const
        return newKeyResponse(await makeUnlessFrozen({ db, issuer }, accountId, root), ignored)
      }
      const caller = callerOf(authenticated)
      const { accountId, userId, walletAddress } = caller
      const request = { ...rights, accountId, userId, walletAddress, parent: caller }
      return newKeyResponse(await makeUnlessFrozen({ db, issuer }, accountId, request), ignored)
    },
  })
}

/** Reads the end of a new key, which must be in the future. */
function parseExpiry(text: string | undefined, now: number): Verdict<{ expiresAt?: number }> {
  if (text === undefined) return allow({})
  const expiresAt = parseInstant(text)
  if (expiresAt !== undefined && expiresAt > now) return allow({ expiresAt })
  return deny('invalid_request', 'expiresAt must be in the future', { field: 'expiresAt' })
}

function listKeys({ issuer }: Pick<HostServices, 'issuer'>): Operation {
  return operation({
    ...common,
    id: 'keys.list',
    title: 'List API keys',
    details: 'Those that the caller may see.',
    method: 'GET',
    paths: keyPaths(''),
    scopes: ['keys.read'],
    // Existing clients read only one page, so it is large enough for the keys of most accounts.
    query: Type.Object(pageParameters(100, 50)),
    response: KeyList,
    example: { response: { keys: [examples.listedKey], nextCursor: null } },
    async handle({ caller, query: { limit, cursor } }) {
      const start = readPositionCursor(cursor)
      if (!start.ok) return start
      const found = await issuer.listKeys(callerOf(caller), { ...start.value, limit })
      if (!found.ok) return found
      const keys = found.value.keys.map(({ key, policies }) => keyData(key, policies))
      const { next } = found.value
      return allow({
        data: { keys, nextCursor: next && positionCursor(next) },
        summary: `${counted(keys.length, 'keys')}.`,
      })
    },
  })
}

/** The members of a change that may be given together. */
const CHANGES = ['label', 'scopes', 'policy'] as const

function changeKey(services: KeyServices): Operation {
  const { issuer, aliases, operationRules } = services
  return operation({
    ...common,
    id: 'keys.change',
    title: 'Change an API key',
    details: 'Its label, scopes or policy; or revokes it.',
    method: 'PATCH',
    paths: keyPaths('/{keyId}'),
    // Replaced policies stay stored with the key, so changes are limited like mints.
    limit: 'mint',
    scopes: ['keys.write'],
    unknownMembers: 'deny',
    body: ChangeBody,
    response: ChangedKey,
    example: { body: { policy: { maxAuthAmountCents: 5000 } }, response: examples.listedKey },
    denies: [404],
    async handle({ caller: authenticated, body, facts, params }) {
      const caller = callerOf(authenticated)
      const scopes = body.scopes && parseRequestedScopes('user', body.scopes, 'scopes', { aliases, facts })
      if (scopes && !scopes.ok) return scopes
      const policy = checkPolicy(body.policy, 'policy', operationRules)
      if (!policy.ok) return policy
      const keyId = params['keyId'] as string
      if (CHANGES.every(name => body[name] === undefined) && body.revoke !== true) {
        return deny('invalid_request', 'label, scopes, policy or revoke: true is required', {
          field: 'scopes',
        })
      }
      if (body.revoke === true) return revoke(services, authenticated, keyId)
      const change = {
        ...(scopes ? { scopes: scopes.value.scopes } : {}),
        ...policy.value,
        ...(body.label === undefined ? {} : { label: body.label }),
      }
      const isRenamed = body.scopes === undefined && policy.value.policy === undefined
      const summary = isRenamed
        ? 'The label of the key is changed.'
        : 'The key is changed; its sessions have ended.'
      return keyResponse(services, await issuer.changeKey(caller, keyId, change), summary)
    },
  })
}

const rotatesOnlyItself = deny(
  'insufficient_scope',
  'to rotate another key than itself, a key needs the scope keys.write',
  { details: { scope: 'keys.write' } },
)

function rotateKey({ issuer, db, webTokens }: Pick<KeyServices, 'issuer' | 'db' | 'webTokens'>): Operation {
  return operation({
    ...common,
    id: 'keys.rotate',
    title: 'Rotate an API key',
    details:
      'Replaces it by a successor; the old one works until the overlap ends. With a web token any key of the wallet.',
    method: 'POST',
    paths: keyPaths('/{keyId}/rotate'),
    credential: 'user-key-web-token-or-session',
    limit: 'mint',
    scopes: ['keys.write'],
    unknownMembers: 'deny',
    body: RotateBody,
    response: NewKey,
    example: { body: { overlapSeconds: 86_400 }, response: examples.newKey },
    denies: [404],
    async handle({ caller, body, params }) {
      const rotation = body.overlapSeconds === undefined ? {} : { overlapSeconds: body.overlapSeconds }
      const keyId = params['keyId'] as string
      const { accountId } = 'webSession' in caller ? caller.webSession : callerOf(caller)
      const open = await denyFrozen(db, { accountId, surface: 'user' })
      if (!open.ok) return open
      if (!('webSession' in caller)) {
        // The guard has checked the scope of a session. A presented key needs a scope only to rotate another key.
        if (!('session' in caller) && caller.id !== keyId && !caller.scopes.includes('keys.write'))
          return rotatesOnlyItself
        return newKeyResponse(await issuer.rotateKey(callerOf(caller), keyId, rotation), [])
      }
      const { webSession } = caller
      const first = await webTokens.claim(webSession, 'rotate a key')
      if (!first.ok) return first
      return newKeyResponse(await issuer.rotateKey({ walletOf: webSession.accountId }, keyId, rotation), [])
    },
  })
}

/** Responds with a new key and its secret text, which no later response contains. */
function newKeyResponse(
  created: Verdict<{ readonly key: ApiKey; readonly text: string }>,
  ignored: readonly string[],
): Verdict<Success> {
  if (!created.ok) return created
  const { label, walletAddress, userId, scopes } = created.value.key
  return allow({
    data: {
      ...newKeyData(created.value),
      label,
      walletAddress,
      userId,
      scopes,
      ...(ignored.length > 0 ? { ignoredScopes: ignored } : {}),
    },
    summary: 'Keep the key: it is shown only now.',
  })
}
