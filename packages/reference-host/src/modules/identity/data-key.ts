import * as Type from 'typebox/type'
import { component } from '@gatewright/host/schemas'
import { type Operation, operation } from '@gatewright/host'
import { deny } from '../../product/denials.ts'

const OF_SURFACE = {
  user: {
    path: '/user/v1/identity/data-key',
    scope: 'identity.read',
    instead: '/user/v1/crypto/encrypt and /decrypt',
  },
  partner: {
    path: '/partner/v1/encryption/data-key',
    scope: 'encryption.read',
    instead: '/partner/v1/encryption/encrypt and /decrypt',
  },
} as const

/** `GET /user/v1/identity/data-key` and its partner counterpart: always denied. It exists because existing clients call it. */
export function denyDataKey(): Operation[] {
  return (['user', 'partner'] as const).map(surface => {
    const { path, scope, instead } = OF_SURFACE[surface]
    return operation({
      id: 'identity.dataKey',
      personOnly: true,
      title: 'Get the data key',
      details: 'Always denied: the data key never leaves the host.',
      surface,
      method: 'GET',
      paths: [path],
      credential: 'session',
      scopes: [scope],
      response: Type.Object({}, component('NoDataKey', 'There is no such response: every request is denied')),
      example: { response: {} },
      handle: async () =>
        deny('policy_blocked', `the data key never leaves the host: use ${instead}`, {
          details: { rule: 'data_key_never_leaves' },
        }),
    })
  })
}
