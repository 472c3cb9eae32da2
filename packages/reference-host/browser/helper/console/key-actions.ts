import { call } from '../../shared/api.ts'
import { ask } from '../../shared/dialog.ts'
import { el, fill, type Child } from '../../shared/dom.ts'
import { announce } from '../../shared/live.ts'
import { capFields } from '../key/caps.ts'
import { showNewKey, type NewKey } from '../key/new-key.ts'
import { showFailure } from '../screen.ts'
import type { SignedIn } from '../sign-in.ts'
import type { ConsoleContext } from './context.ts'
import { keyName } from './key-words.ts'
import { notDone, problemNote } from './states.ts'
import type { Key } from './wire.ts'

type Reload = () => Promise<void>

/** Revokes a key, or ends a console, after a second press. */
export async function revokeKey(
  context: ConsoleContext,
  key: Key,
  problemBox: HTMLElement,
  reload: Reload,
): Promise<void> {
  const name = key.console ? 'console' : 'key'
  const yes = await ask({
    title: key.console ? 'End this console?' : `Revoke ${keyName(key)}?`,
    body: [
      el(
        'p',
        {},
        key.console
          ? 'Its page stops working, and asks for a new signature.'
          : 'Programs with this key, and keys below it, stop working at once. Cards that it made stay. This cannot be undone.',
      ),
    ],
    confirm: key.console ? 'End console' : 'Revoke key',
    danger: !key.console,
  })
  if (!yes) return undefined
  const reply = await context.call(`/keys/${key.id}`, { method: 'DELETE' })
  if (!reply.ok) return fill(problemBox, problemNote(notDone(name, 'ended', reply.problem), reply.problem))
  announce(key.console ? 'The console has ended.' : 'The key is revoked.')
  return reload()
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
  problemBox: HTMLElement,
  reload: Reload,
): Promise<void> {
  const name = el('input', { id: 'key-label', maxlength: 64, value: key.label ?? '', autocomplete: 'off' })
  const yes = await ask({
    title: `Rename ${keyName(key)}`,
    body: [
      el('div', { class: 'field' }, el('label', { class: 'label', for: 'key-label' }, 'Name'), name),
      el('p', { class: 'muted small' }, 'Shown in lists and in the audit log. Not a secret.'),
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

/** Removes scopes from a key, or adds a limit to it. It needs no signature, because it only takes rights away. */
export async function narrowKey(
  context: ConsoleContext,
  key: Key,
  problemBox: HTMLElement,
  reload: Reload,
): Promise<void> {
  const boxes = key.scopes.map(scope => el('input', { type: 'checkbox', value: scope, checked: true }))
  const caps = capFields({})
  const yes = await ask({
    title: `Tighten ${keyName(key)}`,
    body: [
      el('p', {}, 'You can remove rights or lower limits. Active sessions end now.'),
      scopeChoices(key, boxes),
      el('fieldset', { class: 'form' }, el('legend', { class: 'label' }, 'One more limit'), caps.element),
    ],
    confirm: 'Tighten key',
    check: () => caps.read() !== undefined,
  })
  if (!yes) return undefined
  const scopes = boxes.filter(({ checked }) => checked).map(({ value }) => value)
  const policy = caps.read() ?? {}
  const change = {
    ...(scopes.length < key.scopes.length ? { scopes } : {}),
    ...(Object.keys(policy).length > 0 ? { policy } : {}),
  }
  if (Object.keys(change).length === 0) return undefined
  const reply = await context.call(`/keys/${key.id}`, { method: 'PATCH', body: change })
  if (!reply.ok) return fill(problemBox, problemNote(notDone('key', 'changed', reply.problem), reply.problem))
  announce('The key is tightened.')
  return reload()
}

function scopeChoices({ scopes }: Key, boxes: readonly HTMLElement[]): Child {
  return el(
    'details',
    {},
    el('summary', {}, `Scopes that it keeps (${scopes.length} now)`),
    el(
      'div',
      { class: 'scope-list' },
      ...scopes.map((scope, place) =>
        el('label', { class: 'choice' }, boxes[place] as HTMLElement, el('span', { class: 'mono' }, scope)),
      ),
    ),
  )
}
