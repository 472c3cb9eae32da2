import { allow, type Verdict } from '@gatewright/kernel'
import type { ApiKey } from '@gatewright/session-issuer'
import * as Type from 'typebox/type'
import { deny } from '../../server/codes.ts'
import { callerOf, operation, type Operation, type Success } from '../../server/operation.ts'
import { checkedPolicy, grantable, keyFields, keyShape, requestedScopes } from '../credentials.ts'
import type { ModuleServices } from '../services.ts'
import { grantedScopes, ignoredScopes, named, Policy, textOrNull } from '../shapes.ts'
import * as examples from './examples.ts'
import { keyItem, keyPaths, KeyShape } from './fields.ts'

const NewKey = Type.Object(
  {
    ...keyShape,
    walletAddress: textOrNull('The wallet of the account, where it has one'),
    userId: textOrNull('The user that the key acts for'),
    scopes: grantedScopes,
    ignoredScopes,
  },
  named('NewApiKey', 'A new API key with its text, which is shown this once'),
)
const KeyList = Type.Object(
  { keys: Type.Array(KeyShape) },
  named('ApiKeyList', 'API keys, without their texts'),
)
const Rights = {
  scopes: Type.Optional(requestedScopes),
  policy: Type.Optional(Policy),
}
const CreateBody = Type.Object(
  Rights,
  named('CreateKeyRequest', 'What a new key may do; by default what the caller may'),
)
const ChangeBody = Type.Object(
  { ...Rights, revoke: Type.Optional(Type.Boolean({ description: '`true` revokes the key' })) },
  named('ChangeKeyRequest', 'What to change of a key: at least one member'),
)
const RotateBody = Type.Object(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        description: 'How long the old key works beside the new one',
      }),
    ),
  },
  named('RotateKeyRequest', 'How a key is replaced'),
)
const common = { surface: 'user', credential: 'session', topLevel: true } as const

/** Operations on API keys (contract section 4). What a caller may do to which key is the issuer's decision. */
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
    title: 'Make an API key below the calling one',
    method: 'POST',
    paths: keyPaths(''),
    scopes: ['keys.write'],
    body: CreateBody,
    answer: NewKey,
    example: {
      body: { scopes: ['subscriptions.write'], policy: { maxAuthAmountCents: 5000 } },
      answer: examples.newKey,
    },
    async handle({ caller: proven, body, facts }) {
      const caller = callerOf(proven)
      const scopes = grantable('user', body.scopes ?? caller.scopes, 'scopes', { aliases, facts })
      if (!scopes.ok) return scopes
      const policy = checkedPolicy(body.policy, 'policy')
      if (!policy.ok) return policy
      const { accountId, userId, walletAddress } = caller
      const owner = { surface: 'user', accountId, userId, walletAddress } as const
      const request = { ...owner, parent: caller, scopes: scopes.value.scopes, ...policy.value }
      return shownOnce(await issuer.createKey(request), scopes.value.ignored)
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
      const keys = found.value.map(({ key, policies }) => keyItem(key, policies))
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
    answer: KeyShape,
    example: { body: { policy: { maxAuthAmountCents: 5000 } }, answer: examples.listedKey },
    refuses: [404],
    async handle({ caller: proven, body, facts, params }) {
      const caller = callerOf(proven)
      const scopes = body.scopes && grantable('user', body.scopes, 'scopes', { aliases, facts })
      if (scopes && !scopes.ok) return scopes
      const policy = checkedPolicy(body.policy, 'policy')
      if (!policy.ok) return policy
      const keyId = params['keyId'] as string
      if (body.scopes === undefined && body.policy === undefined && body.revoke !== true) {
        return deny('invalid_request', 'scopes, policy or revoke: true is required', { field: 'scopes' })
      }
      if (body.revoke === true) return shown(services, await issuer.revokeKey(caller, keyId))
      const change = { ...(scopes ? { scopes: scopes.value.scopes } : {}), ...policy.value }
      return shown(services, await issuer.changeKey(caller, keyId, change))
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
      return shownOnce(await issuer.rotateKey(callerOf(caller), params['keyId'] as string, rotation), [])
    },
  })
}

function revokeKey(services: ModuleServices): Operation {
  return operation({
    ...common,
    id: 'keys.revoke',
    title: 'Revoke a key and end its sessions',
    method: 'DELETE',
    paths: keyPaths('/{keyId}'),
    scopes: ['keys.write'],
    answer: KeyShape,
    example: { answer: examples.revokedKey },
    refuses: [404],
    handle: async ({ caller, params }) =>
      shown(services, await services.issuer.revokeKey(callerOf(caller), params['keyId'] as string)),
  })
}

/** A new key with its text, which is nowhere else. */
function shownOnce(
  created: Verdict<{ readonly key: ApiKey; readonly text: string }>,
  ignored: readonly string[],
): Verdict<Success> {
  if (!created.ok) return created
  const { walletAddress, userId, scopes } = created.value.key
  return allow({
    data: {
      ...{ ...keyFields(created.value), walletAddress, userId, scopes },
      ...(ignored.length > 0 ? { ignoredScopes: ignored } : {}),
    },
    summary: 'Keep the key: it is shown this once.',
  })
}

async function shown({ issuer }: ModuleServices, changed: Verdict<ApiKey>): Promise<Verdict<Success>> {
  if (!changed.ok) return changed
  const key = changed.value
  const policies = await issuer.policies(key.policyIds.slice(key.inheritedPolicies))
  const summary =
    key.revokedAt === null ? 'The key is changed; its sessions have ended.' : 'The key is revoked.'
  return allow({ data: keyItem(key, policies), summary })
}
