import { el } from '../../shared/dom.ts'

/** The choice where the days, weeks and months of limits begin. */
export interface ZoneField {
  readonly element: HTMLElement
  /** The name of the time zone; undefined for UTC. */
  zone(): string | undefined
}

/** Makes the choice of a time zone: UTC, the zone of this browser, and all others that it knows. */
export function zoneField(): ZoneField {
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone
  const names = [...new Set(['UTC', own, ...Intl.supportedValuesOf('timeZone')])]
  const select = el('select', { class: 'input', id: 'time-zone', 'aria-describedby': 'time-zone-help' })
  select.append(...names.map(name => el('option', { value: name }, name)))
  return {
    element: el(
      'div',
      { class: 'field' },
      el('label', { for: 'time-zone' }, 'Time zone'),
      select,
      el(
        'p',
        { class: 'help', id: 'time-zone-help' },
        'Where the days, weeks and months of its limits begin.',
      ),
    ),
    zone: () => (select.value === 'UTC' ? undefined : select.value),
  }
}
