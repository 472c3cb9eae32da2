import { el, whileSending, type Child } from '../../shared/dom.ts'
import { readHost } from '../../shared/host.ts'
import { announce } from '../../shared/live.ts'
import { addressField } from './addresses.ts'
import { expiryField } from './expiry.ts'
import { payingFields } from './paying-fields.ts'
import { keyPreview, type KeyRequest } from './preview.ts'
import { scopeBoxes } from './scopes.ts'
import type { Policy } from './sentence.ts'
import { TEMPLATES, type Template } from './templates.ts'

/** What the form calls. `create` resolves once another screen is shown. */
interface FormActions {
  readonly create: (request: KeyRequest) => Promise<unknown>
  readonly cancel: () => void
}

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

/** Makes the form of a new key. It keeps what was typed, so that it can be shown again. */
export function keyForm({ create, cancel }: FormActions): HTMLElement {
  const { scopes: all } = readHost()
  const name = el('input', {
    class: 'input',
    id: 'key-label',
    maxlength: 64,
    autocomplete: 'off',
  })
  const templates = templateCards()
  const boxes = scopeBoxes(all)
  const scopesWrong = el('p', { class: 'wrong', id: 'scopes-wrong' })
  const limits = payingFields()
  const expiry = expiryField()
  const addresses = addressField()
  const preview = keyPreview(all)

  const custom = el('div', {}, boxes.element, scopesWrong)
  const limitsPart = el(
    'fieldset',
    { class: 'form' },
    el('legend', { class: 'label' }, 'At most'),
    limits.element,
  )
  const scopesOf = (): readonly string[] => {
    const template = templates.chosen()
    return template.id === 'custom' ? boxes.chosen() : template.scopes(all)
  }
  /** What a key without a typed name is called, so that lists can name it. */
  const proposedName = (): string => `${templates.chosen().name} ${day.format(Date.now())}`
  const hasLimits = (): boolean => templates.chosen().id !== 'read'
  /** Makes the request. Undefined while a field is wrong: what restricts the key is never left out. */
  const requestOf = (limitPolicy: Policy | undefined): KeyRequest | undefined => {
    const [allowedIps, expiresAt] = [addresses.read(), expiry.read()]
    if (!limitPolicy || !allowedIps || expiresAt === undefined) return undefined
    const policy = {
      ...limitPolicy,
      ...(allowedIps.length > 0 ? { allowedIps } : {}),
    }
    return {
      label: name.value.trim().normalize('NFC') || proposedName(),
      scopes: scopesOf(),
      ...(Object.keys(policy).length > 0 ? { policy } : {}),
      ...(expiresAt ? { expiresAt } : {}),
    }
  }
  const update = (): void => preview.show(requestOf(hasLimits() ? limits.peek() : {}))
  const chooseTemplate = (): void => {
    const { id, proposes } = templates.chosen()
    custom.hidden = id !== 'custom'
    name.placeholder = proposedName()
    limitsPart.hidden = !hasLimits()
    limits.propose(proposes ?? {})
    update()
  }
  templates.element.addEventListener('change', chooseTemplate)

  const readRequest = (): KeyRequest | undefined => {
    const noScopes = scopesOf().length === 0
    scopesWrong.textContent = noScopes ? 'Choose at least one.' : ''
    if (noScopes) boxes.element.querySelector('input')?.focus()
    const limitPolicy = hasLimits() ? limits.read() : {}
    // The fields check themselves in the order of the form, so that the first wrong one has the focus.
    const isRight = !noScopes && limitPolicy !== undefined && expiry.check() && addresses.check()
    return isRight ? requestOf(limitPolicy) : undefined
  }

  const yes = el('button', { class: 'button primary' }, 'Create key')
  const no = el('button', { type: 'button', class: 'button' }, 'Cancel')
  no.addEventListener('click', cancel)
  const fields: Child[] = [
    el('div', { class: 'field' }, el('label', { for: 'key-label' }, 'Name'), name),
    templates.element,
    custom,
    limitsPart,
    expiry.element,
    addresses.element,
  ]
  const form = el(
    'form',
    { class: 'key-form', novalidate: true },
    el('div', { class: 'form' }, ...fields),
    preview.element,
    el('div', { class: 'buttons' }, yes, no),
  )
  form.addEventListener('input', update)
  form.addEventListener('submit', event => {
    event.preventDefault()
    const request = readRequest()
    if (request) whileSending(yes, create(request))
    else announce('The key was not created: see what is marked.')
  })
  chooseTemplate()
  return form
}

/** Makes the choice of a template. */
function templateCards(): { readonly element: HTMLElement; chosen(): Template } {
  const cards = TEMPLATES.map((template, place) => {
    const radio = el('input', { type: 'radio', name: 'template', value: template.id, checked: place === 0 })
    const text = el(
      'span',
      {},
      el('strong', {}, template.name),
      el('span', { class: 'muted small' }, template.text),
    )
    return { template, radio, label: el('label', { class: 'template' }, radio, text) }
  })
  return {
    element: el(
      'fieldset',
      { class: 'templates' },
      el('legend', { class: 'label' }, 'What may it do?'),
      ...cards.map(({ label }) => label),
    ),
    chosen: () => cards.find(({ radio }) => radio.checked)?.template ?? (TEMPLATES[0] as Template),
  }
}
