import { call } from '../../../shared/api.ts'
import { ask } from '../../../shared/dialog.ts'
import { el, fill } from '../../../shared/dom.ts'
import { announce } from '../../../shared/live.ts'
import { showNewKey, type NewKey } from '../../key/new-key.ts'
import { showFailure } from '../../screen.ts'
import type { SignedIn } from '../../sign-in.ts'
import { keyName } from '../all-keys.ts'
import type { ConsoleContext } from '../context.ts'
import { notDone, problemNote } from '../states.ts'
import type { Key } from '../wire.ts'

/** What an action on a key works with. */
export interface KeyAction {
  /** All keys of the account. */
  readonly keys: readonly Key[]
  /** Where a problem is shown. */
  readonly problemBox: HTMLElement
  /** Shows the keys again after a change. */
  readonly reload: () => Promise<void>
}

const OVERLAPS = [
  [0, 'At once'],
  [3600, 'In an hour'],
  [86_400, 'In a day'],
  [604_800, 'In 7 days'],
] as const

/** Replaces a key by a successor with the same rights. The wallet signs, and the text of the successor is shown once. */
export async function rotateKey({ actions, show }: ConsoleContext, key: Key): Promise<void> {
  const radios = OVERLAPS.map(([seconds, label], place) => {
    const radio = el('input', { type: 'radio', name: 'overlap', value: seconds, checked: place === 0 })
    return [radio, el('label', { class: 'choice' }, radio, el('span', {}, label))] as const
  })
  const yes = await ask({
    title: `Rotate ${keyName(key)}?`,
    body: [
      el('p', {}, 'You get a new key with the same scopes and limits, for which your wallet signs.'),
      el(
        'fieldset',
        { class: 'choices' },
        el('legend', { class: 'label' }, 'When does the old one stop working?'),
        ...radios.map(([, label]) => label),
      ),
    ],
    confirm: 'Sign and rotate',
  })
  if (!yes) return undefined
  const overlapSeconds = Number(radios.find(([radio]) => radio.checked)?.[0].value ?? 0)
  const send = async ({ token, session }: SignedIn): Promise<void> => {
    const body = { overlapSeconds }
    const made = await call<NewKey>(`/user/v1/keys/${key.id}/rotate`, { body, token })
    if (made.ok) return showNewKey(made.data, session.address, ['Back to your account', show])
    showFailure({
      title: 'The key was not rotated',
      problem: made.problem,
      text: ['The old key works as before, unless the host did not respond: then rotate it again.'],
      actions: [['Back to your account', show]],
    })
  }
  await actions.signAgain(signedIn => void send(signedIn), show)
}

/** Changes what a key is called. Its sessions stay. */
export async function renameKey(
  context: ConsoleContext,
  key: Key,
  { problemBox, reload }: KeyAction,
): Promise<void> {
  const name = el('input', {
    class: 'input',
    id: 'key-label',
    maxlength: 64,
    value: key.label ?? '',
    autocomplete: 'off',
  })
  const yes = await ask({
    title: `Rename ${keyName(key)}`,
    body: [
      el('div', { class: 'field' }, el('label', { class: 'label', for: 'key-label' }, 'Name'), name),
      el('p', { class: 'muted small' }, 'Shown in lists, notifications and the audit log. Not a secret.'),
    ],
    confirm: 'Rename',
  })
  if (!yes) return undefined
  const label = name.value.trim().normalize('NFC')
  const reply = await context.call(`/keys/${key.id}`, { method: 'PATCH', body: { label: label || null } })
  if (!reply.ok) return fill(problemBox, problemNote(notDone('key', 'renamed', reply.problem), reply.problem))
  announce('The key is renamed.')
  return reload()
}
