import { ask } from '../../../shared/dialog.ts'
import { el, fill } from '../../../shared/dom.ts'
import { announce } from '../../../shared/live.ts'
import { keyName } from '../all-keys.ts'
import type { ConsoleContext } from '../context.ts'
import { notDone, problemNote } from '../states.ts'
import type { Key } from '../wire.ts'
import type { KeyAction } from './key-actions.ts'

/** Returns the pause of the key itself. Undefined: it is not paused, or only a key above it is. */
export function pauseOf({ lineageId, pauses }: Key): Key['pauses'][number] | undefined {
  return pauses.find(pause => pause.lineageId === lineageId)
}

/** Asks, and pauses a key: it, keys below it and the cards that they made do nothing until it is resumed. */
export function pauseKey(context: ConsoleContext, key: Key, action: KeyAction): Promise<void> {
  const text =
    'Its sessions end. It, keys below it and the cards that they made do nothing until you resume it.'
  return change(context, key, { action, text, verb: 'Pause', done: 'paused' })
}

/** Asks, and ends the pause of a key. It still does nothing while a key above it is paused. */
export function resumeKey(context: ConsoleContext, key: Key, action: KeyAction): Promise<void> {
  const text =
    key.pauses.length > 1
      ? 'A key above it is paused, too: it does nothing until that one is resumed.'
      : 'It, keys below it and the cards that they made work again. Programs need a new session.'
  return change(context, key, { action, text, verb: 'Resume', done: 'resumed' })
}

interface Change {
  readonly action: KeyAction
  readonly text: string
  readonly verb: 'Pause' | 'Resume'
  readonly done: 'paused' | 'resumed'
}

async function change(
  context: ConsoleContext,
  key: Key,
  { action, text, verb, done }: Change,
): Promise<void> {
  const title = `${verb} ${keyName(key)}?`
  if (!(await ask({ title, body: [el('p', {}, text)], confirm: verb }))) return undefined
  const reply = await context.call(`/keys/${key.id}/${verb.toLowerCase()}`, { method: 'POST', body: {} })
  if (!reply.ok)
    return fill(action.problemBox, problemNote(notDone('key', done, reply.problem), reply.problem))
  announce(`The key is ${done}.`)
  return action.reload()
}
