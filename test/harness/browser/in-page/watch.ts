// These functions run in the page: the harness sends their text there, so none may use anything from outside itself.

/** Sends the test every report of the content security policy. */
export function sendReports(): void {
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
    const { reportOfTest } = window as unknown as { reportOfTest(text: string): void }
    reportOfTest(`${violatedDirective} ${blockedURI} ${sample}`)
  })
}

/** Names all that the page keeps in the browser but cookies that scripts cannot read. */
export async function keptByPage(): Promise<string[]> {
  const databases = await indexedDB.databases()
  return [
    ...Object.keys(localStorage).map(name => `localStorage ${name}`),
    ...Object.keys(sessionStorage).map(name => `sessionStorage ${name}`),
    ...databases.map(({ name }) => `database ${name}`),
    ...(document.cookie === '' ? [] : [document.cookie]),
  ]
}

/** How many pixels the document is wider than its window, or an open dialog than its frame. */
export function overflow(): number {
  const outer = [document.documentElement, ...document.querySelectorAll('dialog[open]')]
  return Math.max(...outer.map(element => element.scrollWidth - element.clientWidth))
}

/** When the page was first painted, in ms from its start. */
export function firstPaint(): number | undefined {
  return performance.getEntriesByName('first-contentful-paint')[0]?.startTime
}

/** Puts a text into the clipboard. */
export async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text)
}

interface Axe {
  run(): Promise<{
    violations: readonly { id: string; nodes: readonly { html: string; failureSummary: string }[] }[]
  }>
}

/** Runs axe-core in the page and returns what it finds wrong, one line each. */
export async function findProblems(source: string): Promise<string[]> {
  // oxlint-disable-next-line no-implied-eval -- the debugger may do what the policy of the page forbids
  const axe = new Function('module', `${source}; return module.exports`)({ exports: {} }) as Axe
  const { violations } = await axe.run()
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(node => `${id}: ${node.html}: ${node.failureSummary}`),
  )
}
