import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { findProblems, overflow } from './in-page/watch.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Checks a page in the state that it is in: axe-core finds nothing, and at 320 px nothing is wider than the window. */
export async function checkState(t: Test, page: Page, name: string): Promise<void> {
  const before = page.viewportSize()
  t.same(await page.evaluate(findProblems, AXE), [], `${name}: axe-core`)
  await page.setViewportSize({ width: 320, height: 640 })
  t.equal(await page.evaluate(overflow), 0, `${name}: nothing is wider than 320 px`)
  t.same(await page.evaluate(findProblems, AXE), [], `${name}: axe-core at 320 px`)
  if (before) await page.setViewportSize(before)
}
