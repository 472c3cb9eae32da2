import { el, fill } from './dom.ts'

/** What `/readyz` says: whether the host is ready, and the state of each store. */
export interface Readiness {
  readonly status: string
  readonly dependencies: Readonly<Record<string, string>>
}

const EVERY_MS = 15_000

/** Reads the readiness of the host. Undefined if the host does not answer. */
async function readReadiness(): Promise<Readiness | undefined> {
  try {
    const response = await fetch('/readyz', { credentials: 'omit', cache: 'no-store' })
    const body = (await response.json()) as Readiness | { readonly error: string }
    return 'dependencies' in body ? body : undefined
  } catch {
    return undefined
  }
}

/** Shows the state of the host in the header of the page, now and every 15 s while the page is visible. */
export function followStatus(show: (readiness: Readiness | undefined) => void = () => {}): void {
  const read = async (): Promise<void> => {
    const readiness = await readReadiness()
    showStatus(readiness && readiness.status === 'ready')
    show(readiness)
  }
  void read()
  setInterval(() => {
    if (document.visibilityState === 'visible') void read()
  }, EVERY_MS)
}

/** Shows in the header of the page whether the host is ready. Undefined: it does not answer. */
export function showStatus(isReady: boolean | undefined): void {
  const link = document.getElementById('status')
  if (!link) return
  link.hidden = false
  const words = isReady === undefined ? 'No answer' : isReady ? 'Ready' : 'Not ready'
  fill(link, dot(isReady === true), words)
}

/** Hides the state of the host: the page may not read it any more. */
export function hideStatus(): void {
  const link = document.getElementById('status')
  if (link) link.hidden = true
}

/** A coloured mark beside a word that says the same. */
export function dot(isGood: boolean): HTMLElement {
  return el('span', { class: isGood ? 'dot ok' : 'dot bad', 'aria-hidden': 'true' })
}
