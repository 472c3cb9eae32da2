import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { component } from '@gatewright/host/schemas'
import { type HostServices, type Operation, operation } from '@gatewright/host'
import { callerOf, keySession, counted } from '@gatewright/host/internal'
import { deny } from '../../product/denials.ts'
import { Cap, capData, exampleCap, MAX_CAPS } from '../identity/operations.ts'
import { keyPaths } from './fields.ts'

const KeyCap = Type.Object(
  {
    ...Cap.properties,
    inherited: Type.Boolean({
      description: 'Whether the cap is that of a key above, which all keys below it share',
    }),
  },
  component('KeyCap', 'A cap on a key, and how much of it is used'),
)
const ResponseData = Type.Object(
  {
    caps: Type.Array(KeyCap, {
      maxItems: MAX_CAPS,
      description: 'Every cap of its policies, inherited ones included',
    }),
  },
  component('KeyCaps', 'The caps of a key, and how much of each is used'),
)

/** `GET /user/v1/keys/{keyId}/caps`: reads the caps of a key that the caller may list. Reads the counters and changes nothing. */
export function readKeyCaps({ issuer, guard }: Pick<HostServices, 'issuer' | 'guard'>): Operation {
  return operation({
    id: 'keys.caps',
    title: 'List the caps of a key',
    details: 'With how much of each is used.',
    resource: { name: 'limits', arguments: ({ keyId }) => ({ keyId }) },
    surface: 'user',
    method: 'GET',
    credential: 'session',
    topLevel: true,
    paths: keyPaths('/{keyId}/caps'),
    scopes: ['keys.read'],
    response: ResponseData,
    example: { response: { caps: [{ ...exampleCap, inherited: false }] } },
    denies: [404],
    async handle({ caller, params }) {
      const visible = await issuer.visibleKeys(callerOf(caller))
      if (!visible.ok) return visible
      const key = visible.value.find(({ id }) => id === params['keyId'])
      if (!key) return deny('not_found', 'No key has this id.')
      const above = new Set(key.policyIds.slice(0, key.inheritedPolicies))
      const caps = (await guard.caps(keySession(key))).map(cap => ({
        ...capData(cap),
        inherited: above.has(cap.policyId),
      }))
      return allow({ data: { caps }, summary: `${counted(caps.length, 'caps')}.` })
    },
  })
}
