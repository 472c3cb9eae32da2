import { warnMemoryStorage } from '@gatewright/kernel'
import t from 'tap'

t.test('warns once per room, and only under NODE_ENV=production', async t => {
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
  warnMemoryStorage('room one')
  process.env['NODE_ENV'] = 'production'
  for (const room of ['room one', 'room one', 'room two']) warnMemoryStorage(room)
  // Warnings are emitted in the next turn.
  await new Promise(resolve => setImmediate(resolve))

  t.match(warnings, [
    { code: 'GATEWRIGHT_MEMORY_STORAGE', message: /^room one keeps/ },
    { code: 'GATEWRIGHT_MEMORY_STORAGE', message: /^room two keeps/ },
  ])
  t.equal(warnings.length, 2)
})
