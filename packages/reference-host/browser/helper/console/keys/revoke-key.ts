import type { Reply } from '../../../shared/api.ts'
import { counted } from '../../../shared/counted.ts'
import { ask } from '../../../shared/dialog.ts'
import { el, fill, type Child } from '../../../shared/dom.ts'
import { announce } from '../../../shared/live.ts'
import { fromNow } from '../../../shared/time.ts'
import type { ConsoleContext } from '../context.ts'
import type { KeyAction } from './key-actions.ts'
import { keysBelow } from './key-tree.ts'
import { keyName } from './key-words.ts'
import { notDone, problemNote } from '../states.ts'
import { isLive, type Key, type Session } from '../wire.ts'

/**
 * Revokes a key after a person has confirmed it. The dialog says what depends on the key. For a root, whose end can end many
 * others, the person types its name.
 */
export async function revokeKey(
  context: ConsoleContext,
  key: Key,
  { keys, problemBox, reload }: KeyAction,
): Promise<void> {
  const isRoot = key.parentLineageId === null
  const typed = isRoot ? nameField(typedName(key)) : undefined
  const below = keysBelow(key, keys).filter(each => isLive(each))
  const yes = await ask({
    title: `Revoke ${keyName(key)}?`,
    body: [
      el(
        'p',
        {},
        'Programs with this key, and keys below it, stop working at once. Cards that it made stay. This cannot be undone.',
      ),
      el(
        'ul',
        { class: 'depends' },
        el('li', {}, await sessionWords(context, [key, ...below])),
        el('li', {}, `${counted(below.length, 'key')} below it${namesOf(below)}`),
        el('li', {}, key.lastUsedAt === null ? 'Never used' : `Last used ${fromNow(key.lastUsedAt)}`),
      ),
      typed?.element,
    ],
    confirm: 'Revoke key',
    danger: true,
    ...(typed ? { check: typed.check } : {}),
  })
  if (!yes) return undefined
  const reply = await context.call(`/keys/${key.id}`, { method: 'DELETE' })
  if (!reply.ok) return fill(problemBox, problemNote(notDone('key', 'ended', reply.problem), reply.problem))
  announce('The key is revoked.')
  return reload()
}

/** How many names of keys below a sentence lists. */
const NAMED = 5

function namesOf(below: readonly Key[]): string {
  if (below.length === 0) return ''
  const rest = below.length > NAMED ? ', …' : ''
  return `: ${below.slice(0, NAMED).map(keyName).join(', ')}${rest}`
}

/** Says how many sessions of the keys are live. Only the first page of sessions is read. */
async function sessionWords({ call }: ConsoleContext, keys: readonly Key[]): Promise<string> {
  const page: Reply<{ sessions: readonly Session[]; nextCursor: string | null }> =
    await call('/sessions?limit=100')
  if (!page.ok) return 'Its live sessions cannot be counted now'
  const { sessions, nextCursor } = page.data
  const count = sessions.filter(({ keyId }) => keys.some(({ id }) => id === keyId)).length
  return nextCursor === null ? counted(count, 'live session') : `At least ${counted(count, 'live session')}`
}

/** What a person types to revoke a root: its label, or the last characters of its id. */
const typedName = ({ label, id }: Key): string => label ?? id.slice(-6)

/** A text as a page shows it, where several spaces are one. */
const shownText = (text: string): string => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim()

function nameField(name: string): { readonly element: Child; check(): boolean } {
  const input = el('input', {
    class: 'input',
    id: 'revoke-name',
    autocomplete: 'off',
    spellcheck: false,
    'aria-describedby': 'revoke-wrong',
  })
  const wrong = el('p', { class: 'wrong', id: 'revoke-wrong' })
  const element = el(
    'div',
    { class: 'field' },
    el('label', { for: 'revoke-name' }, 'Type ', el('strong', {}, name), ' to revoke it'),
    input,
    wrong,
  )
  return {
    element,
    check() {
      const isSame = shownText(input.value) === shownText(name)
      wrong.textContent = isSame ? '' : 'This is not its name.'
      input.setAttribute('aria-invalid', String(!isSame))
      if (!isSame) input.focus()
      return isSame
    },
  }
}
