import { button, el, fill } from '../../shared/dom.ts'
import { icon } from './icons.ts'
import type { DrawerContent } from './page.ts'

/** A drawer at the side of the window, over a page. On a phone it fills the window. */
export interface Drawer {
  /** Replaces what it shows. */
  show(content: DrawerContent): void
  /** Removes it. The focus returns to where it was. */
  close(): void
}

/** Opens a drawer. `leave` is called when the person closes it: by its button, by Escape, or by a click beside it. */
export function openDrawer(content: DrawerContent, leave: () => void): Drawer {
  const title = el('h2', { id: 'drawer-title', tabindex: -1 })
  const body = el('div', { class: 'drawer-body' })
  const close = button('', leave, 'drawer-close')
  close.setAttribute('aria-label', 'Close')
  close.append(icon('close'))
  const inside = el(
    'div',
    { class: 'drawer-inside' },
    el('div', { class: 'drawer-head' }, title, close),
    body,
  )
  const dialog = el('dialog', { class: 'drawer', 'aria-labelledby': 'drawer-title' }, inside)
  dialog.addEventListener('cancel', event => {
    event.preventDefault()
    leave()
  })
  dialog.addEventListener('click', event => {
    if (event.target === dialog) leave()
  })
  dialog.addEventListener('close', () => dialog.remove())
  const show = (next: DrawerContent): void => {
    title.textContent = next.title
    fill(body, ...next.body)
  }
  show(content)
  document.body.append(dialog)
  dialog.showModal()
  title.focus()
  return {
    show,
    close() {
      dialog.close()
      dialog.remove()
    },
  }
}
