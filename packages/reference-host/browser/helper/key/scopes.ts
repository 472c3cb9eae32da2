import { button, el } from '../../shared/dom.ts'
import { readScopes, scopeGroups, scopeName, scopeWarning } from './rights.ts'

/** Makes a check box for each scope, grouped by what it is about, and a button that chooses all that only read. */
export function scopeBoxes(all: readonly string[]): {
  readonly element: HTMLElement
  chosen(): string[]
} {
  const boxes: HTMLInputElement[] = []
  const groups = scopeGroups(all).map(({ name, scopes }) => {
    const choices = scopes.map(scope => {
      const box = el('input', { type: 'checkbox', value: scope })
      boxes.push(box)
      const warning = scopeWarning(scope)
      return el(
        'label',
        { class: 'choice' },
        box,
        el('span', {}, scopeName(scope), warning !== '' && el('span', { class: 'muted' }, ` (${warning})`)),
      )
    })
    return el('fieldset', {}, el('legend', {}, name), ...choices)
  })
  const list = el('div', { class: 'scopes' }, ...groups)
  const allRead = button('All that only read', () => {
    const reads = readScopes(all)
    for (const box of boxes) if (reads.includes(box.value)) box.checked = true
    list.dispatchEvent(new Event('input', { bubbles: true }))
  })
  allRead.classList.add('small')
  return {
    element: el('div', { class: 'lines' }, el('div', {}, allRead), list),
    chosen: () => boxes.filter(({ checked }) => checked).map(({ value }) => value),
  }
}
