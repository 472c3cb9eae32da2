import assert from 'node:assert/strict'
import { race } from '@gatewright/kernel/testing'
import type { SpendItem, SpendStorage } from '../storage/port.ts'

/** Declares one test of the `SpendStorage` contract, with a connection by index and a new account. */
export type SpendTest = (
  title: string,
  run: (at: (index: number) => SpendStorage, account: string) => Promise<void>,
) => void

export const NOW = 1_767_225_600_000
export const DAY = 86_400_000

/** An item in cents under a daily cap. */
export const cents = (
  counter: string,
  amount: number,
  cap: number,
  more: Partial<SpendItem> = {},
): SpendItem => ({ counter, unit: 'cents', cap, amount, expiresAt: NOW + DAY, ...more })

/** Declares the tests of `SpendStorage.usage`: what is used, and the part of it that open holds reserve. */
export function spendUsageTests(test: SpendTest): void {
  test('reports held and settled amounts separately', async (at, account) => {
    const items = [cents('day', 50, 200), cents('calls', 1, 5, { unit: 'count' })]
    const usage = async (): Promise<unknown> => at(1).usage(account, ['day', 'calls', 'never'])
    const never = { used: 0, held: 0 }
    await at(0).reserve(account, 'a', items, NOW)
    await at(0).reserve(account, 'b', items, NOW)
    await at(0).reserve(account, 'b', items, NOW)
    await at(0).reserve(account, null, items, NOW)
    assert.deepEqual(await usage(), [{ used: 150, held: 100 }, { used: 3, held: 2 }, never])
    await at(1).settle(account, 'a', 20)
    assert.deepEqual(await usage(), [{ used: 120, held: 50 }, { used: 3, held: 1 }, never])
    await at(1).release(account, 'b')
    assert.deepEqual(await usage(), [{ used: 70, held: 0 }, { used: 2, held: 0 }, never])
  })

  test('counts nothing as held once every one of 40 simultaneous holds has ended', async (at, account) => {
    await race(40, index => at(index).reserve(account, `h${index}`, [cents('day', 5, 200)], NOW))
    assert.deepEqual(await at(0).usage(account, ['day']), [{ used: 200, held: 200 }])
    await race<unknown>(80, index => {
      const hold = `h${index >> 1}`
      return index % 2 ? at(index).settle(account, hold, 2) : at(index).release(account, hold)
    })
    const [day] = await at(0).usage(account, ['day'])
    assert.equal(day?.held, 0)
  })
}
