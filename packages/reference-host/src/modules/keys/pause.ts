import type { HostServices, Operation } from '@gatewright/host'
import { operation } from '@gatewright/host'
import { callerOf } from '@gatewright/host/internal'
import * as examples from './examples.ts'
import { ChangedKey } from './fields.ts'
import { keyResponse } from './revoke.ts'

const common = {
  surface: 'user',
  credential: 'session',
  topLevel: true,
  method: 'POST',
  scopes: ['keys.write'],
  unknownMembers: 'deny',
  response: ChangedKey,
  denies: [404],
} as const

/** `keys.pause` and `keys.resume`: stop a key for a while, with its sessions, the keys below it and the cards that they made. */
export function pauseOperations({ issuer }: Pick<HostServices, 'issuer'>): Operation[] {
  return [
    operation({
      ...common,
      id: 'keys.pause',
      title: 'Pause an API key',
      details:
        'Its sessions end. Until it is resumed, it and the keys below it are denied with the rule `key_paused`, and cards that they made pay nothing.',
      limit: 'ending',
      paths: ['/user/v1/keys/{keyId}/pause'],
      example: { response: examples.pausedKey },
      handle: async ({ caller, params }) =>
        keyResponse(
          { issuer },
          await issuer.pauseKey(callerOf(caller), keyIdOf(params)),
          'The key is paused.',
        ),
    }),
    operation({
      ...common,
      id: 'keys.resume',
      title: 'Resume a paused API key',
      details:
        'It works as before; its clients mint new sessions. Only an operator resumes what an operator paused.',
      paths: ['/user/v1/keys/{keyId}/resume'],
      example: { response: examples.listedKey },
      handle: async ({ caller, params }) =>
        keyResponse(
          { issuer },
          await issuer.resumeKey(callerOf(caller), keyIdOf(params)),
          'The key works again.',
        ),
    }),
  ]
}

const keyIdOf = (params: Readonly<Record<string, string>>): string => params['keyId'] as string
