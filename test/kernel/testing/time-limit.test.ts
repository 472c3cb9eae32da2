import { failingTests } from '@gatewright/kernel/testing'
import { withTimeLimit } from '#packages/kernel/dist/testing/time-limit.js'
import t from 'tap'

t.test('ends a case that hangs, with its title, and lets the others run', async t => {
  const errors: unknown[] = []
  const failed = await failingTests(({ describe, it }) => {
    const noting = withTimeLimit(
      {
        describe,
        it: (title, run) =>
          it(title, async () => {
            await run().catch((error: unknown) => {
              errors.push(error)
              throw error
            })
          }),
      },
      0.01,
    )
    noting.describe('a suite', () => {
      noting.it('hangs', () => new Promise(() => {}))
      noting.it('ends', async () => {})
      noting.it('fails', async () => {
        throw new Error('wrong')
      })
    })
  })
  t.same(failed, ['hangs', 'fails'])
  t.match(errors, [
    { message: 'this case hangs, it has not ended after 0.01 s: hangs' },
    { message: 'wrong' },
  ])
})
