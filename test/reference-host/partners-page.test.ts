import { readFileSync } from 'node:fs'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { openTestHost } from '../harness/host.ts'
import { runShell, shellLines } from './harness/pages/pages.ts'

const PAGE = 'docs/partners.md'
const END = 'end of the fence'

/** The shell lines that show a response, by their number in the page, each with that response. */
function shownResponses(): Map<number, unknown> {
  const shown = new Map<number, unknown>()
  let fence = -1
  for (const [, mark, code = ''] of readFileSync(PAGE, 'utf8').matchAll(/^```(sh|json)\n([^]*?)^```$/gm)) {
    if (mark === 'sh') fence += 1
    else shown.set(fence, JSON.parse(code))
  }
  return shown
}

/** The paths of members that the page shows, and that the response lacks or has with another type. */
function differences(shown: unknown, real: unknown, path = 'response'): string[] {
  if (Array.isArray(shown)) {
    if (!Array.isArray(real)) return [path]
    return real.length === 0 ? [] : shown.flatMap(each => differences(each, real[0], `${path}[]`))
  }
  if (typeof shown !== 'object' || shown === null)
    return typeof shown === typeof real || real === null ? [] : [path]
  if (typeof real !== 'object' || real === null) return [path]
  return Object.entries(shown).flatMap(([name, value]) =>
    differences(value, (real as Record<string, unknown>)[name], `${path}.${name}`),
  )
}

t.test('a member that a response lacks, or has with another type, is found', async t => {
  const real = { ok: true, data: { list: [{ id: 'a' }], none: null } }
  t.same(differences({ ok: true, data: { list: [{ id: 'b' }], none: null } }, real), [])
  t.same(differences({ ok: 'yes', data: { list: [{ key: 'b' }], more: 1 } }, real), [
    'response.ok',
    'response.data.list[].key',
    'response.data.more',
  ])
})

t.test('every call of docs/partners.md works in order, with the responses that the page shows', async t => {
  const host = await openTestHost(t, {}, manualClock())
  const lines = shellLines(PAGE).map(line => `${line}\necho\necho '${END}'`)
  const { code, output } = await runShell(['exec 2>&1', ...lines], {
    HOST: host.url,
    PARTNER_KEY: host.partnerKey,
  })
  t.equal(code, 0, output.slice(-800))
  const parts = output.split(END)
  const shown = shownResponses()
  t.equal(shown.size, 9)
  for (const [fence, response] of shown) {
    const real = (parts[fence] ?? '').split(/\n|(?<=\})(?=\{)/).filter(line => line.startsWith('{'))
    t.same(differences(response, JSON.parse(real.at(-1) ?? 'null')), [], `response ${fence}`)
  }

  await host.chore('publish events')
  const events = await host.send('/partner/v1/events?limit=5', {
    headers: { 'X-Partner-Key': host.partnerKey },
  })
  t.ok((events.body.data['events'] as unknown[]).length > 0)
  t.same(differences([...shown.values()].at(-2), events.body), [])
})

t.test('docs/partners.md has the nine steps in order', async t => {
  const steps = [...readFileSync(PAGE, 'utf8').matchAll(/^## (\d)\. /gm)].map(([, step]) => step)
  t.same(steps.join(''), '123456789')
})
