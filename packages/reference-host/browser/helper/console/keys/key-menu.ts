import { button, type Child } from '../../../shared/dom.ts'
import { keyName } from '../all-keys.ts'
import type { ConsoleContext } from '../context.ts'
import { renameKey, rotateKey, type KeyAction } from './key-actions.ts'
import { pauseKey, pauseOf, resumeKey } from './pause-key.ts'
import { revokeKey } from './revoke-key.ts'
import { rowMenu, type MenuItem } from '../row-menu.ts'
import { tightenKey } from './tighten-key.ts'
import { isLive, type Key } from '../wire.ts'

/** What a person can do to a key. A key that has expired can still be revoked: the clock of this browser may be ahead. */
function actionsOf(context: ConsoleContext, key: Key, action: KeyAction): MenuItem[] {
  if (key.revokedAt !== null) return []
  const live: MenuItem[] = [
    { label: 'Rename', press: () => renameKey(context, key, action) },
    { label: 'Tighten limits', press: () => tightenKey(context, key, action) },
    { label: 'Rotate', press: () => rotateKey(context, key) },
    ...pauseItem(context, key, action),
  ]
  const revoke = { label: 'Revoke', press: () => revokeKey(context, key, action), danger: true }
  return isLive(key) ? [...live, revoke] : [revoke]
}

/** Pause or Resume. None while an operator's pause holds: only an operator ends it. */
function pauseItem(context: ConsoleContext, key: Key, action: KeyAction): MenuItem[] {
  const pause = pauseOf(key)
  if (pause === undefined) return [{ label: 'Pause', press: () => pauseKey(context, key, action) }]
  return pause.by === 'owner' ? [{ label: 'Resume', press: () => resumeKey(context, key, action) }] : []
}

/** Makes the menu of a key in the table. */
export function keyMenu(context: ConsoleContext, key: Key, action: KeyAction): Child {
  const view = { label: 'View', press: () => context.open('keys', key.id) }
  return rowMenu(`key ${keyName(key)}`, [view, ...actionsOf(context, key, action)])
}

/** Makes the buttons of a key in its drawer. */
export function keyButtons(context: ConsoleContext, key: Key, action: KeyAction): Child[] {
  return actionsOf(context, key, action).map(({ label, press, danger }) =>
    button(label, press, danger ? 'danger small' : 'small'),
  )
}
