import { button, el, type Child } from '../../shared/dom.ts'
import type { ConsoleContext } from './context.ts'
import { keyName, readAllKeys } from './all-keys.ts'

/** The values of a choice, with their words. */
export type Choices = readonly (readonly [value: string, word: string])[]

/** A filter: a box to search, a day, a choice of values, or a key of the account. */
type Filter = {
  /** Its name in addresses and requests. */
  readonly name: string
  readonly label: string
} & (
  | {
      readonly kind: 'search'
      readonly hint: string
      /** What to do with a text that is no filter, such as an id whose drawer it opens. The box becomes empty then. */
      readonly opens?: (text: string) => (() => void) | undefined
    }
  | { readonly kind: 'day' | 'key' }
  | {
      readonly kind: 'choice'
      readonly choices: Choices
      /** The word for no choice. Default `Any`. */
      readonly any?: string
    }
)

/** What differs between the filter bars of lists. */
interface FilterRule {
  /** Names the things in sentences: "transactions". */
  readonly what: string
  readonly filters: readonly Filter[]
  /** Filters that links set, such as those of one card, with the words for what they choose. They have no control. */
  readonly linked?: Readonly<Record<string, string>>
  /** Shows the list of the chosen filters. Called at once, and after each change. */
  show(query: URLSearchParams): void
}

/** The filters above a list. */
export interface FilterBar {
  readonly elements: readonly Child[]
  /** Adds values to a choice, except those that it has. */
  add(name: string, choices: Choices): void
}

/** Makes the filters above a list. They are kept in the address of the page. */
export function filterBar(
  context: ConsoleContext,
  { what, filters, linked = {}, show }: FilterRule,
): FilterBar {
  const controls = new Map<string, HTMLInputElement | HTMLSelectElement>()
  const names = [...filters.map(({ name }) => name), ...Object.keys(linked)]
  const clear = button('Clear filters', () => set({}), 'small')
  const chosenBy = el('p', { class: 'muted small' })

  /** What is shown. A browser reports a text with Enter twice, as a change and as a submission. */
  let shown: string | undefined

  const apply = (): void => {
    const query = queryOf(context, names)
    clear.hidden = query.size === 0
    chosenBy.textContent = Object.entries(linked)
      .flatMap(([name, words]) => (query.has(name) ? words : []))
      .join(' ')
    chosenBy.hidden = chosenBy.textContent === ''
    show(query)
  }
  const set = (chosen: Readonly<Record<string, string>>): void => {
    shown = new URLSearchParams(chosen).toString()
    context.setFilters(chosen)
    for (const [name, control] of controls) control.value = chosen[name] ?? ''
    apply()
  }
  const changed = (): void => {
    let open: (() => void) | undefined
    for (const filter of filters) {
      const control = controls.get(filter.name)
      if (!control || filter.kind !== 'search') continue
      open = filter.opens?.(control.value.trim())
      if (open) control.value = ''
    }
    const kept = Object.keys(linked).map(name => [name, context.filters().get(name) ?? ''] as const)
    const chosen = [...controls].map(([name, control]) => [name, control.value.trim()] as const)
    const next = Object.fromEntries([...kept, ...chosen].filter(([, value]) => value !== ''))
    if (new URLSearchParams(next).toString() !== shown) set(next)
    open?.()
  }
  const made = filters.map(filter => {
    const control = controlOf(filter)
    const before = context.filters().get(filter.name) ?? ''
    // A link can name a value that is not known yet.
    if (before !== '' && control instanceof HTMLSelectElement) addTo(control, [[before, before]])
    control.value = before
    control.id = `filter-${filter.name}`
    control.addEventListener('change', changed)
    controls.set(filter.name, control)
    if (filter.kind === 'key') void addKeys(context, control as HTMLSelectElement)
    return el(
      'div',
      { class: filter.kind === 'search' ? 'filter wide' : 'filter' },
      el('label', { for: control.id }, filter.label),
      control,
    )
  })
  const bar = el(
    'form',
    { class: 'filters', role: 'search', 'aria-label': `Filters of ${what}` },
    ...made,
    clear,
  )
  bar.addEventListener('submit', event => {
    event.preventDefault()
    changed()
  })
  shown = queryOf(context, names).toString()
  apply()
  return {
    elements: [bar, chosenBy],
    add: (name, choices) => addTo(controls.get(name) as HTMLSelectElement, choices),
  }
}

/** The filters in the address, as the query of a request. Other members of the address are left out. */
export function queryOf(context: Pick<ConsoleContext, 'filters'>, names: readonly string[]): URLSearchParams {
  return new URLSearchParams(
    [...context.filters()].filter(([name, value]) => names.includes(name) && value !== ''),
  )
}

function controlOf(filter: Filter): HTMLInputElement | HTMLSelectElement {
  if (filter.kind === 'search')
    return el('input', {
      type: 'search',
      placeholder: filter.hint,
      maxlength: 100,
      spellcheck: 'false',
      autocomplete: 'off',
    })
  if (filter.kind === 'day') return el('input', { type: 'date' })
  const select = el('select')
  if (filter.kind === 'choice') addTo(select, [['', filter.any ?? 'Any'], ...filter.choices])
  else addTo(select, [['', 'Any']])
  return select
}

/** Adds values to a choice. One that it has already gets the new words. */
function addTo(select: HTMLSelectElement, choices: Choices): void {
  for (const [value, word] of choices) {
    const option = [...select.options].find(each => each.value === value)
    if (option) option.textContent = word
    else select.append(el('option', { value }, word))
  }
}

async function addKeys(context: ConsoleContext, select: HTMLSelectElement): Promise<void> {
  const reply = await readAllKeys(context)
  if (reply.ok)
    addTo(
      select,
      reply.data.filter(key => !key.console || key.id === select.value).map(key => [key.id, keyName(key)]),
    )
}
