import { copyButton } from '../../shared/copy.ts'
import { el } from '../../shared/dom.ts'
import { tabs } from '../tabs.ts'
import { createKeyCurl } from './samples.ts'
import { keySentence, type Policy } from './sentence.ts'

/** The body of the request that makes a key. */
export interface KeyRequest {
  readonly label?: string
  readonly scopes: readonly string[]
  readonly policy?: Policy
  readonly expiresAt?: string
}

/** What the form says about the key while a person fills it in: a sentence, and the request as JSON and for curl. */
export function keyPreview(all: readonly string[]): {
  readonly element: HTMLElement
  /** Shows a request; undefined while the form is not complete. */
  show(request: KeyRequest | undefined): void
} {
  const sentence = el('p', { class: 'key-sentence' })
  const json = el('pre', { class: 'code', tabindex: 0 })
  const curl = el('pre', { class: 'code', tabindex: 0 })
  const copied = (pre: HTMLElement, what: string): HTMLElement =>
    el(
      'div',
      { class: 'lines' },
      pre,
      el(
        'div',
        {},
        copyButton(what, () => pre.textContent),
      ),
    )
  return {
    element: el(
      'section',
      { class: 'key-preview', 'aria-labelledby': 'preview-title' },
      el('h2', { id: 'preview-title' }, 'This key'),
      sentence,
      el('p', { class: 'muted small' }, 'The same by the API, with a session that may make keys:'),
      tabs('The request', [
        { name: 'JSON', content: copied(json, 'JSON') },
        { name: 'curl', content: copied(curl, 'command') },
      ]),
    ),
    show(request) {
      if (!request) {
        sentence.textContent = 'A field is not complete, or is mistyped.'
        json.textContent = ''
        curl.textContent = ''
        return
      }
      const { scopes, policy, expiresAt } = request
      sentence.textContent = keySentence({ scopes, policies: policy ? [policy] : [], expiresAt }, all)
      json.textContent = JSON.stringify(request, null, 2)
      curl.textContent = createKeyCurl(location.origin, request)
    },
  }
}
