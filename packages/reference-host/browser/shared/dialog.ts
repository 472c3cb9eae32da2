import { button, el, type Child } from './dom.ts'

/** The texts of a dialog. `confirm` is the label of the button, such as "Revoke key". */
export interface Question {
  readonly title: string
  readonly body: readonly Child[]
  readonly confirm: string
  readonly cancel?: string
  readonly danger?: boolean
  /** Returns whether the input is valid. Otherwise it marks what is wrong, and the dialog stays open. */
  readonly check?: () => boolean
}

/** Asks for a confirmation in a dialog. Resolves to whether it was confirmed; Escape cancels. */
export function ask({
  title,
  body,
  confirm,
  cancel = 'Cancel',
  danger = false,
  check,
}: Question): Promise<boolean> {
  return new Promise(resolve => {
    const heading = el('h2', { id: 'dialog-title' }, title)
    const yes = el('button', { class: `button ${danger ? 'danger' : 'primary'}`, value: 'yes' }, confirm)
    const no = button(cancel, () => dialog.close('no'))
    const form = el('form', { method: 'dialog' }, heading, ...body, el('div', { class: 'buttons' }, yes, no))
    const dialog = el('dialog', { 'aria-labelledby': 'dialog-title' }, form)
    form.addEventListener('submit', event => {
      if (check && !check()) event.preventDefault()
    })
    const before = document.activeElement
    dialog.addEventListener('close', () => {
      dialog.remove()
      if (before instanceof HTMLElement) before.focus()
      resolve(dialog.returnValue === 'yes')
    })
    document.body.append(dialog)
    dialog.showModal()
  })
}
