import { warnMemoryStorage } from '@gatewright/kernel/internal'
import t from 'tap'

t.test('warns once per port, and only under NODE_ENV=production', async t => {
  const warnings: { code: string; message: string }[] = []
  const listen = (warning: Error): void => {
    warnings.push({ code: (warning as NodeJS.ErrnoException).code ?? '', message: warning.message })
  }
  const environment = process.env['NODE_ENV']
  process.on('warning', listen)
  t.teardown(() => {
    process.off('warning', listen)
    if (environment === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = environment
  })

  process.env['NODE_ENV'] = 'test'
  warnMemoryStorage('PortOne')
  process.env['NODE_ENV'] = 'production'
  for (const port of ['PortOne', 'PortOne', 'PortTwo']) warnMemoryStorage(port)
  // Warnings are emitted in the next turn.
  await new Promise(resolve => setImmediate(resolve))

  t.match(warnings, [
    { code: 'GATEWRIGHT_MEMORY_STORAGE', message: /^PortOne keeps/ },
    { code: 'GATEWRIGHT_MEMORY_STORAGE', message: /^PortTwo keeps/ },
  ])
  t.equal(warnings.length, 2)
})
