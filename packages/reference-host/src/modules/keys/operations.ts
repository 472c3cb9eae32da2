import { allow, type Verdict } from '@gatewright/kernel'
import type { Access } from '@gatewright/scope-guard'
import type { ApiKey } from '@gatewright/session-issuer'
import * as Type from 'typebox/type'
import { deny } from '../../http/codes.ts'
import { callerOf, operation, type Operation, type Success } from '../../http/operation.ts'
import { component, Policy } from '../../schemas/fields.ts'
import { cancelCardsOf, lineagesBelow } from '../cards/cancel.ts'
import { checkPolicy, newKeyData, parseRequestedScopes, requestedScopes } from '../credential-fields.ts'
import type { ModuleServices } from '../services.ts'
import * as examples from './examples.ts'
import { keyData, keyPaths, KeySchema, NewKey } from './fields.ts'

const KeyList = Type.Object(
  { keys: Type.Array(KeySchema) },
  component('ApiKeyList', 'API keys, without their texts'),
)
const Rights = {
  scopes: Type.Optional(requestedScopes),
  policy: Type.Optional(Policy),
}
const CreateBody = Type.Object(
  Rights,
  component('CreateKeyRequest', 'What a new key may do. Default: what the caller may do'),
)
const ChangeBody = Type.Object(
  { ...Rights, revoke: Type.Optional(Type.Boolean({ description: '`true` revokes the key' })) },
  component('ChangeKeyRequest', 'What to change of a key: at least one member'),
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

/** Operations on API keys (contract section 4). The issuer decides what a caller may do to which key. */
export function keyOperations(services: ModuleServices): Operation[] {
  return [
    createKey(services),
    listKeys(services),
    changeKey(services),
    rotateKey(services),
    revokeKey(services),
  ]
}

function createKey({ issuer, aliases }: ModuleServices): Operation {
  return operation({
    ...common,
    id: 'keys.create',
    title: 'Create an API key below the calling one',
    method: 'POST',
    paths: keyPaths(''),
    scopes: ['keys.write'],
    body: CreateBody,
    answer: NewKey,
    example: {
      body: { scopes: ['subscriptions.write'], policy: { maxAuthAmountCents: 5000 } },
      answer: examples.newKey,
    },
    async handle({ caller: authenticated, body, facts }) {
      const caller = callerOf(authenticated)
      const scopes = parseRequestedScopes('user', body.scopes ?? caller.scopes, 'scopes', { aliases, facts })
      if (!scopes.ok) return scopes
      const policy = checkPolicy(body.policy, 'policy')
      if (!policy.ok) return policy
      const { accountId, userId, walletAddress } = caller
      const owner = { surface: 'user', accountId, userId, walletAddress } as const
      const request = { ...owner, parent: caller, scopes: scopes.value.scopes, ...policy.value }
      return newKeyAnswer(await issuer.createKey(request), scopes.value.ignored)
    },
  })
}

function listKeys({ issuer }: ModuleServices): Operation {
  return operation({
    ...common,
    id: 'keys.list',
    title: 'List the API keys that the caller may see',
    method: 'GET',
    paths: keyPaths(''),
    scopes: ['keys.read'],
    answer: KeyList,
    example: { answer: { keys: [examples.listedKey] } },
    async handle({ caller }) {
      const found = await issuer.listKeys(callerOf(caller))
      if (!found.ok) return found
      const keys = found.value.map(({ key, policies }) => keyData(key, policies))
      return allow({ data: { keys }, summary: `${keys.length} keys.` })
    },
  })
}

function changeKey(services: ModuleServices): Operation {
  const { issuer, aliases } = services
  return operation({
    ...common,
    id: 'keys.change',
    title: 'Change the scopes or policy of a key, or revoke it',
    method: 'PATCH',
    paths: keyPaths('/{keyId}'),
    scopes: ['keys.write'],
    body: ChangeBody,
    answer: KeySchema,
    example: { body: { policy: { maxAuthAmountCents: 5000 } }, answer: examples.listedKey },
    refuses: [404],
    async handle({ caller: authenticated, body, facts, params }) {
      const caller = callerOf(authenticated)
      const scopes = body.scopes && parseRequestedScopes('user', body.scopes, 'scopes', { aliases, facts })
      if (scopes && !scopes.ok) return scopes
      const policy = checkPolicy(body.policy, 'policy')
      if (!policy.ok) return policy
      const keyId = params['keyId'] as string
      if (body.scopes === undefined && body.policy === undefined && body.revoke !== true) {
        return deny('invalid_request', 'scopes, policy or revoke: true is required', { field: 'scopes' })
      }
      if (body.revoke === true) return keyAnswer(services, await issuer.revokeKey(caller, keyId))
      const change = { ...(scopes ? { scopes: scopes.value.scopes } : {}), ...policy.value }
      return keyAnswer(services, await issuer.changeKey(caller, keyId, change))
    },
  })
}

function rotateKey({ issuer }: ModuleServices): Operation {
  return operation({
    ...common,
    id: 'keys.rotate',
    title: 'Replace a key by a successor; the old one works until the overlap ends',
    method: 'POST',
    paths: keyPaths('/{keyId}/rotate'),
    credential: 'user-key-or-session',
    limit: 'mint',
    scopes: ['keys.write'],
    body: RotateBody,
    answer: NewKey,
    example: { body: { overlapSeconds: 86_400 }, answer: examples.newKey },
    refuses: [404],
    async handle({ caller, body, params }) {
      const rotation = body.overlapSeconds === undefined ? {} : { overlapSeconds: body.overlapSeconds }
      return newKeyAnswer(await issuer.rotateKey(callerOf(caller), params['keyId'] as string, rotation), [])
    },
  })
}

function revokeKey(services: ModuleServices): Operation {
  return operation({
    ...common,
    id: 'keys.revoke',
    title:
      'Revoke a key and end its sessions; cards=cancel also cancels the cards of it and of keys below it',
    method: 'DELETE',
    paths: keyPaths('/{keyId}'),
    scopes: ['keys.write'],
    query: Type.Object({
      cards: Type.Optional(
        Type.Literal('cancel', {
          description: 'Also cancels the cards that it made. Needs the scope `cards.write`',
        }),
      ),
    }),
    answer: KeySchema,
    example: { answer: examples.revokedKey },
    refuses: [404],
    async handle({ caller, params, facts }) {
      const keyId = params['keyId'] as string
      const cards = await cardsToCancel(services, caller, keyId, facts.query)
      if (!cards.ok) return cards
      const revoked = await services.issuer.revokeKey(callerOf(caller), keyId)
      if (revoked.ok) await cards.value()
      return keyAnswer(services, revoked)
    },
  })
}

/** Reads which cards a revocation cancels, because afterwards the caller may have ended. Returns what cancels them. */
async function cardsToCancel(
  { issuer, cards, clock, db }: ModuleServices,
  caller: Access,
  keyId: string,
  query: URLSearchParams,
): Promise<Verdict<() => Promise<unknown>>> {
  const given = query.getAll('cards')
  if (given.length === 0) return allow(async () => {})
  if (given.length > 1 || given[0] !== 'cancel')
    return deny('invalid_request', 'cards must be "cancel", once, or absent', { field: 'cards' })
  if (!caller.session.scopes.includes('cards.write'))
    return deny('insufficient_scope', 'cards=cancel needs the scope cards.write', { field: 'cards' })
  const listed = await issuer.listKeys(callerOf(caller))
  if (!listed.ok) return listed
  const lineages = lineagesBelow(
    listed.value.map(({ key }) => key),
    keyId,
  )
  return allow(() => cancelCardsOf(db, cards, lineages, { reason: 'user', now: clock.now() }))
}

/** Answers with a new key and its secret text, which no later answer contains. */
function newKeyAnswer(
  created: Verdict<{ readonly key: ApiKey; readonly text: string }>,
  ignored: readonly string[],
): Verdict<Success> {
  if (!created.ok) return created
  const { walletAddress, userId, scopes } = created.value.key
  return allow({
    data: {
      ...{ ...newKeyData(created.value), walletAddress, userId, scopes },
      ...(ignored.length > 0 ? { ignoredScopes: ignored } : {}),
    },
    summary: 'Keep the key: it is shown only now.',
  })
}

async function keyAnswer({ issuer }: ModuleServices, changed: Verdict<ApiKey>): Promise<Verdict<Success>> {
  if (!changed.ok) return changed
  const key = changed.value
  const policies = await issuer.policies(key.policyIds.slice(key.inheritedPolicies))
  const summary =
    key.revokedAt === null ? 'The key is changed; its sessions have ended.' : 'The key is revoked.'
  return allow({ data: keyData(key, policies), summary })
}
