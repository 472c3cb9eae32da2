import { mkdirSync, readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { findProblems, overflow } from '../../../harness/browser/in-page/watch.ts'
import { turnOf } from '../../../harness/turns.ts'

const AXE = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** A colour scheme of a browser. */
export type Scheme = 'light' | 'dark'

/** How to get to a state of a page from a fresh page. */
export type PageState = (scheme: Scheme) => Promise<Page>

/**
 * Checks states of a page in both colour schemes, and writes a picture of each to a folder of build/screenshots: as wide as the state
 * opened its page, and 390 px wide, as a phone is. Each day `count` of them have their turn.
 */
export async function testStates(
  t: Test,
  folder: string,
  states: Readonly<Record<string, PageState>>,
  { count, fullPage = true }: { readonly count: number; readonly fullPage?: boolean },
): Promise<void> {
  const path = `build/screenshots/${folder}`
  mkdirSync(path, { recursive: true })
  for (const [name, state] of turnOf(Object.entries(states), count))
    await t.test(`${folder} ${name} fits 320 px and has no fault of accessibility`, async t => {
      for (const scheme of ['light', 'dark'] as const) {
        const page = await state(scheme)
        await page.screenshot({ path: `${path}/${name}-${scheme}.png`, fullPage })
        await checkState(t, page, scheme)
        await page.setViewportSize({ width: 390, height: 844 })
        await page.screenshot({ path: `${path}/${name}-${scheme}-390.png`, fullPage })
        await page.context().close()
      }
    })
}

/** Checks a page in the state that it is in: axe-core finds nothing, and at 320 px nothing is wider than the window. */
export async function checkState(t: Test, page: Page, name: string): Promise<void> {
  const before = page.viewportSize()
  t.same(await page.evaluate(findProblems, AXE), [], `${name}: axe-core`)
  await page.setViewportSize({ width: 320, height: 640 })
  t.equal(await page.evaluate(overflow), 0, `${name}: nothing is wider than 320 px`)
  t.same(await page.evaluate(findProblems, AXE), [], `${name}: axe-core at 320 px`)
  if (before) await page.setViewportSize(before)
}
