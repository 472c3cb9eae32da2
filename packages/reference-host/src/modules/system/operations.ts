import { allow } from '@gatewright/kernel'
import Type from 'typebox'
import { operation, type Operation } from '../../server/operation.ts'
import type { ModuleServices } from '../services.ts'

/** `GET /.well-known/jwks.json`: the keys that verify session tokens. */
export function jwks({ issuer }: ModuleServices): Operation {
  return operation({
    id: 'system.jwks',
    title: 'The keys that verify session tokens',
    surface: 'public',
    method: 'GET',
    paths: ['/.well-known/jwks.json'],
    document: true,
    answer: Type.Object({ keys: Type.Array(Type.Object({ kid: Type.String(), kty: Type.String() })) }),
    credential: 'none',
    async handle() {
      const { keys, headers } = await issuer.jwks()
      return allow({ document: { keys }, headers })
    },
  })
}

/** `GET /healthz`: the process answers. It asks no dependency, so an outage elsewhere restarts nothing. */
export function healthz(): Operation {
  return operation({
    id: 'system.healthz',
    title: 'The process answers',
    surface: 'public',
    method: 'GET',
    paths: ['/healthz'],
    document: true,
    answer: Type.Object({ status: Type.Enum(['ok']) }),
    credential: 'none',
    handle: async () => allow({ document: { status: 'ok' }, headers: [['Cache-Control', 'no-store']] }),
  })
}
