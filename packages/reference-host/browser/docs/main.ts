import { byId, el, fill } from '../shared/dom.ts'
import { readHost } from '../shared/host.ts'
import { followStatus } from '../shared/status.ts'
import { configuration } from './configuration.ts'
import { loadDescription } from './description.ts'
import { nameButtons } from './name-buttons.ts'
import { trustKnownMarkup } from './trusted-markup.ts'

// The library runs after this module. Its validator would try `new Function`, which the content security policy reports.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
// The library stores choices between visits. This page stores nothing in the browser.
Storage.prototype.setItem = () => {}
trustKnownMarkup()
followStatus()

/** Draws the API reference. If that fails, shows an error in its place. */
async function start(): Promise<void> {
  const app = byId('app')
  try {
    const description = await loadDescription()
    fill(app)
    window.Scalar.createApiReference(app, configuration(readHost(), description))
    nameButtons(app)
  } catch {
    const sentence = 'The reference could not be drawn. Nothing was lost: load the page again, or read '
    const link = el('a', { href: '/openapi.json' }, '/openapi.json')
    fill(app, el('main', {}, el('p', { class: 'docs-state' }, sentence, link, '.')))
  }
}

// All deferred scripts have run by then.
addEventListener('DOMContentLoaded', () => void start())
