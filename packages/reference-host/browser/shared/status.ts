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
  const link = document.getElementById('status')
  const read = async (): Promise<void> => {
    const readiness = await readReadiness()
    if (link) {
      link.hidden = false
      const isReady = readiness?.status === 'ready'
      fill(link, dot(isReady), isReady ? 'Ready' : readiness ? 'Not ready' : 'No answer')
    }
    show(readiness)
  }
  void read()
  setInterval(() => {
    if (document.visibilityState === 'visible') void read()
  }, EVERY_MS)
}

/** A coloured mark beside a word that says the same. */
export function dot(isGood: boolean): HTMLElement {
  return el('span', { class: isGood ? 'dot ok' : 'dot bad', 'aria-hidden': 'true' })
}
