import { stoppable } from '@gatewright/kernel/internal'
import t from 'tap'

t.test('resolves to the result of the work, or to the one that it was stopped with', async t => {
  t.equal(await stoppable(async () => 'done'), 'done')
  t.equal(await stoppable<string>(async stop => stop('stopped')), 'stopped')
  const wrapped = stoppable<string>(async stop => {
    try {
      return stop('stopped')
    } catch (error) {
      throw new Error('rolled back', { cause: error })
    }
  })
  t.equal(await wrapped, 'stopped', 'whatever a client of a database makes of the error')
})

t.test('rejects with the error of work that was not stopped', async t => {
  await t.rejects(
    stoppable(async () => {
      throw new Error('own')
    }),
    { message: 'own' },
  )
})

t.test('a call that waits for the run of another of its kind resolves to the result of that run', async t => {
  const kind = {}
  let run: Promise<string> | undefined
  const own = stoppable<string>(stop => {
    run = Promise.resolve().then(() => stop('stopped'))
    return run
  }, kind)
  const joined = async (): Promise<string> => run as Promise<string>
  t.equal(await stoppable(joined, kind), 'stopped')
  t.equal(await own, 'stopped')
  await t.rejects(stoppable(joined), /let this error out/, 'one of another kind gets the error')
})
