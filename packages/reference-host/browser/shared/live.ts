import { byId } from './dom.ts'

/** Announces a sentence to screen readers, in the region `#live` of the document (`aria-live="polite"`). */
export function announce(text: string): void {
  const region = byId('live')
  // Cleared first, because a screen reader reads a region only when it changes.
  region.textContent = ''
  requestAnimationFrame(() => {
    region.textContent = text
  })
}
