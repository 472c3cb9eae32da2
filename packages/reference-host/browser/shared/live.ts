import { byId } from './dom.ts'

/** Says a sentence to screen readers, in the region `#live` of the document (`aria-live="polite"`). */
export function say(text: string): void {
  const region = byId('live')
  // The same text again would not be read: a region speaks when it changes.
  region.textContent = ''
  requestAnimationFrame(() => {
    region.textContent = text
  })
}
