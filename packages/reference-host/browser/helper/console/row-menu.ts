import { button, el } from '../../shared/dom.ts'

/** One entry of the menu of a row. */
export interface MenuItem {
  readonly label: string
  readonly press: () => unknown
  readonly danger?: boolean
}

/** Makes the menu of a row. Escape, a choice and a click elsewhere close it. `what` names the row for screen readers. */
export function rowMenu(what: string, items: readonly MenuItem[]): HTMLElement {
  const summary = el('summary', { class: 'button small', 'aria-label': `Actions of ${what}` }, '···')
  const menu = el('details', { class: 'menu' }, summary)
  const close = (): void => {
    menu.open = false
  }
  const buttons = items.map(({ label, press, danger }) =>
    button(
      label,
      () => {
        close()
        summary.focus()
        return press()
      },
      danger ? 'danger small' : 'small',
    ),
  )
  menu.append(el('div', { class: 'menu-items' }, ...buttons))
  menu.addEventListener('keydown', event => {
    if (event.key !== 'Escape' || !menu.open) return
    close()
    summary.focus()
  })
  menu.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && menu.contains(relatedTarget))) close()
  })
  return menu
}
