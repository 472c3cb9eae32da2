/** A TypeScript fence of a page. */
export interface Fence {
  /** The code, at the line it has in the page, so that an error names that line. */
  readonly code: string
  /** Marked `ts run`: it also runs to its end, with exit code 0. */
  readonly runs: boolean
}

/** The TypeScript fences of a Markdown text. */
export function fences(markdown: string): Fence[] {
  const found: Fence[] = []
  for (const { index, 1: mark, 2: code = '' } of markdown.matchAll(/^```ts( run)?\n([^]*?)^```$/gm)) {
    const before = markdown.slice(0, index).split('\n').length
    found.push({ code: '\n'.repeat(before) + code, runs: mark !== undefined })
  }
  return found
}
