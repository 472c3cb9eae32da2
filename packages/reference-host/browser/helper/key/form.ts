import { el, whileSending } from '../../shared/dom.ts'
import { readHost } from '../../shared/host.ts'
import { announce } from '../../shared/live.ts'
import { show } from '../screen.ts'
import { capFields, type Caps } from './caps.ts'
import { readScopes, scopeBoxes, type ScopeChoice } from './scopes.ts'

/** The values of the form for a new key. */
export interface KeyFormValues {
  /** What people call the key; empty for no name. */
  readonly label: string
  readonly choice: ScopeChoice
  readonly scopes: readonly string[]
  readonly caps: Caps
}

/** The initial values of the form: a key that can only read. */
export const INITIAL_VALUES: KeyFormValues = { label: '', choice: 'read', scopes: [], caps: {} }

const CHOICES: readonly (readonly [choice: ScopeChoice, label: string])[] = [
  ['read', 'Read only: it sees everything but card numbers, and changes nothing.'],
  ['all', 'Everything that you may do, up to the limits below.'],
  ['some', 'Choose one by one.'],
]

/** Shows the form of a new key. `create` resolves once another screen is shown. */
export function showKeyForm(
  before: KeyFormValues,
  {
    create,
    cancel,
  }: { readonly create: (values: KeyFormValues) => Promise<unknown>; readonly cancel: () => void },
): void {
  const boxes = scopeBoxes(before.scopes)
  const caps = capFields(before.caps)
  const wrong = el('p', { class: 'wrong', id: 'scopes-wrong' })
  const radios = CHOICES.map(([value, label]) => {
    const radio = el('input', { type: 'radio', name: 'choice', value, checked: before.choice === value })
    return [radio, el('label', { class: 'choice' }, radio, el('span', {}, label))] as const
  })
  const choice = (): ScopeChoice => radios.find(([radio]) => radio.checked)?.[0].value as ScopeChoice
  const limits = el('fieldset', { class: 'form' }, el('legend', { class: 'label' }, 'At most'), caps.element)
  const arrange = (): void => {
    boxes.element.hidden = choice() !== 'some'
    limits.hidden = choice() === 'read'
  }
  for (const [radio] of radios) radio.addEventListener('change', arrange)
  arrange()
  const yes = el('button', { class: 'button primary' }, 'Create key')
  const no = el('button', { type: 'button', class: 'button' }, 'Cancel')
  no.addEventListener('click', cancel)
  const rights = el(
    'fieldset',
    { class: 'choices' },
    el('legend', { class: 'label' }, 'What may the key do?'),
  )
  rights.append(...radios.map(([, label]) => label), boxes.element, wrong)
  const name = el('input', { id: 'key-label', maxlength: 64, value: before.label, autocomplete: 'off' })
  const form = el(
    'form',
    { class: 'form', novalidate: true },
    el(
      'div',
      { class: 'field' },
      el('label', { class: 'label', for: 'key-label' }, 'Name, such as agent-shopping'),
      name,
    ),
    rights,
    limits,
    el('div', { class: 'buttons' }, yes, no),
  )
  form.addEventListener('submit', event => {
    event.preventDefault()
    const values = readValues(name.value, choice(), boxes.chosen(), caps.read)
    wrong.textContent = values === 'no scopes' ? 'Choose at least one.' : ''
    if (values === 'no scopes') boxes.element.querySelector('input')?.focus()
    if (typeof values === 'string') announce('The key was not created: see what is marked.')
    else whileSending(yes, create(values))
  })
  show({
    title: 'Create a key',
    wide: true,
    body: [el('p', {}, 'A key lets a program use your account. You can revoke it at any time.'), form],
  })
}

function readValues(
  name: string,
  choice: ScopeChoice,
  chosen: string[],
  readCaps: () => Caps | undefined,
): KeyFormValues | 'no scopes' | 'wrong cap' {
  const scopes = { all: [...readHost().scopes], read: readScopes(readHost().scopes), some: chosen }[choice]
  if (scopes.length === 0) return 'no scopes'
  const caps = choice === 'read' ? {} : readCaps()
  return caps === undefined ? 'wrong cap' : { label: name.trim().normalize('NFC'), choice, scopes, caps }
}
