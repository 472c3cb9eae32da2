import type { HostServices } from '@gatewright/host'
import type { Command, CommandOutput } from '@gatewright/host/cli'
import { unwrap } from '@gatewright/host/internal'
import type { ApiKey } from '@gatewright/session-issuer'

type PauseServices = Pick<HostServices, 'issuer'>

/** Stops a key until it is resumed, by an operator only. */
export const pauseCommand: Command<PauseServices> = {
  name: 'keys pause',
  takes: ['KEY_ID'],
  summary: 'Pause any API key: it, keys below it and their cards do nothing until it is resumed',
  example: '4fJ2sVbXq81TzKpL',
  confirm: 'Its sessions end at once. npx gatewright keys resume undoes it.',
  run: async ({ issuer }, { positional: [keyId = ''] }) =>
    outputOf(
      unwrap(await issuer.pauseKey('operator', keyId)),
      'is paused; its sessions end within a second.',
    ),
}

/** Ends the pause of a key, whoever paused it. */
export const resumeCommand: Command<PauseServices> = {
  name: 'keys resume',
  takes: ['KEY_ID'],
  summary: 'Let a paused API key work again',
  example: '4fJ2sVbXq81TzKpL',
  confirm: 'Whoever has its text can use it again.',
  run: async ({ issuer }, { positional: [keyId = ''] }) =>
    outputOf(
      unwrap(await issuer.resumeKey('operator', keyId)),
      'works again; its clients mint new sessions.',
    ),
}

function outputOf({ id, label, pauses }: ApiKey, words: string): CommandOutput {
  const name = label === null ? id : `${id} (${label})`
  return { data: { keyId: id, label, paused: pauses.length > 0 }, lines: [`${name} ${words}`] }
}
