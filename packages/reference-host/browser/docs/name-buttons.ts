const SCROLLED = 'ul.endpoints:not([tabindex]), code.custom-scroll:not([tabindex])'

/**
 * Names the library's buttons for screen readers, with the text that a button shows (WCAG 2.5.3), and makes its lists and commands that scroll
 * reachable by the keyboard: also those that it draws later.
 */
export function nameButtons(app: Element): void {
  const name = (): void => {
    for (const button of app.querySelectorAll('button.scalar-code-copy:not([aria-label])'))
      button.setAttribute('aria-label', 'Copy this code')
    for (const button of app.querySelectorAll('button.show-more[aria-label^="Show all"]'))
      button.setAttribute('aria-label', `${button.textContent?.trim()}: ${button.getAttribute('aria-label')}`)
    for (const part of app.querySelectorAll<HTMLElement>(SCROLLED)) part.tabIndex = 0
  }
  new MutationObserver(name).observe(app, { childList: true, subtree: true })
}
