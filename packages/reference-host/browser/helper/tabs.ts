import { el, fill } from '../shared/dom.ts'

/** One tab: its name, and what it shows. */
export interface Tab {
  readonly name: string
  readonly content: Node
}

let made = 0

/** Shows one of several contents. The arrow keys move between the tabs. `what` names them for screen readers. */
export function tabs(what: string, all: readonly Tab[]): HTMLElement {
  const id = `tabs-${++made}`
  const panel = el('div', { role: 'tabpanel', id: `${id}-panel` })
  const buttons = all.map(({ name }, place) =>
    el('button', { type: 'button', role: 'tab', class: 'tab', id: `${id}-${place}` }, name),
  )
  const open = (place: number): void => {
    for (const [other, each] of buttons.entries()) {
      each.setAttribute('aria-selected', String(other === place))
      each.tabIndex = other === place ? 0 : -1
    }
    panel.setAttribute('aria-labelledby', `${id}-${place}`)
    const tab = all[place]
    if (tab) fill(panel, tab.content)
  }
  for (const [place, each] of buttons.entries()) {
    each.setAttribute('aria-controls', panel.id)
    each.addEventListener('click', () => open(place))
    each.addEventListener('keydown', ({ key }) => {
      const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
      if (step === 0) return
      const next = (place + step + all.length) % all.length
      open(next)
      buttons[next]?.focus()
    })
  }
  open(0)
  return el(
    'div',
    { class: 'tabs' },
    el('div', { role: 'tablist', 'aria-label': what, class: 'tab-list' }, ...buttons),
    panel,
  )
}
