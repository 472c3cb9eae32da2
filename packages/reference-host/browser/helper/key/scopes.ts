import { el } from '../../shared/dom.ts'
import { readHost } from '../../shared/host.ts'

/** Which scopes a key gets. */
export type ScopeChoice = 'all' | 'read' | 'some'

/** Groups scopes by tag, such as `cards` with `cards.read` and `cards.write`. */
function byTag(scopes: readonly string[]): Map<string, string[]> {
  const tags = new Map<string, string[]>()
  for (const scope of scopes) {
    const tag = scope.slice(0, scope.indexOf('.'))
    tags.set(tag, [...(tags.get(tag) ?? []), scope])
  }
  return tags
}

/** Returns the scopes that only read, and show no secret. */
export function readScopes(scopes: readonly string[]): string[] {
  return scopes.filter(scope => scope.endsWith('.read') && scope !== 'cards.secrets.read')
}

/** Makes a check box for each scope, grouped by tag. */
export function scopeBoxes(chosen: readonly string[]): {
  readonly element: HTMLElement
  chosen(): string[]
} {
  const boxes: HTMLInputElement[] = []
  const groups = [...byTag(readHost().scopes)]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([tag, scopes]) => {
      const choices = scopes.map(scope => {
        const box = el('input', { type: 'checkbox', value: scope, checked: chosen.includes(scope) })
        boxes.push(box)
        return el(
          'label',
          { class: 'choice' },
          box,
          el('span', {}, scope.slice(tag.length + 1).replace('.', ' ')),
        )
      })
      return el('fieldset', {}, el('legend', {}, tag), ...choices)
    })
  return {
    element: el('div', { class: 'scopes' }, ...groups),
    chosen: () => boxes.filter(({ checked }) => checked).map(({ value }) => value),
  }
}
